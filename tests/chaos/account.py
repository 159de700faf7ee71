"""The account after a chaos: where every message went, and why some were processed again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from qtrigger.telemetry.line import SHORT_ID
from tests.chaos.project import ALWAYS_FAILS, GOING_S, Run

# From a function's end to its message's deletion, on a busy machine and with no fault in the way.
SETTLING_S = 2.0


@dataclass(frozen=True, slots=True)
class Kill:
    """A process was ended at that moment: by signal 9, or else by what ran there itself."""

    pid: int
    at: float
    by_itself: bool = False

    def cut_short(self, run: Run, settling_s: float = SETTLING_S) -> bool:
        """Whether the run, or the deletion of its message, was under way at that moment."""
        until = self.at + (GOING_S if self.by_itself else 0.0)
        return run.began <= until and self.at <= run.ended + settling_s


@dataclass(slots=True)
class Account:
    """What was sent and what became of it; `balances` says whether that is all in order.

    `poisoned` were never processed; the `innocent` among them would have been, had not their
    tries ended with hosts, workers or lost answers. `poisoned_too` were processed and are in the
    poison queue besides, since nobody lived to delete them; `copied_again` are second copies
    there. `twice` counts by cause the runs after which another one did the same work.
    """

    sent: int = 0
    processed: int = 0
    poisoned: int = 0
    innocent: int = 0
    poisoned_too: int = 0
    copied_again: int = 0
    lost: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    twice: Counter[str] = field(default_factory=Counter)
    unexplained: list[Run] = field(default_factory=list)
    longest_hidden_s: float = 0.0
    hidden_limit_s: float = 0.0
    odd_exits: list[int] = field(default_factory=list)
    leftover: list[int] = field(default_factory=list)

    @property
    def balances(self) -> bool:
        """Whether nothing was lost, left, repeated without a cause, or hidden too long."""
        return (
            self.sent == self.processed + self.poisoned
            and not (self.lost or self.left or self.unexplained or self.leftover or self.odd_exits)
            and self.longest_hidden_s <= self.hidden_limit_s
        )

    def lines(self) -> list[str]:
        """The account as a person reads it."""
        again = self.twice.total() + len(self.unexplained)
        hidden = f"hidden from others at the longest (limit {self.hidden_limit_s:.1f} s)"
        return [
            "what became of the messages",
            counted(self.sent, "sent"),
            counted(self.processed, "processed at least once"),
            counted(self.poisoned, "never processed, and in the poison queue; of these"),
            counted(self.poisoned - self.innocent, "  fail at every try"),
            counted(self.innocent, "  had tries that ended with hosts, workers or lost answers"),
            counted(len(self.lost), f"lost {_some(self.lost)}"),
            counted(len(self.left), f"still in the queue {_some(self.left)}"),
            counted(self.poisoned_too, "both processed and in the poison queue"),
            counted(self.copied_again, "second copies in the poison queue"),
            "processed again",
            counted(again, "times; of these"),
            *(counted(count, f"  {why}") for why, count in sorted(self.twice.items())),
            counted(
                len(self.unexplained),
                f"  for no known reason {_some([_spelt(run) for run in self.unexplained])}",
            ),
            "what else must be in order",
            f"{self.longest_hidden_s:>9.1f} s  {hidden}",
            counted(len(self.odd_exits), f"hosts that ended oddly {self.odd_exits or ''}"),
            counted(len(self.leftover), f"workers that outlived their host {self.leftover or ''}"),
            "THE ACCOUNT BALANCES" if self.balances else "THE ACCOUNT DOES NOT BALANCE",
        ]


def counted(count: int, what: str) -> str:
    """A line of an account."""
    return f"{count:>9,}    {what}".rstrip()


def settle_account(
    sent: Mapping[str, str],
    done: Mapping[str, Sequence[Run]],
    poisoned: Iterable[str],
    left: Collection[str],
    kills: Sequence[Kill],
    struck: Collection[str],
    outages: Sequence[tuple[float, float]] = (),
    *,
    settling_s: float = SETTLING_S,
    told: Collection[str] = (),
) -> Account:
    """Sum up.

    `sent` maps texts to message ids, `struck` holds ids whose requests met a fault, and
    `outages` are the times in which nothing answered; `told` are the beginnings of ids of which a
    host said that a renewal or a delete had failed.
    """
    copies = Counter(poisoned)
    account = Account(sent=len(sent), left=sorted(left))
    account.copied_again = copies.total() - len(copies)
    for text, message_id in sent.items():
        runs = done.get(text, ())
        if runs:
            account.processed += 1
            account.poisoned_too += text in copies
        elif text in copies:
            account.poisoned += 1
            account.innocent += not text.startswith(ALWAYS_FAILS)
        elif text not in left:
            account.lost.append(text)
        for run in runs[:-1]:
            why = _why_again(run, kills, outages, settling_s, struck_itself=message_id in struck)
            if not why and message_id[:SHORT_ID] in told:
                why = "whose renewal or delete was not answered in time, as its host said"
            if why:
                account.twice[why] += 1
            else:
                account.unexplained.append(run)
    return account


def _why_again(
    run: Run,
    kills: Sequence[Kill],
    outages: Sequence[tuple[float, float]],
    settling_s: float,
    *,
    struck_itself: bool,
) -> str:
    """Why a run that did its work was followed by another; "" when nothing explains it."""
    for kill in kills:
        if kill.cut_short(run, settling_s):
            if kill.pid == run.worker and kill.by_itself:
                return "in flight beside a function that ended their worker"
            if kill.pid == run.worker:
                return "in flight at the kill of their worker"
            if kill.pid == run.host:
                return "in flight at the kill of their host"
    if struck_itself:
        return "whose renewal or delete met a fault"
    for began, ended in outages:
        if began <= run.ended + settling_s and ended >= run.began:
            return "in flight at an outage"
    return ""


def _some(texts: Sequence[str]) -> str:
    return " ".join(texts[:5]) + (" …" if len(texts) > 5 else "")


def _spelt(run: Run) -> str:
    """A run as it can be looked for in the hosts' logs."""
    when = f"{run.began:.1f} to {run.ended:.1f}"
    return f"({run.text} by worker {run.worker} of host {run.host}, {when})"
