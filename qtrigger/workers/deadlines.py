"""How long the steps in the life of a worker process may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """How long each step may take, in seconds.

    `retire_s` is what the neighbours of a run that cannot be ended get to finish; `leave_s` what
    an idle process gets to end by itself; `last_frames_s` how long the second of the two signs of
    its end, exit and closed connection, may lag behind the first.
    """

    start_s: float = 60.0
    load_s: float = 120.0
    load_note_s: float = 5.0
    retire_s: float = 30.0
    leave_s: float = 2.0
    last_frames_s: float = 1.0
