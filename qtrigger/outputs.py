"""Writes what a run gave to its output bindings, before its message is settled.

Owns the step from output items to messages on queues: names resolved, texts encoded and checked
before the first one is sent, so that a bad item leaves nothing half-written. Knows no triggers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from qtrigger.backoff import doubling
from qtrigger.clock import Clock
from qtrigger.errors import QtriggerError, QueueError, QueueMissing, QueueUnavailable
from qtrigger.invocation import Output, OutputItem
from qtrigger.project.model import FunctionDefinition, QueueOutput
from qtrigger.queues.client import NEVER_EXPIRES_S, QueueClient
from qtrigger.queues.encoding import encode
from qtrigger.queues.services import QueueServices
from qtrigger.trace_context import TraceContext, injected
from qtrigger.wakeups import Wakeups

TRIES = 4
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 2.0
MAX_DELAY_S = 7 * 86_400.0


ResolveName = Callable[[str, Mapping[str, object]], str]
"""Fills the expressions of an output's `queueName` from binding data; raises QtriggerError."""


class OutputError(QtriggerError):
    """An output was not written; says which, why, and what was written before it."""


@dataclass(frozen=True, slots=True)
class Planned:
    """An item that can be sent: where, and the text as it will stand on the wire."""

    binding: str
    queue: QueueClient
    text: str
    item: OutputItem


class OutputWriter:
    """Writes the outputs of one function's runs; `injects` has them carry a trace on."""

    def __init__(
        self,
        function: FunctionDefinition,
        *,
        services: QueueServices,
        resolve_name: ResolveName,
        clock: Clock,
        wakeups: Wakeups,
        injects: bool = False,
    ) -> None:
        self._function = function
        self._injects = injects
        self._bindings = {binding.name: binding for binding in function.outputs}
        self._services = services
        self._resolve_name = resolve_name
        self._clock = clock
        self._wakeups = wakeups

    async def write(
        self,
        outputs: Sequence[Output],
        data: Mapping[str, object],
        context: TraceContext | None = None,
    ) -> None:
        """Send every item, in order. Raises OutputError at the first that cannot be sent.

        `context` is the place of their run in a trace, which JSON objects carry on where that is
        wanted.
        """
        if context is not None and self._injects:
            outputs = [_traced(each, context) for each in outputs]
        await self.send(self.plan(outputs, data))

    def plan(self, outputs: Sequence[Output], data: Mapping[str, object]) -> Sequence[Planned]:
        """Return what `send` takes, without a request. Raises OutputError for what cannot be."""
        return [
            self._prepare(output.binding, index, item, data)
            for output in outputs
            for index, item in enumerate(output.items)
        ]

    async def send(self, planned: Sequence[Planned]) -> None:
        """Send them in order. Raises OutputError at the first that the service does not take."""
        for written, message in enumerate(planned):
            try:
                await self._send(message)
            except QueueError as error:
                before = f" {written} of {len(planned)} were written before it." if written else ""
                raise OutputError(
                    f"output {message.binding!r}: could not write to queue "
                    f"{message.queue.name!r}: {error}{before}"
                ) from error

    def _prepare(
        self, binding: str, index: int, item: OutputItem, data: Mapping[str, object]
    ) -> Planned:
        output = self._bindings[binding]
        if output.delay_s is not None or output.ttl_s is not None:
            item = _with_times(item, output)
        try:
            _check_times(item)
            queue = self._queue(output, data)
            text = encode(item.body, self._function.options.message_encoding)
        except QtriggerError as error:
            raise OutputError(f"output {binding!r}, item {index}: {error}") from error
        return Planned(binding, queue, text, item)

    def _queue(self, output: QueueOutput, data: Mapping[str, object]) -> QueueClient:
        if output.account is None:
            raise OutputError(output.account_error)
        name = self._resolve_name(output.queue, data)
        return self._services.of(output.account).queue(name)

    async def _send(self, message: Planned) -> None:
        pauses = doubling(FIRST_PAUSE_S, LONGEST_PAUSE_S)
        for tries_left in reversed(range(TRIES)):
            try:
                await _put(message)
            except QueueUnavailable as error:
                if not tries_left:
                    raise
                await self._clock.sleep(max(next(pauses), error.retry_after_s or 0.0))
            else:
                self._wakeups.wake(message.queue.address)
                return


def _traced(output: Output, context: TraceContext) -> Output:
    """The output with what carries the trace on in each item that is a JSON object."""
    items = [replace(item, body=injected(item.body, context)) for item in output.items]
    return Output(binding=output.binding, items=tuple(items))


def _with_times(item: OutputItem, output: QueueOutput) -> OutputItem:
    """The item with what its binding says where it says nothing itself."""
    return OutputItem(
        body=item.body,
        delay_s=output.delay_s if item.delay_s is None else item.delay_s,
        ttl_s=output.ttl_s if item.ttl_s is None else item.ttl_s,
    )


def _check_times(item: OutputItem) -> None:
    """Refuse a delay or a time to live that the service cannot take, whatever worker gave it."""
    delay_s, ttl_s = item.delay_s, item.ttl_s
    if delay_s is not None and not 0 <= delay_s <= MAX_DELAY_S:
        raise OutputError(f"its delay is {delay_s} s; from 0 s to 7 days can be had")
    if ttl_s is not None and not (ttl_s == NEVER_EXPIRES_S or 1 <= ttl_s < math.inf):
        raise OutputError(f"its time to live is {ttl_s} s; -1 (for ever) or from 1 s can be had")
    # The service knows whole seconds only, and cuts the rest.
    if delay_s is not None and ttl_s is not None and 0 <= int(ttl_s) <= int(delay_s):
        raise OutputError(
            f"its delay of {delay_s:g} s is not less than its time to live of {ttl_s:g} s, so it "
            "would expire before anybody sees it"
        )


async def _put(message: Planned) -> None:
    """Send one message, making its queue when it is missing."""
    item = message.item
    try:
        await message.queue.send(message.text, delay_s=item.delay_s, ttl_s=item.ttl_s)
    except QueueMissing:
        await message.queue.create()
        await message.queue.send(message.text, delay_s=item.delay_s, ttl_s=item.ttl_s)
