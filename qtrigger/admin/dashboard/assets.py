"""The files that pages need: read once, named in a fixed table.

Owns which there are. A name that is asked for is looked up, never joined to a path.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from qtrigger.admin.route import Answer, Asked, Refusal

_FOLDER: Final = Path(__file__).parent / "assets"
_TYPES: Final[Mapping[str, str]] = {
    "dashboard.css": "text/css; charset=utf-8",
    "dashboard.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


class Assets:
    """Answers for the files."""

    def __init__(self) -> None:
        self._files = {
            name: Answer(body=(_FOLDER / name).read_bytes(), content_type=kind)
            for name, kind in _TYPES.items()
        }

    async def answer(self, asked: Asked) -> Answer:
        """One of them. Raises Refusal (404) for any other name."""
        found = self._files.get(asked.parts["file"])
        if found is None:
            raise Refusal(404, f"there is no such file; there are {', '.join(_TYPES)}")
        return found
