"""Describing what user code raised.

Owns the text of a failure: type, message, a traceback of the user's own frames, and the place.
Describing never raises and never ends the process, whatever
the exception is.
"""

from __future__ import annotations

import inspect
import os
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from .hints import hint

MAX_TEXT = 64 * 1024

_OURS = str(Path(__file__).parent) + os.sep
_MACHINERY = ("<frozen importlib", "/importlib/__init__.py", "/importlib/_bootstrap")


class Describer:
    """Describes exceptions as seen from a project's root folder."""

    def __init__(self, root: str) -> None:
        self._root = os.path.normpath(root) + os.sep

    def detail(self, error: BaseException) -> dict[str, str]:
        """`type`, `message`, `traceback` and `place` (`file:line`, "" when not in user code)."""
        try:
            return self._detail(error)
        except BaseException as broken:  # noqa: BLE001 - its class may answer anything with anything
            return _indescribable(error, broken)

    def _detail(self, error: BaseException) -> dict[str, str]:
        return {
            "type": type(error).__name__,
            "message": message_of(error)[:MAX_TEXT],
            "traceback": self._traceback(error)[-MAX_TEXT:],
            "place": self.place(error),
        }

    def failure(self, error: BaseException) -> dict[str, str]:
        """Why a function did not load: `message`, `place`, `traceback`, `hint`."""
        text = self.detail(error)
        message = text["message"] or text["type"]
        ours = text["traceback"] == "" and _is_ours(error)
        return {
            "message": message if ours else f"{text['type']}: {text['message']}",
            "place": text["place"],
            "traceback": text["traceback"],
            "hint": hint(error, self._root),
        }

    def place(self, error: BaseException) -> str:
        """`file:line` of the innermost frame of the user's own code, relative to the root."""
        if isinstance(error, SyntaxError) and error.filename:
            return f"{self._relative(str(error.filename))}:{error.lineno or 0}"
        frames = list(traceback.walk_tb(error.__traceback__))
        return self._innermost(reversed(frames))

    def place_of(self, frame: FrameType | None) -> str:
        """The same for a running thread, whose innermost frame is `frame`."""
        return self._innermost(traceback.walk_stack(frame)) if frame is not None else ""

    def _innermost(self, frames: Iterable[tuple[FrameType, int]]) -> str:
        for frame, line in frames:
            name = frame.f_code.co_filename
            if self.is_users(name):
                return f"{self._relative(name)}:{line}"
        return ""

    def defined_at(self, function: Any) -> str:
        """`file:line` where a function is defined, "" when it cannot be told."""
        code = code_of(function)
        return f"{self._relative(code.co_filename)}:{code.co_firstlineno}" if code else ""

    def is_users(self, filename: str) -> bool:
        """Whether a file is of the project's own code, and of no installed package."""
        return filename.startswith(self._root) and "site-packages" not in filename

    def _relative(self, filename: str) -> str:
        return filename.removeprefix(self._root)

    def _traceback(self, error: BaseException) -> str:
        if _is_ours(error):
            return ""
        try:
            report = traceback.TracebackException(type(error), error, error.__traceback__)
            keep_users_frames(report)
            return "".join(report.format())
        except BaseException as broken:  # noqa: BLE001 - the user's __str__ or __repr__ may raise
            return f"{type(error).__name__}: no traceback ({type(broken).__name__})"


def code_of(function: Any) -> CodeType | None:
    """The code of a function, below whatever `functools.wraps` has put around it."""
    try:
        innermost: Any = inspect.unwrap(function)
    except ValueError:  # it wraps itself
        innermost = function
    code = getattr(innermost, "__code__", None)
    return code if isinstance(code, CodeType) else None


def message_of(error: BaseException) -> str:
    """The exception's text, in words where it would otherwise say nothing."""
    try:
        text = str(error)
    except BaseException as broken:  # noqa: BLE001 - the user's __str__ may raise anything
        return f"its text cannot be shown: __str__ raised {type(broken).__name__}"
    if isinstance(error, SystemExit):
        return f"the code ended itself with sys.exit({text})"
    if isinstance(error, KeyboardInterrupt):
        return text or "the code raised KeyboardInterrupt"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def keep_users_frames(report: traceback.TracebackException) -> None:
    """Take the frames of this package and of the import machinery out, causes included."""
    _keep_users_frames(report, set())


def is_ours(filename: str) -> bool:
    """Whether a file is one of this package."""
    return filename.startswith(_OURS)


def _keep_users_frames(report: traceback.TracebackException, seen: set[int]) -> None:
    if id(report) in seen:
        return
    seen.add(id(report))
    report.stack = traceback.StackSummary.from_list(
        [frame for frame in report.stack if not _is_machinery(frame.filename)]
    )
    inner: Iterable[Any] = (
        report.__cause__,
        report.__context__,
        *(getattr(report, "exceptions", None) or ()),
    )
    for other in inner:
        if other is not None:
            _keep_users_frames(other, seen)


def _is_ours(error: BaseException) -> bool:
    """Whether it is an error class of this package; its text says all there is to say."""
    return str(type(error).__module__).rpartition(".")[0] == __package__


def _indescribable(error: BaseException, broken: BaseException) -> dict[str, str]:
    text = f"it cannot be described: describing it raised {type(broken).__name__}"
    return {"type": type(error).__name__, "message": text, "traceback": "", "place": ""}


def _is_machinery(filename: str) -> bool:
    return filename.startswith(_OURS) or any(part in filename for part in _MACHINERY)
