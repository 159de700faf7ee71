"""What a running host measures of itself, as text for Prometheus.

Owns what is read when somebody asks: how functions stand, what is on their queues, counts of
requests, memory. What events add up to is in `telemetry.meters`. Whoever asks pays; messages do
not.
"""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any, Final

from prometheus_client import ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import Metric as Family

from qtrigger.clock import Clock
from qtrigger.depths import Depth, Depths
from qtrigger.host import Host
from qtrigger.queues.request_counts import NO_ANSWER, RequestCounts
from qtrigger.spending import Spending
from qtrigger.telemetry import metric_table as table
from qtrigger.telemetry.meters import Meters
from qtrigger.telemetry.metric_table import Metric
from qtrigger.traffic import Traffic, TrafficOfAll

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4

Labelled = tuple[tuple[str, ...], float]
"""The values of a sample's labels, and its own."""


Beside = Callable[[Callable[[], bytes]], Awaitable[bytes]]
"""Has something done that takes a while and touches nothing of the loop's."""


class Measuring:
    """Answers with all metrics, over one host and the next.

    `meters` must hear all events. `document` is how the host stands (see `standing`), without a
    look at the queues; `spending` says what requests cost; `version` is qtrigger's. The text is
    made `beside` the event loop, in a thread.
    """

    content_type = CONTENT_TYPE

    def __init__(
        self,
        *,
        document: Callable[[], Awaitable[Mapping[str, Any]]],
        traffic: TrafficOfAll,
        requests: RequestCounts,
        spending: Spending,
        version: str,
        clock: Clock,
        beside: Beside = asyncio.to_thread,
    ) -> None:
        self.meters = Meters()
        self._document = document
        self._traffic = traffic
        self._requests = requests
        self._spending = spending
        self._version = version
        self._beside = beside
        self._depths = Depths(clock)
        self._host: Host | None = None
        self._read = _Read()
        self.meters.registry.register(self._read)
        ProcessCollector(registry=self.meters.registry)

    def now(self, host: Host, _workers: object = None) -> None:
        """That host is the live one; functions that it does not have are forgotten."""
        self._host = host
        self.meters.keep_only({each.name for each in host.project.functions})

    async def text(self) -> bytes:
        """All metrics in Prometheus' text format, within two seconds or so."""
        host = self._host
        depths = await self._depths.of(host) if host is not None else {}
        standing = await self._document()
        self._read.families = [
            *_of_host(standing, self._version),
            *_of_functions(standing["functions"]),
            *_of_queues(depths),
            *_of_traffic(self._traffic_of(standing["functions"])),
            *_of_requests(self._requests),
            *_of_cost(self._spending, standing["functions"]),
        ]
        # Some tenths of a millisecond for each function, which messages need not wait for.
        return await self._beside(partial(generate_latest, self.meters.registry))

    def _traffic_of(self, functions: Iterable[Mapping[str, Any]]) -> Mapping[str, Traffic]:
        return {each["name"]: self._traffic.of(each["name"]) for each in functions}


class _Read:
    """What the registry asks for the families that are made at each scrape."""

    def __init__(self) -> None:
        self.families: list[Family] = []

    def collect(self) -> Iterable[Family]:
        return self.families


def _family(metric: Metric, samples: Iterable[Labelled]) -> Family:
    kind = CounterMetricFamily if metric.kind == table.COUNTER else GaugeMetricFamily
    family = kind(metric.name, metric.text, labels=metric.labels)
    for labels, value in samples:
        family.add_metric(labels, value)
    return family


def _of_host(standing: Mapping[str, Any], version: str) -> Iterator[Family]:
    workers = standing["workers"]
    build = (version, platform.python_version())
    yield _family(table.HOST_READY, [((), float(standing["state"] == "ready"))])
    yield _family(table.BUILD, [(build, 1.0)])
    yield _family(table.WORKERS, [((), float(len(workers)))])
    sizes = [(str(number), each["memory_bytes"]) for number, each in enumerate(workers, 1)]
    yield _family(table.WORKER_MEMORY, [((place,), size) for place, size in sizes if size])


def _of_functions(functions: Iterable[Mapping[str, Any]]) -> Iterator[Family]:
    expected = [each for each in functions if each["state"] not in table.ABSENT_STATES]

    def each(value: Callable[[Mapping[str, Any]], float | None]) -> list[Labelled]:
        pairs = [((function["name"],), value(function)) for function in expected]
        return [(labels, float(found)) for labels, found in pairs if found is not None]

    yield _family(table.RUNNING, each(lambda function: function["running"]))
    yield _family(table.SLOTS, each(lambda function: function["slots"]))
    yield _family(table.FUNCTION_UP, each(lambda function: function["state"] in table.UP_STATES))
    yield _family(table.LAST_SUCCESS, each(lambda function: _unix(function["last_success"])))
    states = [
        ((function["name"], state), float(function["state"] == state))
        for function in functions
        for state in table.STATES
    ]
    yield _family(table.FUNCTION_STATE, states)


def _of_queues(depths: Mapping[str, Depth]) -> Iterator[Family]:
    def each(value: Callable[[Depth], float | None], *, poison: bool = False) -> list[Labelled]:
        found = [
            ((name, depth.poison_queue if poison else depth.queue), value(depth))
            for name, depth in sorted(depths.items())
        ]
        return [(labels, number) for labels, number in found if number is not None]

    yield _family(table.QUEUE_MESSAGES, each(lambda depth: depth.messages))
    yield _family(table.QUEUE_VISIBLE, each(lambda depth: depth.visible))
    yield _family(table.OLDEST, each(lambda depth: depth.oldest_s))
    yield _family(table.POISON_MESSAGES, each(lambda depth: depth.poisoned, poison=True))


def _of_traffic(traffic: Mapping[str, Traffic]) -> Iterator[Family]:
    polls: list[Labelled] = []
    for name, each in traffic.items():
        counts = (each.found, each.empty, each.missing, each.failed_polls)
        polls += [
            ((name, result), count) for result, count in zip(table.POLLS, counts, strict=True)
        ]
    waits = [((name,), each.wait_s) for name, each in traffic.items()]
    requests = [((name,), float(each.requests)) for name, each in traffic.items()]
    yield _family(table.POLLS_DONE, polls)
    yield _family(table.POLL_INTERVAL, waits)
    yield _family(table.TRANSACTIONS, requests)


def _of_requests(requests: RequestCounts) -> Iterator[Family]:
    counts: dict[tuple[str, ...], float] = {}
    for (operation, status), count in requests.by_operation_and_status.items():
        labels = (operation if operation in table.OPERATIONS else table.OTHER, _status(status))
        counts[labels] = counts.get(labels, 0.0) + count
    yield _family(table.REQUESTS, sorted(counts.items()))
    yield _family(table.THROTTLED, [((), float(requests.throttled))])


def _of_cost(spending: Spending, functions: Iterable[Mapping[str, Any]]) -> Iterator[Family]:
    price = spending.price
    costs = [(each["name"], spending.cost_of(each["name"])) for each in functions]
    yield _family(table.COST, [((name,), cost) for name, cost in costs if cost is not None])
    yield _family(table.CURRENCY, [((price.currency,), 1.0)] if price is not None else [])


def _status(status: int) -> str:
    if status == NO_ANSWER:
        return table.NO_STATUS
    return str(status) if status in table.STATUSES else table.OTHER


def _unix(time: str | None) -> float | None:
    return None if time is None else datetime.fromisoformat(time).timestamp()
