"""What functions' requests to the queue service cost, and how many there were lately.

Owns the price over a process's life and the counts of the last hour, noted once a minute. It makes
no request and hears no event: it reads `traffic`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from qtrigger.clock import Clock, Timer
from qtrigger.project.options import Price
from qtrigger.traffic import TrafficOfAll

HOUR_S: Final = 3600.0
DAY_S: Final = 86_400.0
NOTE_S: Final = 60.0
# A rate from less than this would be a guess.
LEAST_S: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What one function asked in the last hour, or since the start where that is less.

    `empty_polls` are those of the `transactions` that found nothing. `per_day` is what it comes to
    at that rate, `cost_per_day` what that costs; None where it cannot be told yet, or has no price.
    """

    transactions: int
    empty_polls: int
    over_s: float
    per_day: float | None
    cost_per_day: float | None


@dataclass(frozen=True, slots=True)
class _Note:
    at: float
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)


class Spending:
    """Reads traffic each minute, from its making until `close`."""

    def __init__(self, traffic: TrafficOfAll, clock: Clock) -> None:
        self.price: Price | None = None
        self._traffic = traffic
        self._clock = clock
        self._notes: deque[_Note] = deque([_Note(clock.monotonic())])
        self._currency = ""
        # What was paid at other prices, and how many transactions that was.
        self._before: dict[str, tuple[float, int]] = {}
        self._timer: Timer = clock.call_later(NOTE_S, self._note)

    def close(self) -> None:
        """Note no more."""
        self._timer.cancel()

    def apply(self, price: Price | None) -> None:
        """From now on a transaction costs this much; what there was stays at its price."""
        if price == self.price:
            return
        currency = self._currency if price is None else price.currency
        for name, traffic in self._traffic.by_function.items():
            # A sum of two currencies is none.
            spent = self._spent(name) if currency == self._currency else 0.0
            self._before[name] = (spent, traffic.requests)
        self.price, self._currency = price, currency

    def cost_of(self, function: str) -> float | None:
        """What a function has cost since the process began, None without a price."""
        return None if self.price is None else self._spent(function)

    def lately(self, function: str) -> Spent:
        """What a function asked in the last hour."""
        first = self._notes[0]
        over_s = self._clock.monotonic() - first.at
        requests, empty = first.counts.get(function, (0, 0))
        traffic = self._traffic.of(function)
        transactions = traffic.requests - requests
        per_day = transactions * DAY_S / over_s if over_s >= LEAST_S else None
        price = self.price
        return Spent(
            transactions=transactions,
            empty_polls=traffic.empty - empty,
            over_s=over_s,
            per_day=per_day,
            cost_per_day=None if price is None or per_day is None else price.of(per_day),
        )

    def _spent(self, function: str) -> float:
        spent, before = self._before.get(function, (0.0, 0))
        if self.price is None:
            return spent
        return spent + self.price.of(self._traffic.of(function).requests - before)

    def _note(self) -> None:
        now = self._clock.monotonic()
        counts = {
            name: (each.requests, each.empty) for name, each in self._traffic.by_function.items()
        }
        self._notes.append(_Note(now, counts))
        while len(self._notes) > 1 and self._notes[1].at <= now - HOUR_S:
            self._notes.popleft()
        self._timer = self._clock.call_later(NOTE_S, self._note)
