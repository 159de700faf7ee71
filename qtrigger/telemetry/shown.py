"""Which events are shown as lines where only lines from some level up are wanted.

Owns that choice for every renderer, and what can be known of it without making a line: of the
events that a busy host has by the thousand, most are never shown.
"""

from __future__ import annotations

import logging

from qtrigger.events import (
    Event,
    Heartbeat,
    InvocationFinished,
    InvocationStarted,
    LeaseRenewed,
    PollFinished,
    UserLog,
)
from qtrigger.invocation import Succeeded
from qtrigger.telemetry.lines import Line, line_of

# The kinds whose lines are of level debug, as every message and poll has them.
DETAILS = frozenset({Heartbeat, InvocationStarted, LeaseRenewed, PollFinished})


def is_wanted(kind: type[Event], least: int) -> bool:
    """Whether lines of that kind can ever be shown where `least` is the least level wanted."""
    return least <= logging.DEBUG or kind not in DETAILS


def shown_line(event: Event, least: int) -> Line | None:
    """The event's line; None where it is below `least`, the least level wanted.

    Of user code only the lines that it was asked for come here: its debug lines, which take
    PYTHON_ENABLE_DEBUG_LOGGING, are shown beside the host's lines from info up.
    """
    if least > logging.INFO and _is_plain_success(event):
        return None
    line = line_of(event)
    if isinstance(event, UserLog) and least <= logging.INFO:
        return line
    return line if line.level >= least else None


def _is_plain_success(event: Event) -> bool:
    """Whether it is the commonest of all, whose line is of level info."""
    return isinstance(event, InvocationFinished) and isinstance(event.outcome, Succeeded)
