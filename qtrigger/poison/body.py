"""A message's body as a person reads it: text, bytes, or a text that does not fit the encoding.

Owns decoding for display. A body is shown where a person asked for it.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Final

from qtrigger.queues.encoding import BodyUndecodable, decode

TEXT, BASE64, UNDECODED = "text", "base64", "undecoded"
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What a text on the wire holds; `problem` says why it could not be decoded, "" if it was."""

    data: bytes
    problem: str = ""

    @property
    def encoding(self) -> str:
        """How `readable` is to be read: `text`, `base64`, or `undecoded` for the text itself."""
        if self.problem:
            return UNDECODED
        return TEXT if _as_text(self.data) is not None else BASE64

    @property
    def readable(self) -> str:
        """The body as text, or in base64 where it is none."""
        text = _as_text(self.data)
        return base64.b64encode(self.data).decode() if text is None else text

    def line(self, width: int) -> str:
        """The body in one line of at most `width` characters."""
        text = _as_text(self.data)
        text = f"0x{self.data[:width].hex()}" if text is None else _CONTROLS.sub(" ", text)
        text = f"(undecoded) {text}" if self.problem else text
        return text if len(text) <= width else f"{text[: width - 1]}…"


def body_of(text: str, encoding: str) -> Body:
    """Decode a text; one that does not fit stands for itself."""
    try:
        return Body(data=decode(text, encoding))
    except BodyUndecodable as error:
        problem = f"messageEncoding is {encoding}, but {error}"
        return Body(data=text.encode("utf-8", "replace"), problem=problem)


def _as_text(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
