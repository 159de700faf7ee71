"""Puts the parts of one function's listener together.

Owns which part gets what; holds no state of a run. Everything it needs is passed in, so that
tests assemble the same house around fakes.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random

from qtrigger.backoff import PollBackoff
from qtrigger.batches import Batches, BatchLifecycle
from qtrigger.bounds import AtMost, Bound, Bounds
from qtrigger.clock import Clock
from qtrigger.events import EventSink, InvocationStarted
from qtrigger.guard import Guard
from qtrigger.lifecycle import MessageLifecycle
from qtrigger.listener import Listener
from qtrigger.notices import Notify
from qtrigger.outputs import OutputWriter
from qtrigger.project import expressions
from qtrigger.project.model import FunctionDefinition, HostConfig
from qtrigger.queue_state import QueueState
from qtrigger.queues.account import Account
from qtrigger.queues.client import QueueClient
from qtrigger.queues.services import QueueServices
from qtrigger.queues.watched import watched
from qtrigger.rate import Rate
from qtrigger.refusals import Foresight, Refusals
from qtrigger.reports import MessageReports
from qtrigger.retrying import MessageRuns, Retrying, Run
from qtrigger.settlement import Settlement
from qtrigger.slots import Slots
from qtrigger.throttling import Throttling
from qtrigger.tracing import BeginTrace, Tracing, of_function
from qtrigger.traffic import Traffic, TrafficOfAll
from qtrigger.tries import TriesOfAll
from qtrigger.usual import Where, nowhere
from qtrigger.wakeups import Wakeups
from qtrigger.workers.worker import FunctionSpec


class Assembly:
    """Builds the listeners of one generation; they share services, workers and wake-ups.

    `tries` is what generations before remember of messages, and `traffic` has counted of requests.
    `tracing` follows each run, where there is one.
    """

    def __init__(  # noqa: PLR0913 - each is a seam of its own
        self,
        config: HostConfig,
        *,
        services: QueueServices,
        run: Run,
        clock: Clock,
        sink: EventSink,
        random: Random,
        changed: Callable[[], None],
        tries: TriesOfAll | None = None,
        traffic: TrafficOfAll | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self._config = config
        self._services = services.watched(self._throttling_of)
        self._run = run
        self._clock = clock
        self._sink = sink
        self._random = random
        self._changed = changed
        self._tries = tries or TriesOfAll()
        self._traffic = traffic or TrafficOfAll()
        self._tracing = tracing
        self._slots = Slots(config.max_concurrent) if config.max_concurrent else None
        self.wakeups = Wakeups()
        self.throttling: list[Throttling] = []

    def listener(
        self,
        function: FunctionDefinition,
        notify: Notify | None = None,
        where: Where = nowhere,
        run: Run | None = None,
    ) -> Listener:
        """Return the function's listener, not polling yet; no request is made.

        `notify` is told of its poisoned messages, `where` says where a run's code stands; `run` is
        where its runs go, if they go elsewhere than those of the others.
        """
        traffic = self._traffic.of(function.name)
        queue = self.queue_of(function, function.trigger.queue)
        interval_s = function.options.max_polling_interval_s
        state = QueueState(
            function.name,
            queue.name,
            interval_s=interval_s,
            clock=self._clock,
            sink=self._sink,
        )
        most = function.own.max_per_minute
        rate = Rate(most, self._clock, self._tries.starts(function.name)) if most else None
        probing = AtMost() if function.own.breaker is not None else None
        retrying = self._retrying(function, rate, run or self._run)
        begin_trace = of_function(self._tracing, function, self._config)
        batches = Batches(retrying, begin_trace) if function.trigger.many else None
        reports = self._reports(function, queue, notify, where)
        each = self._lifecycle(function, queue, state, batches or retrying, reports, begin_trace)
        tries = self._tries.of(function.name, queue.address)
        listener = Listener(
            function,
            queue=queue,
            lifecycle=BatchLifecycle(each, batches, tries) if batches else each,
            backoff=PollBackoff(interval_s, self._random),
            clock=self._clock,
            sink=self._sink,
            state=state,
            changed=self._changed,
            bounds=self._bounds(function, rate, probing),
            traffic=traffic,
        )
        guard = self._guard(function, queue)
        if guard is not None and probing is not None:
            each.guarded_by(guard)
            listener.guarded_by(guard, probing)
        self.wakeups.register(queue.address, listener.wake)
        return listener

    def queue_of(self, function: FunctionDefinition, name: str) -> QueueClient:
        """That queue in the account of the function's trigger, counted as its traffic."""
        queue = self._services.of(function.trigger.account).queue(name)
        return watched(queue, self._traffic.of(function.name))

    def outputs(self, function: FunctionDefinition) -> OutputWriter:
        """Return what writes the outputs of the function's runs."""
        return output_writer(
            function,
            services=self._services,
            clock=self._clock,
            wakeups=self.wakeups,
            traffic=self._traffic.of(function.name),
            injects=self._config.tracing.inject,
        )

    def forget(self, listener: Listener) -> None:
        """A listener has ended while others go on: nothing of it is kept here."""
        self.wakeups.forget(listener.queue.address, listener.wake)

    def _bounds(
        self, function: FunctionDefinition, rate: Rate | None, probing: AtMost | None
    ) -> Bounds | None:
        """The limits on what a listener may ask for, None where there are none."""
        bounds: list[Bound] = []
        if rate is not None:
            bounds.append(rate)
        if probing is not None:
            bounds.append(probing)
        if (most := function.own.max_concurrent) is not None:
            bounds.append(AtMost(most))
        if self._slots is not None:
            bounds.append(self._slots.share())
        return Bounds(bounds) if bounds else None

    def _guard(self, function: FunctionDefinition, queue: QueueClient) -> Guard | None:
        if function.own.breaker is None:
            return None
        return Guard(
            function.own.breaker,
            function=function.name,
            queue=queue.name,
            tries=self._tries.of(function.name, queue.address),
            clock=self._clock,
            sink=self._sink,
        )

    def _lifecycle(
        self,
        function: FunctionDefinition,
        queue: QueueClient,
        state: QueueState,
        retrying: MessageRuns,
        reports: MessageReports,
        begin_trace: BeginTrace | None,
    ) -> MessageLifecycle:
        return MessageLifecycle(
            function,
            queue=watched(queue, Refusals(queue.name, state)),
            retrying=retrying,
            settlement=self._settlement(function, state),
            tries=self._tries.of(function.name, queue.address),
            config=self._config,
            clock=self._clock,
            reports=reports,
            begin_trace=begin_trace,
        )

    def _reports(
        self,
        function: FunctionDefinition,
        queue: QueueClient,
        notify: Notify | None,
        where: Where,
    ) -> MessageReports:
        return MessageReports(
            function=function.name,
            queue=queue.name,
            poison_queue=function.poison_queue or "",
            sink=self._sink,
            tells_starts=self._sink.wants(InvocationStarted),
            notify=notify,
            where=where,
        )

    def _retrying(self, function: FunctionDefinition, rate: Rate | None, run: Run) -> Retrying:
        return Retrying(
            function.retry,
            run=run,
            due=None if rate is None else rate.due,
            outputs=self.outputs(function),
            clock=self._clock,
            random=self._random,
        )

    def _settlement(self, function: FunctionDefinition, state: QueueState) -> Settlement:
        name = function.poison_queue
        if not name:
            return Settlement(
                poison=None, clock=self._clock, wakeups=self.wakeups, random=self._random
            )
        account = function.trigger.account
        queue, refusals = self.queue_of(function, name), Refusals(name, state)
        return Settlement(
            poison=watched(queue, refusals),
            poison_ttl_s=function.own.poison_ttl_s,
            random=self._random,
            clock=self._clock,
            wakeups=self.wakeups,
            foresight=Foresight(queue, account, refusals),
        )

    def _throttling_of(self, account: Account) -> Throttling:
        self.throttling.append(Throttling(account.name, self._clock, self._sink))
        return self.throttling[-1]


