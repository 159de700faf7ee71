"""What user code logs and prints, as frames tied to the run they come from.

Owns the handler of the root logger and the writers in place of `sys.stdout` and `sys.stderr`. It
knows how to find the run of a line and nothing of how frames are sent. Text from below Python
(C code, subprocesses) goes to the real descriptors, which the host reads itself.
"""

from __future__ import annotations

import io
import logging
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from .context import NOWHERE, SCOPE, Scope
from .records import (
    RecordFormatter,
    extra_of,
    names_of_every_record,
    record_being_written,
    traceback_of,
)

MAX_LINE = 32 * 1024
# As JSON a character takes 12 bytes at most, and a frame has room for 16 MiB of it.
MOST_TEXT = 1024 * 1024

Send = Callable[[Mapping[str, Any]], None]


class Attribution:
    """Finds the run that the calling thread works for.

    First by context variables, which follow tasks and `asyncio.to_thread`; then by the id that a
    user's own thread may have set in `context.thread_local_storage`.
    """

    def __init__(self, storage: threading.local) -> None:
        self._storage = storage
        self._running: dict[str, Scope] = {}

    def begin(self, scope: Scope) -> None:
        """From now on lines with this invocation's id belong to that run."""
        self._running[scope.invocation_id] = scope

    def end(self, scope: Scope) -> None:
        """Forget the run."""
        self._running.pop(scope.invocation_id, None)

    def scope(self) -> Scope:
        """The run, or NOWHERE."""
        scope = SCOPE.get()
        if scope is not NOWHERE:
            return scope
        invocation_id = getattr(self._storage, "invocation_id", None)
        if not invocation_id:
            return NOWHERE
        return self.scope_of(str(invocation_id))

    def scope_of(self, invocation_id: str) -> Scope:
        """The run with that id, as far as it is known."""
        return self._running.get(invocation_id) or Scope(invocation_id=invocation_id)


