"""The terminal that a process was started in: whether it is still there.

Owns the one question that tells a closed window from a wish to reload, since both come as SIGHUP.
"""

from __future__ import annotations

import os


class ControllingTerminal:
    """The terminal that this process has now, if it has one."""

    def __init__(self) -> None:
        self._had_one = _is_there()

    def gone(self) -> bool:
        """Whether there was one at first, and is none any more."""
        return self._had_one and not _is_there()


def _is_there() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
