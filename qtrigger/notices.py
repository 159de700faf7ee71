"""The notices of poisoned messages on their way to those who want to know.

Owns the queue of what is still to be told, its pace and its end. A notice is begun after its
message was settled and is in the way of nothing: nobody waits for it but a stop, for a while.
Knows neither programs nor addresses; it has `Teller`s.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from qtrigger.background import begin
from qtrigger.clock import Clock
from qtrigger.errors import QtriggerError
from qtrigger.events import EventSink, MessagePoisoned, NoticeFailed, NoticesDropped
from qtrigger.invocation import Outcome
from qtrigger.poison_notice import Notice, as_json
from qtrigger.project.model import FunctionDefinition
from qtrigger.queues.client import QueueMessage
from qtrigger.values import value

# How many wait at most; each may hold a body of 64 KiB.
WAITING: Final = 100
# One a second, after so many at once.
PER_SECOND: Final = 1.0
BURST: Final = 10
# For what waits at a stop.
LAST_NOTICES_S: Final = 5.0
# For one notice to one teller, whatever it repeats.
DEADLINE_S: Final = 10.0

Notify = Callable[[MessagePoisoned, QueueMessage, Outcome | None], None]
"""Told of a message that was poisoned, and how its last run ended. Never blocks, never raises."""


class TellingError(QtriggerError):
    """Somebody could not be told. The text holds no secret; `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Teller(Protocol):
    """Tells one program or one address."""

    @property
    def who(self) -> str:
        """Who is told, in words without a secret."""

    async def tell(self, document: str) -> None:
        """Tell it. Raises TellingError; may be cancelled, and then leaves nothing running."""


OpenTellers = Callable[[FunctionDefinition], Sequence[Teller]]
"""Those who are told of a function's poisoned messages; no request is made yet."""


@value(frozen=True, slots=True, kw_only=True)
class _Waiting:
    notice: Notice
    tellers: Sequence[Teller]
    with_body: bool


class Notices:
    """All notices of one host, told one at a time."""

    def __init__(self, *, clock: Clock, sink: EventSink) -> None:
        self._clock = clock
        self._sink = sink
        self._waiting: deque[_Waiting] = deque()
        self._dropped: Counter[str] = Counter()
        self._pace = _Pace(clock)
        self._hurried = asyncio.Event()
        self._stopped = False
        self._task: asyncio.Task[None] | None = None

    def of(self, function: FunctionDefinition, open_tellers: OpenTellers | None) -> Notify | None:
        """Return what takes the notices of that function; None when nobody wants them."""
        wanted = function.own.on_poison
        if wanted is None or open_tellers is None:
            return None
        tellers, encoding = open_tellers(function), function.options.message_encoding

        def notify(event: MessagePoisoned, message: QueueMessage, outcome: Outcome | None) -> None:
            notice = Notice(
                event=event,
                message=message,
                outcome=outcome,
                encoding=encoding,
                time=self._clock.utcnow(),
            )
            self._add(_Waiting(notice=notice, tellers=tellers, with_body=wanted.include_body))

        return notify

    async def stop(self, up_to_s: float) -> None:
        """Tell what waits, at no pace, for that long, 5 s at most; then say how many were not."""
        self._hurried.set()
        if self._task is not None:
            try:
                async with self._clock.timeout(min(max(up_to_s, 0.0), LAST_NOTICES_S)):
                    await asyncio.wait({self._task})
            except TimeoutError:
                self._task.cancel()
                await asyncio.wait({self._task})
        self._stopped = True
        self._dropped.update(each.notice.event.function for each in self._waiting)
        self._waiting.clear()
        for function in list(self._dropped):
            self._tell_dropped(function, "stopped")

    def _add(self, waiting: _Waiting) -> None:
        function = waiting.notice.event.function
        if self._stopped or len(self._waiting) >= WAITING:
            self._dropped[function] += 1
            if self._stopped:
                self._tell_dropped(function, "stopped")
            return
        self._waiting.append(waiting)
        if self._task is None or self._task.done():
            self._task = begin(self._tell_all(), name="notices of poisoned messages")

    async def _tell_all(self) -> None:
        while self._waiting:
            await self._pace.keep(self._hurried)
            # It counts as waiting until it is told: a stop may come between.
            await self._tell(self._waiting[0])
            self._waiting.popleft()

    async def _tell(self, waiting: _Waiting) -> None:
        notice, function = waiting.notice, waiting.notice.event.function
        dropped = self._tell_dropped(function, "full")
        document = as_json(notice, with_body=waiting.with_body, dropped=dropped)
        for teller in waiting.tellers:
            failure = await self._failure(teller, document)
            if failure is not None:
                self._sink.emit(
                    NoticeFailed(
                        function=function,
                        queue=notice.event.queue,
                        message_id=notice.event.message_id,
                        told=teller.who,
                        message=str(failure),
                        hint=failure.hint,
                    )
                )

    async def _failure(self, teller: Teller, document: str) -> TellingError | None:
        try:
            async with self._clock.timeout(DEADLINE_S):
                await teller.tell(document)
        except TellingError as error:
            return error
        except TimeoutError:
            return TellingError(f"it did not end within {DEADLINE_S:g} s")
        except Exception as error:  # noqa: BLE001  # those after it are to be told all the same
            # Not its text, which may hold an address.
            return TellingError(f"a defect of qtrigger: {type(error).__name__}")
        return None

    def _tell_dropped(self, function: str, reason: str) -> int:
        count = self._dropped.pop(function, 0)
        if count:
            self._sink.emit(NoticesDropped(function=function, count=count, reason=reason))
        return count


class _Pace:
    """A bucket of so many beginnings, filled by so many a second."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._left = float(BURST)
        self._at = clock.monotonic()

    async def keep(self, hurried: asyncio.Event) -> None:
        """Wait until another may begin; not at all once there is a hurry."""
        now = self._clock.monotonic()
        self._left = min(self._left + (now - self._at) * PER_SECOND, float(BURST))
        self._at = now
        self._left -= 1.0
        if self._left < 0.0:
            await self._clock.wait(hurried, -self._left / PER_SECOND)
