"""Whether a host gets on: its listeners, and the processes that run its functions.

Owns what counts as standing still. That the loop itself turns is shown by this being called at
all. It ends nothing: what is done about it is for a person, or for a service manager.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

from qtrigger.clock import Clock, Timer
from qtrigger.events import EventSink, WorkerAnswers, WorkerSilent

# How often workers are asked where nobody wants to know sooner, and how long one may be silent: a
# machine that swaps is slow, and nobody should be woken for it.
LOOK_S: Final = 10.0
SILENT_S: Final = 20.0


class Answering(Protocol):
    """A worker process that can be asked whether it is there."""

    @property
    def pid(self) -> int:
        """Its process id."""

    @property
    def silent_s(self) -> float:
        """How long an answer has been waited for, in seconds; 0 when none is."""

    def ask(self) -> None:
        """Ask, unless it has been asked and has not answered."""


class Punctual(Protocol):
    """Something that has to come round in time."""

    @property
    def function(self) -> str:
        """What it works for."""

    @property
    def due_at(self) -> float:
        """When at the latest, on the monotonic clock."""


class Liveness:
    """Looks each `every_s` seconds; a worker may be silent for `silent_s`.

    `listeners` and `workers` give those that there are; `spent_s` the processor time of a process
    in seconds, None when it cannot be told: one that computes stands not still, although code that
    holds Python's lock lets nobody answer. `looked` is called after each look.
    """

    def __init__(
        self,
        *,
        listeners: Callable[[], Sequence[Punctual]],
        workers: Callable[[], Sequence[Answering]],
        spent_s: Callable[[int], float | None],
        clock: Clock,
        sink: EventSink,
        looked: Callable[[], None] = lambda: None,
        every_s: float = LOOK_S,
        silent_s: float = SILENT_S,
    ) -> None:
        self._listeners = listeners
        self._workers = workers
        self._spent_s = spent_s
        self._clock = clock
        self._sink = sink
        self._looked = looked
        self._every_s = every_s
        self._silent_s = silent_s
        self._spent: dict[int, float | None] = {}
        self._since: dict[int, float] = {}
        self._silent: dict[int, float] = {}
        self._timer: Timer = clock.call_later(every_s, self._look)

    @property
    def silent(self) -> Sequence[int]:
        """The process ids of workers that stand still."""
        return tuple(self._silent)

    @property
    def problems(self) -> Sequence[str]:
        """What stands still, in words; empty while everything gets on."""
        return (*self._of_workers(), *self._of_listeners())

    def close(self) -> None:
        """Look no more."""
        self._timer.cancel()

    def _look(self) -> None:
        workers = self._workers()
        for worker in workers:
            self._listen_to(worker)
            worker.ask()
        here = {worker.pid for worker in workers}
        for pid in [pid for pid in self._spent if pid not in here]:
            self._forget(pid)
        self._looked()
        self._timer = self._clock.call_later(self._every_s, self._look)

    def _listen_to(self, worker: Answering) -> None:
        pid, now = worker.pid, self._clock.monotonic()
        spent = self._spent_s(pid)
        moved = spent is not None and spent != self._spent.get(pid)
        self._spent[pid] = spent
        if not worker.silent_s or moved:
            self._since.pop(pid, None)
            if pid in self._silent:
                for_s = now - self._silent.pop(pid)
                self._sink.emit(WorkerAnswers(pid=pid, after_s=for_s))
            return
        since = self._since.setdefault(pid, now - min(worker.silent_s, self._every_s))
        if pid not in self._silent and now - since >= self._silent_s:
            self._silent[pid] = since
            self._sink.emit(WorkerSilent(pid=pid, for_s=now - since))

    def _forget(self, pid: int) -> None:
        del self._spent[pid]
        self._since.pop(pid, None)
        self._silent.pop(pid, None)

    def _of_workers(self) -> Iterator[str]:
        now = self._clock.monotonic()
        for pid, since in self._silent.items():
            yield f"worker {pid} has not answered for {now - since:.0f} s"

    def _of_listeners(self) -> Iterator[str]:
        now = self._clock.monotonic()
        for listener in self._listeners():
            late_s = now - listener.due_at
            if late_s > self._silent_s:
                yield f"the listener of {listener.function} is {late_s:.0f} s late"
