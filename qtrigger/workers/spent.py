"""How much processor time a process has taken, as Linux tells of it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def spent_s(pid: int) -> float | None:
    """In seconds since its start, with all its threads; None when that cannot be told."""
    with suppress(OSError, ValueError, IndexError):
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        # Its name comes before, in brackets, and may hold anything.
        fields = text.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return None
