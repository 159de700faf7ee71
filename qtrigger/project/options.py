"""The options of one function that Azure has no word for, as values.

Owns their form; what they do is for those who are given them. No I/O.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from qtrigger.queues.client import NEVER_EXPIRES_S


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitBreaker:
    """Pause after `failures` in a row from at least `distinct_messages` different messages."""

    failures: int
    distinct_messages: int
    pause_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalOptions:
    """How many failed tries are kept, and for how many seconds."""

    max_entries: int = 10_000
    max_age_s: float = 30 * 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What 10,000 transactions cost, in a currency such as `EUR`."""

    per_10k: float
    currency: str = "USD"

    def of(self, transactions: float) -> float:
        """What so many cost."""
        return transactions * self.per_10k / 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TracingOptions:
    """How runs are tied to what sent their messages, and to what they send.

    Where it `adopts` a run is a child of its sender, else linked to it; `inject` has outputs that
    are JSON objects carry the trace on.
    """

    adopts: bool = False
    inject: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PoisonNotice:
    """Who is told of a poisoned message: a program, an address, or both.

    `url` may be a secret: it is shown without what follows the host's name.
    """

    command: tuple[str, ...] = ()
    url: str = field(default="", repr=False)
    include_body: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnOptions:
    """What stands under `qtrigger` for one function, or for all.

    `retry_delays_s` are the waits after the first, second … failed try, the last repeats; empty
    leaves it to visibilityTimeout. `retry_jitter` is the part of a wait (0 to 1) by which it
    varies. `poison_queue` "" is the queue's own name with -poison where that can be; None is none
    at all, since it is itself where others' poisoned messages go. `max_per_minute` and
    `max_concurrent` None are without limit. `slow_run_after_s` is by how much a run may outlast
    the longest before it, until it is named. `order_by` is a place such as `$.customer.id`, "" for
    none.
    """

    retry_delays_s: tuple[float, ...] = ()
    retry_jitter: float = 0.0
    poison_queue: str | None = ""
    poison_ttl_s: float = NEVER_EXPIRES_S
    on_poison: PoisonNotice | None = None
    breaker: CircuitBreaker | None = None
    max_per_minute: int | None = None
    max_concurrent: int | None = None
    order_by: str = ""
    slow_run_after_s: float = 60.0
