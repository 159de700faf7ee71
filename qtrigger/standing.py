"""How a running host stands, as one document: what a command shows, and later a page.

Owns the document's form and which word is said of a function. It reads the live host and what has
happened, and asks the queue service only when it is asked itself, within a deadline.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, cast

from qtrigger.clock import Clock
from qtrigger.errors import QueueError, QueueMissing
from qtrigger.events import FunctionState
from qtrigger.happened import Happened, Record
from qtrigger.host import Host
from qtrigger.listener import BROKEN, BY_HAND, DRAINED, UNLOADED, Listener
from qtrigger.liveness import Answering
from qtrigger.queue_state import MISSING, OK, UNKNOWN
from qtrigger.queues.client import MAX_RECEIVE, QueueInspector
from qtrigger.spending import Spending
from qtrigger.unrunnable import Unrunnable, unrunnable

# For all questions to the service together; what is not known by then is left out.
ASKING_S: Final = 2.0
AT_ONCE: Final = 8
# Whoever looks each second does not ask the service each second.
FRESH_S: Final = 2.0

READY, DRAINING = "ready", "draining"
NO_ANSWER: Final = "the queue service did not answer in time"


class WorkerProcess(Answering, Protocol):
    """What is said of a worker."""

    @property
    def running(self) -> int:
        """How many runs it has under way."""


class Processes(Protocol):
    """The workers of a host."""

    @property
    def processes(self) -> Sequence[WorkerProcess]:
        """Those that take invocations now."""


class Looks(Protocol):
    """What is known of what gets on and what does not."""

    @property
    def silent(self) -> Sequence[int]:
        """The process ids of workers that stand still."""

    @property
    def problems(self) -> Sequence[str]:
        """What stands still, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Messages:
    """What is on a queue; None where that cannot be told.

    `waiting` are visible, `more` says that there are more of them; `ours` are being worked on
    here, `hidden` are hidden by others or until later. `oldest_s` is the age of the oldest visible
    one. `problem` says why nothing is known.
    """

    waiting: int | None = None
    more: bool = False
    ours: int = 0
    hidden: int | None = None
    oldest_s: float | None = None
    problem: str = ""


class Standing:
    """Describes the live host. `held_kib` gives the memory of a process, 0 when not known.

    `spending`, where there is one, says how much of the queue service functions use.
    """

    def __init__(
        self,
        happened: Happened,
        *,
        version: str,
        clock: Clock,
        held_kib: Callable[[int], int],
    ) -> None:
        self._happened = happened
        self._version = version
        self._clock = clock
        self._held_kib = held_kib
        self._host: Host | None = None
        self._processes: Processes | None = None
        self._looks: Looks | None = None
        self._messages: Mapping[str, Messages] = {}
        self._asked_at: float | None = None
        self._asking = asyncio.Lock()
        self.spending: Spending | None = None

    def now(self, host: Host, processes: Processes) -> None:
        """That host is the live one."""
        self._host, self._processes = host, processes
        self._asked_at = None

    def looked_after_by(self, looks: Looks) -> None:
        """Say what stands still by these looks."""
        self._looks = looks

    @property
    def state(self) -> str:
        """The process's state: starting, ready, draining or stopped."""
        return self._happened.state

    @property
    def unrunnable(self) -> Unrunnable:
        """What keeps functions of the live host from running."""
        return unrunnable(self._host) if self._host is not None else Unrunnable()

    async def document(self, *, queues: bool) -> Mapping[str, Any]:
        """All that is known; with `queues`, what is on them as well, two seconds later at most."""
        happened, host = self._happened, self._host
        messages = await self._looked(host) if queues and host is not None else {}
        up_s = self._clock.monotonic() - happened.began_at
        return {
            "state": happened.state,
            "pid": os.getpid(),
            "qtrigger": self._version,
            "project": str(host.project.root) if host else "",
            "environment": host.project.environment if host else "",
            "started": (self._clock.utcnow() - timedelta(seconds=up_s)).isoformat(),
            "uptime_s": round(up_s, 3),
            "generation": happened.generation,
            "lease_s": host.project.host.lease_s if host else None,
            "functions": self._functions(host, messages),
            "workers": self._workers(),
            "currency": self._currency,
            "problems": list(self._looks.problems) if self._looks is not None else [],
            "faults": list(self._faults()),
            "accounts": [
                {
                    "name": each.account,
                    "throttled": each.active,
                    "requests": each.requests,
                    "busy": each.busy,
                }
                for each in (host.throttling if host else ())
            ],
        }

    def _faults(self) -> Iterator[str]:
        """What keeps a script's functions from being known at all."""
        for each in self.unrunnable.faults:
            if not each.function:
                place = f"{each.place}: " if each.place else ""
                yield self._happened.plain(f"{place}{each.message}")

    @property
    def _currency(self) -> str | None:
        """What costs are in, None without a price."""
        price = self.spending.price if self.spending is not None else None
        return None if price is None else price.currency

    def _functions(
        self, host: Host | None, messages: Mapping[str, Messages]
    ) -> Sequence[Mapping[str, Any]]:
        listeners = {each.function: each for each in host.listeners} if host else {}
        return [
            self._function(host, each, listeners.get(each.name), messages.get(each.name))
            for each in (host.states if host and self._happened.generation else ())
        ]

    def _function(
        self,
        host: Host | None,
        known: FunctionState,
        listener: Listener | None,
        messages: Messages | None,
    ) -> Mapping[str, Any]:
        record = self._happened.of(known.name)
        state, why = (known.state, known.why)
        if listener is not None and host is not None:
            state, why = _state(host, listener, record)
        elif state == "failed":
            why = record.load_failure or why
        return {
            "name": known.name,
            "queue": known.queue,
            "connection": known.connection,
            "state": state,
            "why": why,
            "running": listener.running if listener else 0,
            "settling": listener.unsettled - listener.running if listener else 0,
            "slots": known.concurrency,
            "per_second": round(self._happened.per_second(known.name), 3),
            "succeeded": record.succeeded,
            "failed": record.failed,
            "poisoned": record.poisoned,
            "last_success": self._time(record.succeeded_at),
            "last_error": _error(record),
            "messages": None if messages is None else asdict(messages),
            "transactions": self._transactions(host, known.name),
        }

    def _transactions(self, host: Host | None, function: str) -> Mapping[str, Any] | None:
        if self.spending is None or host is None:
            return None
        options = {each.name: each.options for each in host.project.functions}.get(function)
        if options is None:
            return None
        return {
            **asdict(self.spending.lately(function)),
            "max_polling_interval_s": options.max_polling_interval_s,
        }

    def _workers(self) -> Sequence[Mapping[str, Any]]:
        found = self._processes.processes if self._processes is not None else ()
        silent = self._looks.silent if self._looks is not None else ()
        return [
            {
                "pid": each.pid,
                "running": each.running,
                "memory_bytes": self._held_kib(each.pid) * 1024 or None,
                "stands_still": each.pid in silent,
            }
            for each in found
        ]

    def _time(self, monotonic: float | None) -> str | None:
        if monotonic is None:
            return None
        ago = timedelta(seconds=self._clock.monotonic() - monotonic)
        return (self._clock.utcnow() - ago).isoformat()

    async def _looked(self, host: Host) -> Mapping[str, Messages]:
        """What is on the queues, as it was at most two seconds ago."""
        async with self._asking:
            now = self._clock.monotonic()
            if self._asked_at is None or now - self._asked_at >= FRESH_S:
                self._messages = await look(host.listeners, self._clock)
                self._asked_at = self._clock.monotonic()
            return self._messages


