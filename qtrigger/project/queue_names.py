"""The service's rule for queue names, and the name of a queue's poison queue.

Pure; knows no service and no file.
"""

from __future__ import annotations

import re
from typing import Final

POISON_SUFFIX: Final = "-poison"
RULE: Final = (
    "3 to 63 letters a-z, digits and single hyphens, beginning and ending with a letter or digit"
)


class QueueNameError(ValueError):
    """The text is no queue name. The message completes "<name> …" with what is wrong."""


def checked(name: str) -> str:
    """The name in small letters, as Azure takes it. Raises QueueNameError."""
    lowered = name.lower()
    if not lowered:
        raise QueueNameError("is empty")
    if stray := re.search(r"[^a-z0-9-]", lowered):
        raise QueueNameError(f"may not hold {_named(stray[0])}")
    if not 3 <= len(lowered) <= 63:
        raise QueueNameError(f"has {len(lowered)} characters, not 3 to 63")
    if lowered.startswith("-") or lowered.endswith("-"):
        raise QueueNameError("may neither begin nor end with a hyphen")
    if "--" in lowered:
        raise QueueNameError("may not hold two hyphens in a row")
    return lowered


def poison_queue(name: str) -> str | None:
    """The poison queue of a queue, None where there can be none."""
    if name.endswith(POISON_SUFFIX) or len(name) + len(POISON_SUFFIX) > 63:
        return None
    return name + POISON_SUFFIX


def _named(character: str) -> str:
    if character == " ":
        return "a blank"
    if character == "_":
        return "an underscore"
    return f'"{character}"' if character.isprintable() else f"U+{ord(character):04X}"
