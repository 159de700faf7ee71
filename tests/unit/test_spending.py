"""What requests cost: counted by the function that makes them, at the price of their time."""

from __future__ import annotations

import asyncio

import pytest

from qtrigger.project.options import Price
from qtrigger.spending import Spending
from qtrigger.testing.clock import ManualClock
from qtrigger.traffic import TrafficOfAll
from tests.unit.measured import Measured
from tests.unit.test_host import House


class Till:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.traffic = TrafficOfAll()
        self.spending = Spending(self.traffic, self.clock)

    def ask(self, count: int, *, empty: int = 0, function: str = "charge") -> None:
        traffic = self.traffic.of(function)
        for _ in range(count):
            traffic.answered("receive")
        traffic.empty += empty


async def test_the_last_hour_is_what_was_asked_in_it() -> None:
    till = Till()
    till.ask(500)
    await till.clock.advance(7200.0)
    till.ask(120, empty=100)
    await till.clock.advance(1800.0)

    found = till.spending.lately("charge")
    till.spending.close()

    assert (found.transactions, found.empty_polls) == (120, 100)
    assert found.over_s == pytest.approx(3600.0, abs=60.0)
    assert found.per_day == pytest.approx(120 * 24, rel=0.02)
    assert found.cost_per_day is None


async def test_a_rate_is_not_guessed_in_the_first_minute() -> None:
    till = Till()
    till.spending.apply(Price(per_10k=1.0))
    till.ask(10)
    await till.clock.advance(30.0)
    early = till.spending.lately("charge")
    await till.clock.advance(90.0)
    later = till.spending.lately("charge")
    till.spending.close()

    assert (early.transactions, early.per_day, early.cost_per_day) == (10, None, None)
    assert later.per_day == pytest.approx(10 * 720)
    assert later.cost_per_day == pytest.approx(0.72)


async def test_what_was_asked_before_a_price_is_known_costs_nothing_known() -> None:
    till = Till()
    till.ask(1000)
    assert till.spending.cost_of("charge") is None

    till.spending.apply(Price(per_10k=0.5))
    till.ask(20_000)
    till.ask(10_000, function="refund")

    assert till.spending.cost_of("charge") == pytest.approx(1.0)
    assert till.spending.cost_of("refund") == pytest.approx(0.5)
    till.spending.close()


async def test_a_new_price_is_for_what_comes_after_it() -> None:
    till = Till()
    till.spending.apply(Price(per_10k=1.0))
    till.ask(10_000)
    till.spending.apply(Price(per_10k=2.0))
    till.ask(10_000)
    dearer = till.spending.cost_of("charge")
    till.spending.apply(None)
    till.ask(10_000)
    without = till.spending.cost_of("charge")
    till.spending.apply(Price(per_10k=1.0))
    again = till.spending.cost_of("charge")
    till.spending.apply(Price(per_10k=1.0, currency="EUR"))
    other = till.spending.cost_of("charge")
    till.spending.close()

    assert [dearer, without, again, other] == [pytest.approx(3.0), None, pytest.approx(3.0), 0.0]


async def test_the_metric_and_the_standing_tell_the_same_transactions() -> None:
    async def ok(msg: str) -> None:
        """Do nothing."""

    house = House({"charge": ok})
    await house.put("charge", "a")
    measured = Measured(house)
    measured.standing.spending = measured.spending
    measured.spending.apply(Price(per_10k=10_000.0, currency="EUR"))
    await measured.start()
    await house.clock.advance(600.0)

    found = await measured.scrape()
    document = await house.clock.run(
        asyncio.ensure_future(measured.standing.document(queues=False))
    )
    await measured.stop()

    count = found.value("qtrigger_storage_transactions_total", function="charge")
    assert count is not None
    assert count > 10
    assert found.value("qtrigger_storage_cost_total", function="charge") == count
    assert found.value("qtrigger_storage_currency_info", currency="EUR") == 1
    (function,) = document["functions"]
    assert document["currency"] == "EUR"
    assert function["transactions"]["transactions"] == count
    assert function["transactions"]["max_polling_interval_s"] == 60.0
