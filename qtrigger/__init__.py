"""Runs an Azure Functions project's queue-triggered functions on any machine."""

__version__ = "0.1.0"
