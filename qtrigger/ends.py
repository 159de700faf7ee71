"""Exceptions by which a function ends its run otherwise than well or badly.

A convenience for projects whose interpreter has qtrigger: any class of the project's own that is
called so and has the same attributes does the same. Imports the standard library alone.
"""

from __future__ import annotations

from datetime import timedelta


class Later(Exception):
    """Not yet: the message comes back in `delay` seconds, or after that timedelta."""

    __qtrigger__ = "later"

    def __init__(self, delay: float | timedelta) -> None:
        super().__init__(f"later: in {delay}")
        self.delay = delay


class Reject(Exception):
    """Never: the message goes to the poison queue now, with this reason."""

    __qtrigger__ = "reject"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