def output_writer(
    function: FunctionDefinition,
    *,
    services: QueueServices,
    clock: Clock,
    wakeups: Wakeups,
    traffic: Traffic | None = None,
    injects: bool = False,
) -> OutputWriter:
    """Return what writes the outputs of the function's runs; their requests are its `traffic`.

    `injects` has them carry a trace on.
    """

    def resolve(template: str, data: Mapping[str, object]) -> str:
        return expressions.queue_name(
            template,
            data,
            now=clock.utcnow(),
            new_guid=uuid.uuid4,
            function_name=function.name,
        )

    if traffic is not None:
        services = services.watched(lambda _account: traffic)
    return OutputWriter(
        function,
        services=services,
        resolve_name=resolve,
        clock=clock,
        wakeups=wakeups,
        injects=injects,
    )


def within(function: FunctionDefinition, at_once: int | None) -> FunctionDefinition:
    """Return the function with no more messages in processing than the workers have room for.

    A batch is asked for when half of the room is free, so that none of it stays empty for long.
    """
    options = function.options
    if at_once is None or at_once >= options.concurrency:
        return function
    batch_size = min(options.batch_size, max(at_once // 2, 1))
    fewer = replace(options, batch_size=batch_size, new_batch_threshold=at_once - batch_size)
    return replace(function, options=fewer)


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
        encoding=function.options.message_encoding,
    )