async def look(listeners: Sequence[Listener], clock: Clock) -> Mapping[str, Messages]:
    """Ask the service what is on the queues of these, for two seconds at most."""
    found: dict[str, Messages] = {}
    room = asyncio.Semaphore(AT_ONCE)

    async def one(listener: Listener) -> None:
        async with room:
            found[listener.function] = await _messages(listener, clock.utcnow())

    tasks = [asyncio.ensure_future(one(listener)) for listener in listeners]
    try:
        async with clock.timeout(ASKING_S):
            await asyncio.gather(*tasks)
    except TimeoutError:
        pass
    finally:
        for task in tasks:
            task.cancel()
    late = {each.function: Messages(ours=each.unsettled, problem=NO_ANSWER) for each in listeners}
    return {**late, **found}


async def _messages(listener: Listener, now: datetime) -> Messages:
    queue = cast("QueueInspector", listener.queue)  # every queue client is one
    try:
        visible = await queue.peek(MAX_RECEIVE)
        count = await queue.approximate_count()
    except QueueMissing:
        return Messages(waiting=0, ours=listener.unsettled, hidden=0)
    except QueueError as error:
        return Messages(ours=listener.unsettled, problem=str(error))
    ours = listener.unsettled
    oldest_s = max(((now - each.inserted).total_seconds() for each in visible), default=None)
    if len(visible) == MAX_RECEIVE:
        # How many of the others are hidden, nobody says.
        return Messages(
            waiting=max(count - ours, MAX_RECEIVE), more=True, ours=ours, oldest_s=oldest_s
        )
    hidden = max(count - len(visible) - ours, 0)
    return Messages(waiting=len(visible), ours=ours, hidden=hidden, oldest_s=oldest_s)


def _state(host: Host, listener: Listener, record: Record) -> tuple[str, str]:
    """The word for a function that was loaded, and why it is so."""
    if UNLOADED in listener.paused:
        return "failed", record.load_failure or "no worker can load it any more"
    if BY_HAND in listener.paused:
        pause = host.pause_of(listener.function)
        return "paused", pause.in_words() if pause else ""
    if DRAINED in listener.paused:
        return "paused", "the host is being drained; POST /admin/host/resume ends that"
    if BROKEN in listener.paused:
        return "breaker open", record.breaker
    if listener.state in (OK, UNKNOWN):
        return READY, ""
    return "queue missing" if listener.state == MISSING else listener.state, record.queue_message


def _error(record: Record) -> Mapping[str, str] | None:
    error = record.last_error
    if error is None:
        return None
    return {"type": error.type, "message": error.message, "at": error.at.isoformat()}
