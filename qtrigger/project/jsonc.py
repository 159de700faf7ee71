"""Configuration files as Azure reads them: JSON with Json.NET's liberties, and with places.

Owns the grammar and the place (line and column, from 1) of every key and value. Knows nothing of
what the files mean. Accepted beyond JSON: comments, a trailing comma, single quotes, unquoted
keys, a UTF-8 byte-order mark, hexadecimal and octal numbers, NaN and Infinity, line breaks in
strings, a missing array element (null), and a repeated key, of which the last one counts.
"""

from __future__ import annotations

import bisect
import codecs
import re
from dataclasses import dataclass
from typing import Any, Final

from qtrigger.project.jsonc_scan import ScanError, Scanner

Path = tuple[str | int, ...]

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 64
# More than any real project has; each may cost a finding, and a host has to start within a second.
MAX_PARTS: Final = 5000

# UTF-32 before UTF-16: the little-endian mark of the one begins like that of the other.
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "UTF-32 LE"),
    (codecs.BOM_UTF32_BE, "UTF-32 BE"),
    (codecs.BOM_UTF16_LE, "UTF-16 LE"),
    (codecs.BOM_UTF16_BE, "UTF-16 BE"),
)
_NUL_PATTERNS: Final = (
    (re.compile(rb"\0\0\0[^\0]"), "UTF-32 BE"),
    (re.compile(rb"[^\0]\0\0\0"), "UTF-32 LE"),
    (re.compile(rb"\0[^\0]"), "UTF-16 BE"),
    (re.compile(rb"[^\0]\0"), "UTF-16 LE"),
)
_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")


class JsonError(Exception):
    """The file is not JSON. `line` and `column` count from 1; the message names the cause."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """A key that stands twice in one object: the path of the second and the first one's line."""

    path: Path
    first_line: int


class Document:
    """A file's value, and where each part of it stands.

    A path names a part by keys and indexes: `("bindings", 0, "type")`. A part that is not there
    has the place of the nearest part around it.
    """

    def __init__(
        self,
        value: Any,
        lines: list[int],
        values: dict[Path, int],
        keys: dict[Path, int],
        repeated: list[tuple[Path, int]],
    ) -> None:
        self.value = value
        self._lines = lines
        self._values = values
        self._keys = keys
        self.duplicates = tuple(
            Duplicate(path=path, first_line=_place(lines, first)[0]) for path, first in repeated
        )

    def value_place(self, path: Path) -> tuple[int, int]:
        """Line and column where the value at `path` begins."""
        while path and path not in self._values:
            path = path[:-1]
        return _place(self._lines, self._values[path])

    def key_place(self, path: Path) -> tuple[int, int]:
        """Line and column of the key at the end of `path`; an array's element has its value's."""
        if path in self._keys:
            return _place(self._lines, self._keys[path])
        return self.value_place(path)

    def element(self, path: Path) -> str:
        """The number, from 0, of the element at `path`."""
        return str(path[-1])


def parse(data: bytes) -> Document:
    """Read a whole file. Raises JsonError with the place and what was expected there."""
    text = _decode(data)
    lines = [0, *(found.end() for found in _LINE_BREAK.finditer(text))]
    reader = _Reader(text)
    try:
        value = reader.document()
    except ScanError as error:
        raise JsonError(str(error), *_place(lines, error.offset)) from None
    return Document(value, lines, reader.values, reader.keys, reader.repeated)


def _place(lines: list[int], offset: int) -> tuple[int, int]:
    line = bisect.bisect_right(lines, offset)
    return line, offset - lines[line - 1] + 1


def _decode(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise JsonError(f"the file is too large; at most {MAX_BYTES:,} bytes are read")
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "") or next(
        (name for pattern, name in _NUL_PATTERNS if pattern.match(data)), ""
    )
    if encoding:
        raise JsonError(f"the file is encoded in {encoding}; save it as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # Everything before the byte is sound, so the place can be counted in characters.
        before = data[: error.start].decode("utf-8-sig", "replace")
        lines = [0, *(found.end() for found in _LINE_BREAK.finditer(before))]
        byte = data[error.start]
        raise JsonError(
            f"the byte 0x{byte:02X} is not UTF-8 (the file is probably encoded in Latin-1 or "
            "Windows-1252); save it as UTF-8",
            *_place(lines, len(before)),
        ) from None


class _Reader:
    """One pass over a text; fills the value and the offsets of its parts."""

    def __init__(self, text: str) -> None:
        self._scan = Scanner(text)
        self.values: dict[Path, int] = {}
        self.keys: dict[Path, int] = {}
        self.repeated: list[tuple[Path, int]] = []

    def document(self) -> Any:
        if not self._scan.peek():
            raise ScanError(0, "the file is empty")
        value = self._value(())
        if self._scan.peek():
            raise ScanError(
                self._scan.offset,
                f"the document ends before this; {self._scan.seen()} is one too many",
            )
        return value

    def _value(self, path: Path) -> Any:
        scan = self._scan
        first = scan.peek()
        self.values[path] = scan.offset
        if len(self.values) > MAX_PARTS:
            raise ScanError(scan.offset, f"more than {MAX_PARTS:,} keys and elements in one file")
        if first in {"{", "["}:
            if len(path) >= MAX_DEPTH:
                raise ScanError(scan.offset, f"nested more than {MAX_DEPTH} levels deep")
            scan.offset += 1
            return self._object(path) if first == "{" else self._array(path)
        if first in {'"', "'"}:
            return scan.string()
        return scan.scalar()

    def _object(self, path: Path) -> dict[str, Any]:
        scan = self._scan
        members: dict[str, Any] = {}
        while not scan.take("}"):
            scan.peek()
            offset = scan.offset
            key = scan.name()
            here = (*path, key)
            if key in members:
                self.repeated.append((here, self.keys[here]))
            self.keys[here] = offset
            if not scan.take(":"):
                raise ScanError(scan.offset, f'":" is expected after a key, not {scan.seen()}')
            members[key] = self._value(here)
            self._separator("}")
        return members

    def _array(self, path: Path) -> list[Any]:
        scan = self._scan
        items: list[Any] = []
        while not scan.take("]"):
            here = (*path, len(items))
            if scan.peek() == ",":
                self.values[here] = scan.offset
                items.append(None)
            else:
                items.append(self._value(here))
            self._separator("]")
        return items

    def _separator(self, end: str) -> None:
        scan = self._scan
        if not scan.take(",") and scan.peek() != end:
            raise ScanError(scan.offset, f'"," or "{end}" is missing before {scan.seen()}')
