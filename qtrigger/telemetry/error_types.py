"""Kinds of error as values of a label: so many for each function, and one word for the others.

Owns the bound. User code raises what it likes, and each new value is a series of its own for ever.
"""

from __future__ import annotations

from qtrigger.telemetry.metric_table import MOST_ERROR_TYPES, OTHER_ERRORS

_LONGEST = 120


class ErrorTypes:
    """Those of one function."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def word(self, error_type: str) -> str:
        """The value for a kind of error: itself, or `_OTHER` where there are fifty others."""
        error_type = error_type[:_LONGEST]
        if error_type not in self._known:
            if len(self._known) >= MOST_ERROR_TYPES:
                return OTHER_ERRORS
            self._known.add(error_type)
        return error_type
