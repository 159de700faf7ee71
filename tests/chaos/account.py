"""The account after a chaos: where every message went, and why some were processed twice."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from tests.chaos.project import ALWAYS_FAILS, Run

# From a function's end to its message's deletion, on a busy machine and with no fault in the way.
SETTLING_S = 2.0


@dataclass(frozen=True, slots=True)
class Kill:
    """A process was ended at that moment: by signal 9, or else by what ran there itself."""

    pid: int
    at: float
    by_itself: bool = False


@dataclass(slots=True)
class Account:
    """What was sent and what became of it; `balances` says whether that is all in order.

    `poisoned` were never processed; the `innocent` among them would have been, had not their
    tries ended with hosts, workers or lost answers.
    """

    sent: int = 0
    processed: int = 0
    poisoned: int = 0
    innocent: int = 0
    lost: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    twice: dict[str, int] = field(default_factory=dict)
    unexplained: list[str] = field(default_factory=list)
    longest_hidden_s: float = 0.0
    hidden_limit_s: float = 0.0
    odd_exits: list[int] = field(default_factory=list)
    leftover: list[int] = field(default_factory=list)
    done_to_it: dict[str, int] = field(default_factory=dict)

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
        done = ", ".join(f"{count} {what}" for what, count in sorted(self.done_to_it.items()))
        why = ", ".join(f"{count} {what}" for what, count in sorted(self.twice.items()))
        hidden = f"{self.longest_hidden_s:>7.1f} s at most (limit {self.hidden_limit_s:.1f} s)"
        lines = [
            f"done to it:  {done}",
            f"sent         {self.sent:>7,}",
            f"processed    {self.processed:>7,}",
            f"poisoned     {self.poisoned:>7,}   {self.innocent} by tries that others burnt",
            f"lost         {len(self.lost):>7,}   {_some(self.lost)}",
            f"still there  {len(self.left):>7,}   {_some(self.left)}",
            f"twice        {sum(self.twice.values()):>7,}   {why or 'none'}",
            f"unexplained  {len(self.unexplained):>7,}   {_some(self.unexplained)}",
            f"hidden       {hidden}",
        ]
        if self.odd_exits:
            lines.append(f"hosts ended with {self.odd_exits}")
        if self.leftover:
            lines.append(f"processes left over: {self.leftover}")
        lines.append("the account balances" if self.balances else "THE ACCOUNT DOES NOT BALANCE")
        return lines


def settle_account(
    sent: Mapping[str, str],
    done: Mapping[str, Sequence[Run]],
    poisoned: Collection[str],
    left: Collection[str],
    kills: Sequence[Kill],
    struck: Collection[str],
    outages: Sequence[tuple[float, float]] = (),
) -> Account:
    """Sum up.

    `sent` maps texts to message ids, `struck` holds ids whose requests met a fault, and
    `outages` are the times in which nothing answered.
    """
    account = Account(sent=len(sent), left=sorted(left))
    for text, message_id in sent.items():
        runs = done.get(text, ())
        if runs:
            account.processed += 1
        elif text in poisoned:
            account.poisoned += 1
            account.innocent += not text.startswith(ALWAYS_FAILS)
        elif text not in left:
            account.lost.append(text)
        for run in runs[:-1]:
            why = _why_again(run, kills, outages, struck_itself=message_id in struck)
            if why:
                account.twice[why] = account.twice.get(why, 0) + 1
            else:
                account.unexplained.append(text)
    return account


def _why_again(
    run: Run,
    kills: Sequence[Kill],
    outages: Sequence[tuple[float, float]],
    *,
    struck_itself: bool,
) -> str:
    """Why a run that did its work was followed by another; "" when nothing explains it."""
    for kill in kills:
        if run.began <= kill.at <= run.ended + SETTLING_S:
            if kill.pid == run.worker and kill.by_itself:
                return "in flight beside a function that ended their worker"
            if kill.pid == run.worker:
                return "in flight at the kill of their worker"
            if kill.pid == run.host:
                return "in flight at the kill of their host"
    if struck_itself:
        return "whose renewal or delete met a fault"
    for began, ended in outages:
        if began <= run.ended + SETTLING_S and ended >= run.began:
            return "in flight at an outage"
    return ""


def _some(texts: Sequence[str]) -> str:
    return " ".join(texts[:5]) + (" …" if len(texts) > 5 else "")
