"""Lines that end in systemd's journal: how it is seen, and how a line tells its priority.

Owns that; what lines say is others' business. Source: sd-daemon(3) for the prefixes,
systemd.exec(5) for JOURNAL_STREAM.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Final, TextIO

STREAM: Final = "JOURNAL_STREAM"
_PRIORITIES: Final = (
    (logging.CRITICAL, "<2>"),
    (logging.ERROR, "<3>"),
    (logging.WARNING, "<4>"),
    (logging.INFO, "<6>"),
)
_LEAST: Final = "<7>"


def leads_there(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether what is written to a stream is read by the journal, and by nobody else."""
    given = environ.get(STREAM, "")
    if not given:
        return False
    try:
        found = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return False
    return given == f"{found.st_dev}:{found.st_ino}"


def prefix(level: int) -> str:
    """What a line of that level, as in `logging`, begins with; the journal takes it away."""
    return next((text for least, text in _PRIORITIES if level >= least), _LEAST)
