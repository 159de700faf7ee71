"""JSON as the reference's host reads and writes it.

Owns the text form: two blanks of indentation, its own rules for numbers and escapes, and how a
value becomes the text of a message. It knows nothing of outputs.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
    **{chr(code): f"\\u{code:04x}" for code in (*range(8), 11, *range(14, 32))},
    **{chr(code): f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)},
}
_NAME = re.compile(r"[A-Za-z0-9_$]+")
_PIECE = re.compile(
    r"""\s+ | //[^\n]* | /\*.*?\*/
    | "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*'
    | [{}\[\]:,] | [^\s{}\[\]:,"'/]+ | .""",
    re.DOTALL | re.VERBOSE,
)
_QUOTE = re.compile(r'\\.|"', re.DOTALL)
_ESCAPED = str.maketrans(_ESCAPES)


def looks_like_json(text: str) -> bool:
    """Whether the reference takes a string for JSON."""
    trimmed = text.strip()
    return (trimmed.startswith("{") and trimmed.endswith("}")) or (
        trimmed.startswith("[") and trimmed.endswith("]")
    )


def parse(text: str) -> Any:
    """Read it, as loosely as the reference does. Raises ValueError.

    It also takes single quotes, names without quotes, comments and trailing commas; so the text of
    a Python dict with strings and numbers is JSON to it.
    """
    try:
        return json.loads(text, strict=False)
    except ValueError:
        return json.loads(_strict(text), strict=False)


def _strict(text: str) -> str:
    pieces = [
        match.group()
        for match in _PIECE.finditer(text)
        if not match.group().isspace() and not match.group().startswith(("//", "/*"))
    ]
    written: list[str] = []
    for index, piece in enumerate(pieces):
        following = pieces[index + 1] if index + 1 < len(pieces) else ""
        if piece == "," and following in ("]", "}") and written[-1] not in ("[", "{", ","):
            continue
        if piece.startswith("'"):
            written.append(_double_quoted(piece))
        elif following == ":" and _NAME.fullmatch(piece):
            written.append(f'"{piece}"')
        else:
            written.append(piece)
    return " ".join(written)


def _double_quoted(text: str) -> str:
    """A text in single quotes in double ones; both kinds of quote may be escaped in it."""
    quotes = {"\\'": "'", '"': '\\"'}
    inner = _QUOTE.sub(lambda match: quotes.get(match.group(), match.group()), text[1:-1])
    return f'"{inner}"'


def message_text(value: Any) -> str:
    """The text of the message that a JSON value becomes as an element of an array."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return number_text(value)
    return indented(value)


def number_text(value: float) -> str:
    """A double by itself: no decimal point where none is needed, a capital E."""
    text = repr(value)
    if math.isnan(value) or math.isinf(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[text]
    if "e" in text:
        return text.upper()
    if abs(value) >= 1e15:
        sign, digits = ("-" if value < 0 else ""), text.lstrip("-").partition(".")[0]
        first, rest = digits[0], digits[1:].rstrip("0")
        return f"{sign}{first}{'.' if rest else ''}{rest}E+{len(digits) - 1}"
    return text.removesuffix(".0")


def indented(value: Any, blanks: str = "") -> str:
    """A JSON value on several lines."""
    inner = blanks + "  "
    if isinstance(value, dict):
        members = [f"{_string(key)}: {indented(item, inner)}" for key, item in value.items()]
        return _block("{", members, "}", blanks)
    if isinstance(value, list):
        return _block("[", [indented(item, inner) for item in value], "]", blanks)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, float):
        return _double(value)
    return json.dumps(value)


def _block(opening: str, members: list[str], closing: str, blanks: str) -> str:
    if not members:
        return opening + closing
    lines = ",\n".join(f"{blanks}  {member}" for member in members)
    return f"{opening}\n{lines}\n{blanks}{closing}"


def _string(text: str) -> str:
    return f'"{text.translate(_ESCAPED)}"'


def _double(value: float) -> str:
    text = number_text(value)
    if text[-1].isalpha():
        return f'"{text}"'
    return text if "." in text or "E" in text else text + ".0"
