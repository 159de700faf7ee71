"""Every figure that changes on the pages, as text, by key.

Owns their spelling. A page that is rendered and a live update take the figure from here, so that
the two cannot differ. A key that ends in `.d` is the path of a plot, in `.s` a tone for colours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from qtrigger.admin.dashboard import plots, words
from qtrigger.admin.dashboard.looking import Depth, View, poison_of
from qtrigger.admin.dashboard.recent import Recent
from qtrigger.admin.dashboard.series import POINT_S, SPAN_S, Series

FAILURES_S: Final = 300
KEPT_S: Final = 5
DEPTH_POINT_S: Final = 10
_TONES: Final[Mapping[str, str]] = {
    "ready": "ok",
    "paused": "idle",
    "disabled": "idle",
    "not run here": "idle",
    "starting": "idle",
    "unknown": "idle",
    "failed": "bad",
    "failing": "bad",
}

Cells = Mapping[str, str]


class Figures:
    """Makes the cells of each moment.

    What changes seldom and costs most, the plots and the quantiles, is kept for a few seconds,
    and no two functions' are made anew in the same second if that can be: two hundred functions
    must not hold the host up.
    """

    def __init__(self, recent: Recent) -> None:
        self._recent = recent
        self._kept: dict[str, tuple[object, Cells]] = {}

    def cells(self, view: View) -> Cells:
        """All cells of one moment."""
        found = dict(_of_host(view))
        for number, function in enumerate(view.functions):
            name = function["name"]
            found |= _of_function(view, function, self._recent)
            found |= self._seldom(view, name, number)
        for gone in self._kept.keys() - {each["name"] for each in view.functions}:
            del self._kept[gone]
        return found

    def _seldom(self, view: View, name: str, number: int) -> Cells:
        depths = view.depths.get(name, ())
        seen = ((view.second + number) // KEPT_S, self._recent.count(name) > 0)
        kept = self._kept.get(name)
        if kept is None or kept[0] != seen:
            series = self._recent.series(name)
            made = {
                **_quantiles(series, view.second),
                **_plots(series, depths, view.second),
            }
            cells = {f"f.{name}.{key}": value for key, value in made.items()}
            kept = self._kept[name] = (seen, cells)
        return kept[1]


def tone(state: str) -> str:
    """How a state is coloured: ok, idle, warn or bad."""
    return _TONES.get(state, "warn")


def _of_host(view: View) -> Iterator[tuple[str, str]]:
    document, functions = view.document, view.functions
    messages = [view.messages.get(each["name"], {}) for each in functions]
    known = [each["waiting"] for each in messages if each.get("waiting") is not None]
    ages = [each["oldest_s"] for each in messages if each.get("oldest_s") is not None]
    more = "~" if any(each.get("more") for each in messages) else ""
    yield "c.processed", words.number(sum(each["succeeded"] for each in functions))
    failed = sum(each["failed"] for each in functions)
    yield "c.failed", words.number(failed)
    yield "c.failed.s", "bad" if failed else ""
    yield "c.running", words.number(sum(each["running"] for each in functions))
    yield "c.waiting", more + words.number(sum(known)) if known else words.NOT_KNOWN
    yield "c.oldest", words.age(max(ages)) if ages else words.NOT_KNOWN
    yield "c.rate", words.rate(sum(each["per_second"] for each in functions))
    yield "c.cost", _cost(functions, document.get("currency"))
    yield from _poison(view)
    yield "h.state", str(document["state"])
    yield "h.state.s", "ok" if document["state"] == "ready" else "warn"
    yield "h.at", f"{view.at:%H:%M:%S}"
    yield "h.up", words.age(document["uptime_s"])
    yield "h.generation", str(document["generation"])
    yield "h.shape", "\n".join(f"{each['name']} {each['queue']}" for each in functions)
    yield "h.states", "\n".join(f"{each['name']} {each['state']}" for each in functions)
    busy = [each["name"] for each in document["accounts"] if each["throttled"]]
    yield "h.busy", ", ".join(busy)
    for number, worker in enumerate(document["workers"]):
        yield f"w.{number}.running", words.number(worker["running"])
        yield f"w.{number}.memory", words.size(worker["memory_bytes"])


def _poison(view: View) -> Iterator[tuple[str, str]]:
    if view.poison is None:
        yield "c.poison", words.NOT_KNOWN
        yield "c.poison.s", ""
        yield "n.poison", ""
        return
    queues = view.poison["queues"]
    count = sum(each.get("count") or 0 for each in queues)
    more = "~" if any(each.get("more") for each in queues) else ""
    yield "c.poison", more + words.number(count)
    yield "c.poison.s", "bad" if count else ""
    yield "n.poison", more + words.number(count) if count else ""


def _cost(functions: Sequence[Mapping[str, Any]], currency: str | None) -> str:
    """What the functions' requests cost in a day, "" where there is no price."""
    if currency is None:
        return ""
    spent = [each["transactions"] for each in functions if each.get("transactions")]
    costs = [each["cost_per_day"] for each in spent if each["cost_per_day"] is not None]
    return words.amount(sum(costs), currency) if costs else words.NOT_KNOWN


