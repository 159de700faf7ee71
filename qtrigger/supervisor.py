"""The life of the process: start, reload, stop, and what it tells its caller.

Owns signals and the succession of hosts. Knows no queues, no functions and no terminal.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from qtrigger.background import begin
from qtrigger.clock import Clock
from qtrigger.errors import ExitCode, QtriggerError
from qtrigger.events import EventSink, HostStopped
from qtrigger.host import Host
from qtrigger.renewal import Asked, Renew, Renewals
from qtrigger.watching.changes import ChangeSource, NoChanges

StartHost = Callable[[], Awaitable[Host]]


class Supervisor:
    """Runs one host after another until the process is told to end.

    `start_host` loads the project anew and returns a host that already polls; it raises a
    `QtriggerError` when that cannot be done. The first stop request drains, the second one
    releases and leaves at once; a reload starts the new host before the old one stops.
    Files that change, as `changes` tells, are a reload; `renew` carries reloads out, in place of
    `start_host`, and `requirements` is called where something is to be installed.
    `counts` gives the closing counts; `terminal_gone` says whether the terminal that this was
    started in has been closed.
    """

    def __init__(  # noqa: PLR0913 - each is a seam of its own
        self,
        start_host: StartHost,
        *,
        shutdown_timeout_s: float | None,
        exit_when_idle_s: float | None,
        clock: Clock,
        sink: EventSink,
        counts: Callable[[], Mapping[str, int]],
        terminal_gone: Callable[[], bool],
        changes: ChangeSource | None = None,
        renew: Renew | None = None,
        requirements: Callable[[], None] = lambda: None,
    ) -> None:
        self._start_host = start_host
        self._shutdown_timeout_s = shutdown_timeout_s
        self._exit_when_idle_s = exit_when_idle_s
        self._clock = clock
        self._sink = sink
        self._counts = counts
        self._terminal_gone = terminal_gone
        self._reason = ""
        self._stop = asyncio.Event()
        self._at_once = asyncio.Event()
        self._renewals = Renewals(
            renew or self._start_anew,
            changes or NoChanges(),
            requirements=requirements,
            clock=clock,
            sink=sink,
        )
        self._host: Host | None = None
        self._retiring: set[asyncio.Task[None]] = set()
        self._stranded = 0

    def request_stop(self, reason: str) -> None:
        """Drain and end; asked a second time, release what runs and end at once."""
        if self._stop.is_set():
            self._at_once.set()
        self._reason = self._reason or reason
        self._stop.set()

    def request_reload(self) -> None:
        """Load the project anew and swap hosts once the new one is ready."""
        self._renewals.ask()

    def hang_up(self) -> None:
        """Take a SIGHUP: a wish to reload, unless it comes of a closed terminal, which stops."""
        if self._terminal_gone():
            self.request_stop("the terminal was closed")
        else:
            self.request_reload()

    def show_stacks(self) -> None:
        """Have the live host's workers say where their code stands."""
        if self._host is not None:
            self._host.show_stacks()

    async def run(self) -> ExitCode:
        """Run to the end. Raises QtriggerError when the first host cannot be started.

        Whatever ends the run, a live host is drained, and a defect of ours is raised after that.
        """
        began = self._clock.monotonic()
        with self._signals():
            self._host = await self._start()
            try:
                await self._watch()
            finally:
                await self._renewals.close()
                left = await self._stop_all()
                self._sink.emit(
                    HostStopped(
                        reason=self._reason or "a defect",
                        counts=self._counts(),
                        unsettled=left,
                        after_s=self._clock.monotonic() - began,
                    )
                )
        return ExitCode.PARTLY if left else ExitCode.OK

    async def _stop_all(self) -> int:
        """Stop the live host, wait for retiring ones; return how many messages are stranded."""
        if self._host is not None:
            try:
                self._stranded += await self._stop_host(self._host, self._reason)
            except Exception as error:  # noqa: BLE001  # it must not keep retiring hosts from ending
                self._tell_defect("a host could not be stopped", error)
        if self._retiring:
            await asyncio.wait(self._retiring)
        return self._stranded

    async def _start(self) -> Host | None:
        """Start a host; None when a stop is asked for before it is up.

        One that hangs, as an import may, is begun anew with what has been saved since.
        """
        while not self._stop.is_set():
            starting = asyncio.ensure_future(self._start_host())
            stop = asyncio.ensure_future(self._stop.wait())
            mended = asyncio.ensure_future(self._renewals.mended())
            await asyncio.wait({starting, stop, mended}, return_when=asyncio.FIRST_COMPLETED)
            stop.cancel()
            mended.cancel()
            if not starting.done():
                starting.cancel()
                await asyncio.wait({starting})
                if starting.cancelled() or isinstance(starting.exception(), QtriggerError):
                    continue
            return starting.result()
        return None

    async def _watch(self) -> None:
        """Wait for a reason to end, reloading on the way."""
        while self._host is not None and not self._stop.is_set():
            asked = await self._first_of(self._host)
            if asked == "reload" and not self._stop.is_set():
                await self._replace(self._host)
            elif asked == "idle":
                self.request_stop("idle")

    async def _first_of(self, host: Host) -> str:
        waits: dict[str, Coroutine[Any, Any, object]] = {
            "stop": self._stop.wait(),
            "reload": self._renewals.wanted(),
            "defect": host.failed(),
        }
        if self._exit_when_idle_s is not None:
            waits["idle"] = host.idle(self._exit_when_idle_s)
        tasks = [asyncio.create_task(wait, name=name) for name, wait in waits.items()]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            return next(task.get_name() for task in tasks if task in done)
        finally:
            for task in tasks:
                task.cancel()

    async def _replace(self, old: Host) -> None:
        """Reload; a host that was replaced stops meanwhile."""
        new = await self._renewals.carry_out(old, self._retiring, self._stop)
        if new is not None and new is not old:
            retiring = begin(self._retire(old), name="a host that was replaced")
            self._retiring.add(retiring)
            retiring.add_done_callback(self._retiring.discard)
            self._host = new

    async def _start_anew(self, _old: Host, _asked: Asked) -> Host:
        return await self._start_host()

    async def _retire(self, old: Host) -> None:
        self._stranded += await self._stop_host(old, "reload")

    def _tell_defect(self, message: str, error: BaseException) -> None:
        asyncio.get_running_loop().call_exception_handler({"message": message, "exception": error})

    async def _stop_host(self, host: Host, reason: str) -> int:
        up_to_s = self._shutdown_timeout_s
        if up_to_s is None:
            up_to_s = host.project.host.shutdown_timeout_s
        return await host.stop(reason, up_to_s=up_to_s, at_once=self._at_once)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.request_stop, number.name)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup has it
            loop.add_signal_handler(signal.SIGHUP, self.hang_up)
        loop.add_signal_handler(signal.SIGUSR1, self.show_stacks)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
                loop.remove_signal_handler(number)
