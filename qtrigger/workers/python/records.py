"""What a record of the `logging` module says beyond its message.

Owns the fields that user code attached, and tracebacks that begin in the user's own code. It sends
nothing and knows no run.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .failures import is_ours, keep_users_frames

MOST_FIELDS = 64
MOST_TEXT = 8 * 1024

_PLAIN = (str, int, float, bool, type(None))
_ENTRY = '  File "'

if TYPE_CHECKING:  # Python 3.9 cannot make it
    ExcInfo = (
        tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    )


class RecordFormatter(logging.Formatter):
    """The message, then the exception's traceback and the stack without what runs the function."""

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the name is the library's
        """See logging.Formatter."""
        return traceback_of(ei)

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 - the name is the library's
        """See logging.Formatter; the stack begins below our last frame."""
        head, *entries = stack_info.split(f"\n{_ENTRY}")
        ours = [number for number, entry in enumerate(entries) if is_ours(entry.split('"')[0])]
        kept = entries[ours[-1] + 1 :] if ours else entries
        return f"\n{_ENTRY}".join([head, *kept])


def traceback_of(exc_info: ExcInfo) -> str:
    """The text of an exception, without a line end; never raises."""
    kind, error, frames = exc_info
    if kind is None or error is None:
        return "NoneType: None"
    try:
        report = traceback.TracebackException(kind, error, frames)
        keep_users_frames(report)
        return "".join(report.format()).rstrip("\n")
    except BaseException as broken:  # noqa: BLE001 - the user's __str__ or __repr__ may raise
        return f"{kind.__name__}: no traceback ({type(broken).__name__})"


def extra_of(record: logging.LogRecord, known: frozenset[str]) -> dict[str, Any]:
    """What `extra` has put on a record, as JSON can say it; `known` are every record's names."""
    names = [name for name in vars(record) if name not in known]
    return {_cut(name): _sayable(getattr(record, name)) for name in names[:MOST_FIELDS]}


def record_being_written() -> logging.LogRecord | None:
    """The record whose text a StreamHandler is writing to the stream that calls this, else None.

    A user's handler on stderr would otherwise show every record twice, once without its level.
    """
    frame = sys._getframe(2)  # noqa: SLF001 - the one way to know the caller
    if frame.f_code is not logging.StreamHandler.emit.__code__:
        return None
    record = frame.f_locals.get("record")
    return record if isinstance(record, logging.LogRecord) else None


def names_of_every_record() -> frozenset[str]:
    """What a record has without any `extra`, formatted or not."""
    return frozenset({*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"})


def _sayable(value: Any) -> Any:
    if isinstance(value, _PLAIN) and type(value) in _PLAIN:
        return _cut(value) if isinstance(value, str) else _finite(value)
    if type(value) in (dict, list, tuple):
        return _nested(value)
    return _in_words(value)


def _nested(value: Any) -> Any:
    """A container whose parts are plain; anything deeper is said in words."""
    if isinstance(value, Mapping):
        return {_cut(_in_words(k)): _part(each) for k, each in list(value.items())[:MOST_FIELDS]}
    return [_part(each) for each in list(value)[:MOST_FIELDS]]


def _part(value: Any) -> Any:
    return _in_words(value) if type(value) in (dict, list, tuple) else _sayable(value)


def _in_words(value: Any) -> str:
    try:
        return _cut(str(value))
    except Exception as broken:  # noqa: BLE001 - the user's __str__ may raise anything
        return f"its text cannot be shown: __str__ raised {type(broken).__name__}"


def _cut(text: str) -> str:
    return text[:MOST_TEXT].encode("utf-8", "backslashreplace").decode("utf-8")


def _finite(value: Any) -> Any:
    """Numbers that JSON has no word for are texts."""
    return value if not isinstance(value, float) or abs(value) < float("inf") else str(value)