def _asks(function: Mapping[str, Any], currency: str | None) -> str:
    """How often a function asks the queue service, "" where that is not known yet."""
    per_day = (function.get("transactions") or {}).get("per_day")
    if per_day is None:
        return ""
    cost = _cost([function], currency)
    return f"{words.number(per_day)} requests a day" + (f", {cost}" if cost else "")


def _of_function(view: View, function: Mapping[str, Any], recent: Recent) -> Cells:
    name = function["name"]
    messages = view.messages.get(name, {})
    poisoned = poison_of(view, name)
    series = recent.series(name)
    polled = bool(function["slots"]) and function["state"] not in ("disabled", "not run here")
    failures = series.failed(view.second, FAILURES_S) if series else 0
    found = {
        "state": function["state"],
        "state.s": tone(function["state"]),
        "why": function["why"],
        "rate": words.rate(function["per_second"]),
        "running": f"{function['running']}/{function['slots']}" if polled else words.NOT_KNOWN,
        "failures": words.number(failures),
        "failures.s": "bad" if failures else "",
        "waiting": _waiting(messages),
        "oldest": words.age(messages.get("oldest_s")),
        "succeeded": words.number(function["succeeded"]),
        "failed": words.number(function["failed"]),
        "failed.s": "bad" if function["failed"] else "",
        "poisoned": words.number(function["poisoned"]),
        "poison": words.number(poisoned[0]) if poisoned else words.NOT_KNOWN,
        "poison.s": "bad" if poisoned and poisoned[0] else "",
        "problem": str(messages.get("problem") or ""),
        "count": str(recent.count(name)),
        # Another one when the large plots have another point.
        "point": str(view.second // POINT_S) if series else "",
        "asks": _asks(function, view.document.get("currency")),
    }
    return {f"f.{name}.{key}": value for key, value in found.items()}


def _waiting(messages: Mapping[str, Any]) -> str:
    waiting = messages.get("waiting")
    if waiting is None:
        return words.NOT_KNOWN
    return ("~" if messages["more"] else "") + words.number(waiting)


def _quantiles(series: Series | None, second: int) -> Cells:
    middle, slow = series.quantiles(second, (0.5, 0.95)) if series else (None, None)
    return {"p50": words.duration(middle), "p95": words.duration(slow)}


def _plots(series: Series | None, depths: Sequence[Depth], second: int) -> Cells:
    small = (plots.WIDTH, plots.HEIGHT)
    ended, failed = series.points(second) if series else ((), ())
    most = max(ended, default=0)
    waiting = _by_time([(each.second, each.waiting) for each in depths], second)
    oldest = _by_time([(each.second, each.oldest_s) for each in depths], second)
    return {
        "rate.area.d": plots.area(ended, most, *small),
        "rate.line.d": plots.line(ended, most, *small),
        "rate.bad.d": plots.line(risen(failed), most, *small),
        "waiting.area.d": plots.area(waiting, _most(waiting), *small),
        "waiting.line.d": plots.line(waiting, _most(waiting), *small),
        "oldest.line.d": plots.line(oldest, _most(oldest), *small),
    }


def risen(points: Sequence[int]) -> Sequence[int | None]:
    """The points above nothing and those beside them, so that no line runs along the ground."""
    return [
        each if any(points[max(number - 1, 0) : number + 2]) else None
        for number, each in enumerate(points)
    ]


def _most(points: Sequence[float | None]) -> float:
    return max((each for each in points if each is not None), default=0.0)


def _by_time(looks: Sequence[tuple[int, float | None]], second: int) -> Sequence[float | None]:
    """One point for each ten seconds of the last ten minutes; None where nobody looked.

    Somebody who looks does so every five seconds, so a gap is a time without a page.
    """
    end = second // DEPTH_POINT_S
    points: list[float | None] = [None] * (SPAN_S // DEPTH_POINT_S)
    for at, value in looks:
        place = len(points) - 1 - (end - at // DEPTH_POINT_S)
        if place >= 0 and value is not None:
            points[place] = value
    if all(each is None for each in points):
        return ()
    return points
