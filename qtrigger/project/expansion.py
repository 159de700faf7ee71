"""`%NAME%` in a binding: the value of an app setting in its place.

Owns the syntax and the error texts. A doubled percent sign is a literal one; a value put in is
not looked at again.
"""

from __future__ import annotations

import re
from typing import Final

from qtrigger.project.findings import shown
from qtrigger.project.settings import Settings

_PART: Final = re.compile(r"%([^%]*)%")


class ExpansionError(Exception):
    """A setting is missing or a percent sign stands alone; `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def expand(text: str, settings: Settings) -> str:
    """Put the settings' values in. Raises ExpansionError naming the setting."""
    alone = _PART.sub("", text).find("%")
    if alone >= 0:
        raise ExpansionError(
            f"{shown(text)} holds a percent sign without a partner",
            'a setting is written "%NAME%", a literal percent sign "%%"',
        )
    return _PART.sub(lambda found: _value(found[1], text, settings), text)


def _value(name: str, text: str, settings: Settings) -> str:
    if not name:
        return "%"
    value = settings.get(name)
    if value is None:
        near = settings.nearest(name)
        raise ExpansionError(
            f'{shown(text)} names the app setting "{name}", which is neither in the environment '
            "nor in Values of local.settings.json",
            f'did you mean "%{near}%"?' if near else f"set {name}",
        )
    return value
