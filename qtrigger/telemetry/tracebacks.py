"""Tracebacks for people: the frames of the user's own code, and what to look at in colour.

Owns how the text of a traceback is read again. It has passed through the worker as text, so what
is not understood is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from qtrigger.telemetry.styles import ALARM, BOLD, CYAN, DIM, painted

# Frames of groups stand behind bars.
_FRAME: Final = re.compile(r'^(?P<bars>[ |]*)  File "(?P<file>.+)", line \d+(, in .*)?$')
_MARKS: Final = re.compile(r"^[ |]*[~^]+[~^ ]*$")
_FOREIGN: Final = re.compile(r"[/\\](site|dist)-packages[/\\]|[/\\]lib(64)?[/\\]python\d|^<frozen ")


@dataclass(frozen=True, slots=True)
class _Frame:
    lines: Sequence[str]
    foreign: bool


def own_frames(text: str) -> str:
    """Return a traceback with frames of packages and of Python itself left out, and counted.

    A stack of such frames alone is left whole.
    """
    parts = list(_parts(text.splitlines()))
    frames = [part for part in parts if isinstance(part, _Frame)]
    if all(frame.foreign for frame in frames):
        return text
    lines: list[str] = []
    left_out = 0
    for part in [*parts, ""]:
        if isinstance(part, _Frame) and part.foreign:
            left_out += 1
            continue
        if left_out:
            lines.append(f"  … {left_out} frame{'' if left_out == 1 else 's'} of libraries")
            left_out = 0
        lines.extend(part.lines if isinstance(part, _Frame) else [part])
    return "\n".join(lines).rstrip("\n")


def _parts(lines: Sequence[str]) -> Iterator[_Frame | str]:
    """Frames, each with the lines of source below it, and the lines that belong to none."""
    at = 0
    while at < len(lines):
        found = _FRAME.match(lines[at])
        if found is None:
            yield lines[at]
            at += 1
            continue
        below = len(found["bars"]) + 4
        end = at + 1
        while end < len(lines) and _is_source(lines[end], below):
            end += 1
        yield _Frame(lines[at:end], foreign=bool(_FOREIGN.search(found["file"])))
        at = end


def _is_source(line: str, indent: int) -> bool:
    return bool(line[:indent].strip(" |") == "" and line[indent:]) and not _FRAME.match(line)


def coloured(lines: Sequence[str]) -> list[str]:
    """Return the lines of a traceback with source, marks and error standing out."""
    return [_painted(line, before) for line, before in zip(lines, ["", *lines], strict=False)]


def _painted(line: str, before: str) -> str:
    if _FRAME.match(line):
        head, _, rest = line.partition('"')
        file, _, where = rest.rpartition('"')
        return f'{painted(head, DIM)}"{painted(file, CYAN)}"{painted(where, DIM)}'
    if _MARKS.match(line):
        return painted(line, ALARM)
    if _FRAME.match(before):
        return painted(line, BOLD)
    if line.startswith((" ", "Traceback ")) or not line:
        return painted(line, DIM) if line else line
    return painted(line, ALARM)
