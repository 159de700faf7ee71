"""The life of a worker process.

Owns the order of things: hello, an index where one is asked for, load, ready, then runs until told
to stop or until the host is gone. Loading and async functions have the main thread and its event
loop, plain functions a pool of threads, frames the channel's own threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import faulthandler
import importlib
import logging
import os
import queue
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import Any

from . import debugging, loader, wire
from .apps import Apps
from .channel import Channel
from .context import NOWHERE, SCOPE, Scope
from .failures import Describer
from .index import index
from .lifeline import end_with
from .loading import Loading
from .logs import Logs
from .runs import Runs
from .wire import Frame

TRUE = ("1", "true", "t", "yes", "y")
LAST_WORDS_S = 1.0

# The exit code when the connection to the host can no longer be used.
BROKEN = 70


def run(descriptor: int, pipe: int) -> int:
    """Live as the worker process behind that socket; the exit code.

    The host holds the other end of the pipe for as long as it lives.
    """
    end_with(pipe)
    connection = socket.socket(fileno=descriptor)
    connection.set_inheritable(False)
    connection.settimeout(None)
    _set_signals()
    try:
        return Child(Channel(connection)).live()
    except BaseException:
        _die(traceback.format_exc())
        raise


def _set_signals() -> None:
    # Only the host decides about Ctrl-C. A handler, unlike SIG_IGN, is not passed on to the
    # programs that user code starts. SIGTERM ends us at once, whatever the host inherited.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    faulthandler.enable(file=2)
    # Where every thread stands, on request; written by C code, whoever has the interpreter's lock.
    faulthandler.register(signal.SIGUSR1, file=2, all_threads=True)


class Child:
    """A worker process from its first frame to its last."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._storage = threading.local()
        self._logs = Logs(self._storage, channel.send_log)
        self._requests: queue.SimpleQueue[wire.Header | None] = queue.SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._apps = Apps(self._loop)
        self._stopping = threading.Event()
        self._runs: Runs | None = None

    def live(self) -> int:
        """Everything; returns when told to stop."""
        debug = os.environ.get("PYTHON_ENABLE_DEBUG_LOGGING", "").strip().lower() in TRUE
        self._logs.install(debug=debug)
        os.register_at_fork(after_in_child=self._leave_the_host)
        self._channel.start(self._on_frames, _die)
        self._channel.send(
            {
                "t": "hello",
                "version": wire.VERSION,
                "python": ".".join(map(str, sys.version_info[:3])),
                "pid": os.getpid(),
            }
        )
        asyncio.set_event_loop(self._loop)
        request = self._requests.get()
        while request is not None and request["t"] != "load":
            if request["t"] == "warm":
                _warm(request)
            else:
                self._index(request)
            request = self._requests.get()
        if request is not None:
            self._load(request)
            self._serve()
        self._logs.uninstall()
        self._channel.drain(LAST_WORDS_S)
        return 0

    def _index(self, request: wire.Header) -> None:
        """Report what a script declares; its app stays loaded, for a request to load it."""
        root, script = request["root"], request["script"]
        loader.prepare(root, [])
        self._tell_loading("", script, root)
        self._channel.send({"t": "index", **index(self._apps, script, Describer(root))})

    def _load(self, request: wire.Header) -> None:
        describer = Describer(request["root"])
        debugging.listen(os.environ, sys.executable, self._say)

        def announce(function: str, script: str) -> contextvars.Token[Scope]:
            self._tell_loading(function, script, request["root"])
            return SCOPE.set(Scope(function))

        loading = Loading(request, describer, self._loop, announce, self._apps)
        plans, failures = loading.load()
        self._runs = Runs(
            plans=plans,
            threads=request["threads"],
            describer=describer,
            channel=self._channel,
            logs=self._logs,
            storage=self._storage,
            loop=self._loop,
        )
        self._channel.send({"t": "ready", "failures": failures, "at_once": self._runs.at_once})

    def _say(self, level: int, text: str) -> None:
        self._logs.say(NOWHERE, level, "qtrigger.worker", text)

    def _tell_loading(self, function: str, script: str, root: str) -> None:
        """The host names what hangs or crashes the process while being imported."""
        shown = os.path.relpath(script, root)
        self._channel.send({"t": "loading", "function": function, "script": shown})

    def _serve(self) -> None:
        while not self._stopping.is_set():
            try:
                self._loop.run_forever()
            except (SystemExit, KeyboardInterrupt) as error:
                # Raised in a task that user code made; the runs' own are caught in the run.
                text = f"{type(error).__name__} in a background task is ignored"
                self._say(logging.WARNING, text)
        self._loop.run_until_complete(_end_tasks())

    def _on_frames(self, frames: Sequence[Frame]) -> None:
        """In the reading thread."""
        invocations: list[Frame] = []
        for header, blob in frames:
            kind = header["t"]
            if kind == "invoke":
                invocations.append((header, blob))
            elif kind in ("warm", "index", "load"):
                self._requests.put(header)
            elif kind == "stop":
                self._stopping.set()
                self._requests.put(None)
                self._loop.call_soon_threadsafe(self._loop.stop)
            elif kind == "ping":
                self._channel.send({"t": "pong", "id": header["id"]})
            elif self._runs is not None:
                # It may be about one that came just before.
                self._runs.begin(invocations)
                invocations = []
                self._question(self._runs, kind, header)
        if invocations and self._runs is not None:
            self._runs.begin(invocations)

    def _question(self, runs: Runs, kind: str, header: dict[str, Any]) -> None:
        if kind == "overdue":
            runs.overdue(header["id"], header["limit"])
        elif kind == "cancel":
            runs.cancel(header["id"])
        elif kind == "where":
            runs.where(header["id"])

    def _leave_the_host(self) -> None:
        self._channel.abandon()
        self._logs.uninstall()


def _warm(request: wire.Header) -> None:
    """Import the library that the project's code is about to import, before that is read."""
    loader.prepare(request["root"], [])
    with contextlib.suppress(Exception):  # the project's import of it tells what is wrong
        importlib.import_module("azure.functions")


async def _end_tasks() -> None:
    """Let what user code left running in the background end, as `asyncio.run` does."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=LAST_WORDS_S)


def _die(broken: str) -> None:
    """The connection has ended: end at once, with whatever user code has started."""
    if broken:
        try:
            os.write(2, broken.encode() + b"\n")
        finally:  # user code may have closed every descriptor there was
            os._exit(BROKEN)
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)  # the group is not ours: that of a shell or of a test
