"""What functions ask of the queue service, in words: how often, at what cost, what lowers it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

# From here on what finds nothing is most of what is paid for.
MOST_EMPTY: Final = 0.5
# Azure's own default; who waits longer than that has thought about it.
LONG_ENOUGH_S: Final = 60.0
HOUR_S: Final = 3600.0
# Of a project with many functions the rest is told in one.
MOST_LINES: Final = 10


def transactions(standing: Mapping[str, Any]) -> Iterator[str]:
    """A line for each function that has asked for something lately, of many for the busiest."""
    currency = standing.get("currency")
    asking = [
        (function["name"], spent)
        for function in standing["functions"]
        if (spent := function.get("transactions")) and spent["transactions"]
    ]
    asking.sort(key=lambda each: -each[1]["transactions"])
    for name, spent in asking[:MOST_LINES]:
        yield f"{name}: {_said(spent, currency)}{_cure(spent)}"
    if others := asking[MOST_LINES:]:
        count = sum(spent["transactions"] for _, spent in others)
        yield f"{len(others)} others: {count:,} transactions together (--format json has each)"


def _said(spent: Mapping[str, Any], currency: str | None) -> str:
    count = spent["transactions"]
    text = f"{count:,} transaction{'' if count == 1 else 's'} {_when(spent['over_s'])}"
    if spent["per_day"] is None:
        return text
    text += f", some {_rough(spent['per_day'])} a day"
    if currency is None or spent["cost_per_day"] is None:
        return text
    return f"{text}, which cost {_amount(spent['cost_per_day'])} {currency}"


def _cure(spent: Mapping[str, Any]) -> str:
    share = spent["empty_polls"] / spent["transactions"]
    interval_s = spent["max_polling_interval_s"]
    if spent["per_day"] is None or share < MOST_EMPTY or interval_s >= LONG_ENOUGH_S:
        return ""
    return (
        f"; {share:.0%} are polls that find nothing: a longer maxPollingInterval than "
        f"{interval_s:g} s makes fewer"
    )


def _when(over_s: float) -> str:
    if over_s >= HOUR_S:
        return "in the last hour"
    minutes = int(over_s // 60)
    return f"in {minutes} min" if minutes else f"in {int(over_s)} s"


def _rough(number: float) -> str:
    """To three figures: it is a rate, and no count."""
    return f"{float(f'{number:.3g}'):,.0f}"


def _amount(cost: float) -> str:
    """With two decimals, or as many as show something of it."""
    return f"{cost:,.2f}" if cost >= 0.01 or not cost else f"{cost:.2g}"
