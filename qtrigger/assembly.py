"""Puts the parts of one function's listener together.

Owns which part gets what; holds no state of a run. Everything it needs is passed in, so that
tests assemble the same house around fakes.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from random import Random

from qtrigger.backoff import PollBackoff
from qtrigger.clock import Clock
from qtrigger.events import EventSink
from qtrigger.lifecycle import MessageLifecycle
from qtrigger.listener import Listener
from qtrigger.outputs import OutputWriter
from qtrigger.project import expressions
from qtrigger.project.model import FunctionDefinition, HostConfig
from qtrigger.project.queue_names import poison_queue
from qtrigger.queues.services import QueueServices
from qtrigger.retrying import Retrying, Run
from qtrigger.settlement import Settlement
from qtrigger.wakeups import Wakeups
from qtrigger.workers.worker import FunctionSpec


class Assembly:
    """Builds the listeners of one generation; they share services, workers and wake-ups."""

    def __init__(
        self,
        config: HostConfig,
        *,
        services: QueueServices,
        run: Run,
        clock: Clock,
        sink: EventSink,
        random: Random,
        changed: Callable[[], None],
    ) -> None:
        self._config = config
        self._services = services
        self._run = run
        self._clock = clock
        self._sink = sink
        self._random = random
        self._changed = changed
        self.wakeups = Wakeups()

    def listener(self, function: FunctionDefinition) -> Listener:
        """Return the function's listener, not polling yet; no request is made."""
        queue = self._services.of(function.trigger.account).queue(function.trigger.queue)
        listener = Listener(
            function,
            queue=queue,
            lifecycle=self._lifecycle(function),
            backoff=PollBackoff(function.options.max_polling_interval_s, self._random),
            clock=self._clock,
            sink=self._sink,
            changed=self._changed,
        )
        self.wakeups.register(queue.address, listener.wake)
        return listener

    def _lifecycle(self, function: FunctionDefinition) -> MessageLifecycle:
        return MessageLifecycle(
            function,
            queue=self._services.of(function.trigger.account).queue(function.trigger.queue),
            retrying=self._retrying(function),
            settlement=self._settlement(function),
            config=self._config,
            clock=self._clock,
            sink=self._sink,
        )

    def _retrying(self, function: FunctionDefinition) -> Retrying:
        return Retrying(
            function.retry,
            run=self._run,
            outputs=output_writer(
                function, services=self._services, clock=self._clock, wakeups=self.wakeups
            ),
            clock=self._clock,
            random=self._random,
        )

    def _settlement(self, function: FunctionDefinition) -> Settlement:
        name = poison_queue(function.trigger.queue)
        service = self._services.of(function.trigger.account)
        poison = service.queue(name) if name else None
        return Settlement(poison=poison, clock=self._clock, wakeups=self.wakeups)


def output_writer(
    function: FunctionDefinition, *, services: QueueServices, clock: Clock, wakeups: Wakeups
) -> OutputWriter:
    """Return what writes the outputs of the function's runs."""

    def resolve(template: str, data: Mapping[str, object]) -> str:
        return expressions.queue_name(
            template,
            data,
            now=clock.utcnow(),
            new_guid=uuid.uuid4,
            function_name=function.name,
        )

    return OutputWriter(
        function, services=services, resolve_name=resolve, clock=clock, wakeups=wakeups
    )


def function_spec(function: FunctionDefinition) -> FunctionSpec:
    """Return what a worker must know of the function."""
    return FunctionSpec(
        name=function.name,
        directory=function.directory,
        script_file=function.script_file,
        entry_point=function.entry_point,
        bindings=function.bindings,
        concurrency=function.options.concurrency,
        outputs=function.output_mode,
        decorated=function.decorated,
    )
