"""The colours of log lines.

Owns which thing has which colour. Codes are written here and not by a library: this is done for
every line.
"""

from __future__ import annotations

import logging
from typing import Final

END: Final = "\x1b[0m"
BOLD: Final = "\x1b[1m"
DIM: Final = "\x1b[2m"
RED: Final = "\x1b[31m"
GREEN: Final = "\x1b[32m"
YELLOW: Final = "\x1b[33m"
CYAN: Final = "\x1b[36m"
ALARM: Final = "\x1b[1;31m"
WARN: Final = "\x1b[1;33m"
LOST: Final = "\x1b[1;37;41m"

# A message that is given up, or is ours no longer, stands out among other warnings.
_WARNINGS: Final = {"POISON": LOST, "LEASE": "\x1b[1;35m"}
_GOOD: Final = {"ok": GREEN, "reload": CYAN, "reloaded": CYAN}


def painted(text: str, style: str) -> str:
    """Return the text in a style."""
    return f"{style}{text}{END}" if style else text


def style_of(tag: str, level: int) -> str:
    """Return the style of a line's tag."""
    if level <= logging.DEBUG:
        return DIM
    known = _WARNINGS if level >= logging.WARNING else _GOOD
    return known.get(tag) or style_of_level(level)


def style_of_level(level: int) -> str:
    """Return the style of a level's name."""
    if level >= logging.ERROR:
        return ALARM
    if level >= logging.WARNING:
        return WARN
    return DIM if level <= logging.DEBUG else ""
