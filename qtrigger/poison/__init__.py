"""Poisoned messages: where they stand, whose they were, why they failed, and what is done to them.

Both the command line and the HTTP routes use it; it knows neither.
"""
