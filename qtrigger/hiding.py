"""Takes out of texts what opens an account, before anybody else sees them.

Owns the words that are taken out: those that it was told, and those that stand where a key or a
signature does. A user's error may hold a connection string, and lines, journal, status and pages
must not pass it on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import quote

HIDDEN: Final = "(hidden)"
# Shorter ones would be found in words that are none.
SHORTEST: Final = 8
# Also of accounts that the project does not name.
_SHAPES: Final = re.compile(
    r"(\b(?:AccountKey|SharedAccessKey|SharedAccessSignature)=|\bsig=)[^;&\s\"'<>\\]+",
    re.IGNORECASE,
)


class Hiding:
    """Knows no secret before `learn`, and forgets none: old code may still speak of old ones."""

    def __init__(self) -> None:
        self._secrets: Sequence[str] = ()

    def learn(self, secrets: Iterable[str]) -> None:
        """Take these out as well from now on, in every spelling that they may have in a line."""
        known = set(self._secrets)
        for secret in secrets:
            if len(secret) >= SHORTEST:
                known |= {secret, json.dumps(secret)[1:-1], quote(secret, safe="")}
        self._secrets = sorted(known, key=len, reverse=True)

    def plain(self, text: str) -> str:
        """The text without them; to be called before a text is cut, which might leave half."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, HIDDEN)
        return _SHAPES.sub(rf"\1{HIDDEN}", text) if "=" in text else text
