"""The words of a configuration file: blanks and comments, strings, numbers, names.

Owns the liberties that Json.NET takes with JSON's lexical rules, because Azure reads these files
with it. Knows nothing of objects, arrays or files; `jsonc` builds the document from these words.
"""

from __future__ import annotations

import re
from typing import Final

_BLANKS: Final = re.compile(r"\s+")
_LINE_COMMENT: Final = re.compile(r"//[^\r\n]*")
_PLAIN: Final = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([btnfr\"'/\\]))")
_SURROGATES: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")
_WORD: Final = re.compile(r"[A-Za-z0-9_$.+\-]+")
_NAME: Final = re.compile(r"[\w$]+")
_DECIMAL: Final = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_ESCAPED: Final = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r"}
_CONSTANTS: Final = {
    "true": True,
    "false": False,
    "null": None,
    "undefined": None,
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}
_LONGEST_NUMBER: Final = 100


class ScanError(Exception):
    """The text breaks off its rules at `offset`; the message says what was expected there."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset


class Scanner:
    """A place in a text, moving forward word by word."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.offset = 0

    def peek(self) -> str:
        """The next character after blanks and comments, "" at the end of the text."""
        while self.offset < len(self.text):
            if blanks := _BLANKS.match(self.text, self.offset):
                self.offset = blanks.end()
            elif self.text[self.offset] == "/":
                self._comment()
            else:
                return self.text[self.offset]
        return ""

    def take(self, wanted: str) -> bool:
        """Step over one character if it is the wanted one."""
        if self.peek() != wanted:
            return False
        self.offset += 1
        return True

    def seen(self) -> str:
        """What stands here, in words that fit into an error text."""
        found = self.peek()
        if not found:
            return "the end of the file"
        if found in _PLAIN:
            return "the quote"
        return f'"{found}"' if found.isprintable() else f"the character U+{ord(found):04X}"

    def string(self) -> str:
        """The quoted text that begins here, in double or single quotes; it may span lines."""
        start, quote = self.offset, self.text[self.offset]
        self.offset += 1
        parts: list[str] = []
        while True:
            plain = _PLAIN[quote].match(self.text, self.offset)
            assert plain is not None
            parts.append(plain[0])
            self.offset = plain.end()
            if self.offset == len(self.text):
                raise ScanError(start, "the text that begins here has no closing quote")
            if self.text[self.offset] == quote:
                self.offset += 1
                return _SURROGATES.sub(_join_surrogates, "".join(parts))
            parts.append(self._escape())

    def name(self) -> str:
        """The key that begins here: quoted, or letters, digits, `_` and `$` without quotes."""
        if self.peek() in {'"', "'"}:
            return self.string()
        found = _NAME.match(self.text, self.offset)
        if found is None:
            raise ScanError(self.offset, f"a name in quotes is expected here, not {self.seen()}")
        self.offset = found.end()
        return found[0]

    def scalar(self) -> bool | int | float | None:
        """The number or constant that begins here."""
        start = self.offset
        found = _WORD.match(self.text, start)
        if found is None:
            raise ScanError(start, f"a value is expected here, not {self.seen()}")
        self.offset = found.end()
        if found[0] in _CONSTANTS:
            return _CONSTANTS[found[0]]
        return _number(found[0], start)

    def _escape(self) -> str:
        found = _ESCAPE.match(self.text, self.offset)
        if found is None:
            raise ScanError(self.offset, "unknown escape; a backslash itself is written \\\\")
        self.offset = found.end()
        code, letter = found.groups()
        return chr(int(code, 16)) if code else _ESCAPED.get(letter, letter)

    def _comment(self) -> None:
        if line := _LINE_COMMENT.match(self.text, self.offset):
            self.offset = line.end()
            return
        if not self.text.startswith("/*", self.offset):
            raise ScanError(self.offset, 'a single "/" begins neither a value nor a comment')
        end = self.text.find("*/", self.offset + 2)
        if end < 0:
            raise ScanError(self.offset, 'the comment that begins here has no closing "*/"')
        self.offset = end + 2


def _number(word: str, offset: int) -> int | float:
    if len(word) > _LONGEST_NUMBER:
        raise ScanError(offset, f"a number has at most {_LONGEST_NUMBER} characters")
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", word):
        return int(word, 16)
    if re.fullmatch(r"0[0-7]+", word):
        return int(word, 8)
    if re.fullmatch(r"-?\d+", word):
        return int(word)
    if _DECIMAL.fullmatch(word):
        return float(word)
    raise ScanError(offset, "a value is expected here; text stands in quotes")


def _join_surrogates(found: re.Match[str]) -> str:
    # Two \u escapes may spell one character; half of such a pair is no character at all.
    pair = found[0]
    if len(pair) == 1:
        return "\N{REPLACEMENT CHARACTER}"
    return pair.encode("utf-16", "surrogatepass").decode("utf-16")
