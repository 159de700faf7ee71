"""One thing that the doctor looked at: how it stands, what was found, and the cure.

Owns the value and its three states; knows nothing of what is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How a thing stands: `warn` works, but not as it might; `fail` does not work."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """`what` is the thing in a word or two; `cure` is "" when none is needed."""

    what: str
    found: str
    state: State = State.OK
    cure: str = ""
