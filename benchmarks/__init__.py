"""Measurements side by side: qtrigger and what people use instead, on one queue server."""