def log_frame(
    scope: Scope, level: int, logger: str, text: str, extra: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The frame for a line of text; `extra` are the fields of a record."""
    frame: dict[str, Any] = {"t": "log", "level": level, "logger": logger, "text": _clean(text)}
    if scope is not NOWHERE:
        frame["scope"] = scope
    if extra:
        frame["extra"] = extra
    return frame


def _clean(text: str) -> str:
    if len(text) > MOST_TEXT:
        text = f"{text[:MOST_TEXT]} … ({len(text) - MOST_TEXT:,} characters more)"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class FrameHandler(logging.Handler):
    """The handler of the root logger."""

    def __init__(self, attribution: Attribution, send: Send) -> None:
        super().__init__()
        self.setFormatter(RecordFormatter())
        self._attribution = attribution
        self._send = send
        self._known = names_of_every_record()

    def emit(self, record: logging.LogRecord) -> None:
        """Send the record: message, the exception's text where it has one, and its fields."""
        try:
            text, extra = self.format(record), self.fields_of(record)
            scope = self._attribution.scope()
            self._send(log_frame(scope, record.levelno, record.name, text, extra))
        except Exception:  # noqa: BLE001 - as every handler does
            self.handleError(record)

    def fields_of(self, record: logging.LogRecord) -> dict[str, Any]:
        """The fields that user code has given a record."""
        return extra_of(record, self._known)

    def covers(self, record: logging.LogRecord) -> bool:
        """Whether a record that some other handler has comes here too."""
        logger: logging.Logger | None = logging.getLogger(record.name)
        while logger is not None:
            if self in logger.handlers:
                return record.levelno >= self.level
            logger = logger.parent if logger.propagate else None
        return False


class LineWriter(io.TextIOBase):
    """A text stream that sends whole lines; each run has its own unfinished one."""

    def __init__(
        self, name: str, level: int, attribution: Attribution, send: Send, handler: FrameHandler
    ) -> None:
        self._name = name
        self._level = level
        self._attribution = attribution
        self._send = send
        self._handler = handler
        self._partial: dict[str, str] = {}
        self._lock = threading.RLock()  # a signal's code may print while its thread prints
        self.buffer = _Bytes(self)

    encoding = "utf-8"
    errors = "backslashreplace"

    @property
    def name(self) -> str:
        """As the real stream's."""
        return f"<{self._name}>"

    def writable(self) -> bool:
        """Yes."""
        return True

    def fileno(self) -> int:
        """The real descriptor, for subprocesses that inherit it."""
        return {"stdout": 1, "stderr": 2}[self._name]

    def write(self, text: str) -> int:
        """Send the lines that are now complete."""
        record = record_being_written()
        if record is not None and self._handler.covers(record):
            return len(text)  # it comes as a log frame, with its level
        scope = self._attribution.scope()
        with self._lock:
            lines = self._complete(scope.invocation_id, text)
        level, logger = (record.levelno, record.name) if record else (self._level, self._name)
        extra = self._handler.fields_of(record) if record else None
        for line in lines:
            self._send(log_frame(scope, level, logger, line.rstrip("\r"), extra))
        return len(text)

    def _complete(self, key: str, text: str) -> list[str]:
        *lines, rest = (self._partial.pop(key, "") + text).split("\n")
        while len(rest) > MAX_LINE:
            lines.append(rest[:MAX_LINE])
            rest = rest[MAX_LINE:]
        if rest:
            self._partial[key] = rest
        return lines

    def finish(self, scope: Scope) -> None:
        """Send what a run printed without a line end."""
        if not self._partial:
            return
        with self._lock:
            rest = self._partial.pop(scope.invocation_id, "")
        if rest:
            self._send(log_frame(scope, self._level, self._name, rest.rstrip("\r")))


class _Bytes(io.BufferedIOBase):
    """`sys.stdout.buffer`."""

    def __init__(self, text: LineWriter) -> None:
        self._text = text

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        raw = bytes(data)
        self._text.write(raw.decode("utf-8", "backslashreplace"))
        return len(raw)


class Logs:
    """All of it, installed in this process."""

    def __init__(self, storage: threading.local, send: Send) -> None:
        self.attribution = Attribution(storage)
        self._send = send
        handler = FrameHandler(self.attribution, send)
        self._writers = (
            LineWriter("stdout", logging.INFO, self.attribution, send, handler),
            LineWriter("stderr", logging.WARNING, self.attribution, send, handler),
        )
        self._handler = handler

    def install(self, *, debug: bool) -> None:
        """Take over the root logger, the two streams, warnings and what ends threads."""
        root = logging.getLogger()
        root.addHandler(self._handler)
        root.setLevel(logging.DEBUG if debug else logging.INFO)
        # The azure SDKs log each request and its headers at INFO.
        logging.getLogger("azure.core.pipeline.policies.http_logging_policy").setLevel(
            logging.WARNING
        )
        if not debug:
            # The model's own library speaks to its host there, not to people.
            logging.getLogger("azure.functions").setLevel(logging.WARNING)
        logging.captureWarnings(capture=True)
        threading.excepthook = self._thread_ended
        sys.stdout, sys.stderr = self._writers

    def uninstall(self) -> None:
        """Give the streams back, as a forked process and the end of the interpreter need."""
        logging.getLogger().removeHandler(self._handler)
        logging.captureWarnings(capture=False)
        threading.excepthook = threading.__excepthook__
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__

    def begin(self, scope: Scope) -> None:
        """A run starts."""
        self.attribution.begin(scope)

    def end(self, scope: Scope) -> None:
        """A run is over: nothing of it may come later as part of another line."""
        for writer in self._writers:
            writer.finish(scope)
        self.attribution.end(scope)

    def _thread_ended(self, args: threading.ExceptHookArgs) -> None:
        """An exception has ended a thread of the user's own: one line, and not one a frame."""
        if args.exc_type is SystemExit:
            return
        name = args.thread.name if args.thread is not None else "(unknown)"
        error = args.exc_value or args.exc_type()
        text = traceback_of((args.exc_type, error, args.exc_traceback))
        scope = self.attribution.scope()
        self.say(scope, logging.ERROR, "threading", f"an exception ended thread {name}\n{text}")

    def say(self, scope: Scope, level: int, logger: str, text: str) -> None:
        """A line of our own."""
        self._send(log_frame(scope, level, logger, text))
