"""Azure's rule for a function's name. Pure."""

from __future__ import annotations

import re
from typing import Final

RULE: Final = (
    "a name has up to 128 letters, digits, hyphens and underscores, begins with a letter, "
    'and is not "host"'
)
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,127}", re.ASCII)


def allowed(name: str) -> bool:
    """Whether a function may have the name."""
    return _NAME.fullmatch(name) is not None and name.casefold() != "host"
