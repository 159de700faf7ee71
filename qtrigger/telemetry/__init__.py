"""Listeners of the core's events: log lines, and later metrics and traces."""
