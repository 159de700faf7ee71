"""A host of a house that is measured, and its metrics as a scraper reads them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from qtrigger.happened import Happened
from qtrigger.host import Host
from qtrigger.measuring import Measuring
from qtrigger.queues.request_counts import RequestCounts
from qtrigger.spending import Spending
from qtrigger.standing import Standing
from qtrigger.telemetry.sinks import FanOut
from tests.unit.test_host import House


class Process:
    pid = 42
    running = 3
    silent_s = 0.0

    def ask(self) -> None:
        pass


class Pool:
    processes = (Process(), Process())


class Measured:
    """The house's host, what it measures, and the counts of requests that it is given."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.happened = Happened(house.clock)
        self.standing = Standing(
            self.happened, version="1.2", clock=house.clock, held_kib=lambda _pid: 10
        )
        self.requests = RequestCounts()
        self.spending = Spending(house.traffic, house.clock)
        self.measuring = Measuring(
            document=lambda: self.standing.document(queues=False),
            traffic=house.traffic,
            requests=self.requests,
            spending=self.spending,
            version="1.2",
            clock=house.clock,
            beside=_at_once,
        )
        sinks = (house.probe, self.happened, self.measuring.meters)
        house.probe = FanOut(*sinks)  # type: ignore[assignment]
        self.host: Host | None = None

    async def start(self) -> Host:
        self.host = await self.house.start_host()
        self.standing.now(self.host, Pool())
        self.measuring.now(self.host)
        await self.house.clock.advance(1.0)
        return self.host

    async def text(self) -> str:
        scrape = asyncio.ensure_future(self.measuring.text())
        return (await self.house.clock.run(scrape)).decode()

    async def scrape(self) -> Scrape:
        return Scrape(await self.text())

    async def stop(self) -> None:
        assert self.host is not None
        stopping = self.host.stop("test", up_to_s=1.0, at_once=asyncio.Event())
        await self.house.clock.run(asyncio.ensure_future(stopping))
        self.happened.close()
        self.spending.close()


async def _at_once(work: Callable[[], bytes]) -> bytes:
    """The manual clock waits for no thread."""
    return work()


class Scrape:
    """The families of one answer."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.families = list(text_string_to_metric_families(text))

    def samples(self, name: str) -> list[Sample]:
        return [
            sample for family in self.families for sample in family.samples if sample.name == name
        ]

    def value(self, name: str, **labels: str) -> float | None:
        """The value of the one sample with these labels and maybe others; None of none."""
        found = [
            sample.value for sample in self.samples(name) if labels.items() <= sample.labels.items()
        ]
        assert len(found) <= 1, (name, labels, found)
        return found[0] if found else None

    def by(self, name: str, label: str, **labels: str) -> Mapping[str, float]:
        """The values of those with these labels, by another one."""
        return {
            sample.labels[label]: sample.value
            for sample in self.samples(name)
            if labels.items() <= sample.labels.items()
        }
