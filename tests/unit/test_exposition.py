"""The metrics are clean: a scraper gets what the table says, and that keeps the rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qtrigger.measuring import CONTENT_TYPE
from qtrigger.project.options import Price
from qtrigger.telemetry import metric_table as table
from qtrigger.telemetry.metric_table import TABLE, Metric
from tests.unit.measured import Measured, Scrape
from tests.unit.test_host import House

ALLOWED = {
    "outcome": set(table.OUTCOMES),
    "reason": {*table.REASONS, *table.RESTART_REASONS},
    "result": {*table.POLLS, "renewed", "failed", "done", "rejected"},
    "state": set(table.STATES),
    "operation": {*table.OPERATIONS, table.OTHER},
    "status": {*map(str, table.STATUSES), table.NO_STATUS, table.OTHER},
}
# Base units, as Prometheus' own checker knows them; others stand for something scaled.
SCALED = ("milliseconds", "minutes", "hours", "days", "kilobytes", "megabytes", "percent", "ms")


async def scraped() -> Scrape:
    async def ok(msg: str) -> None:
        """Do nothing."""

    async def bad(msg: str) -> None:
        raise ValueError

    house = House({"charge": ok, "refund": bad, "off": ok}, disabled=("off",))
    await house.put("charge", "a")
    await house.put("refund", "b")
    measured = Measured(house)
    measured.spending.apply(Price(per_10k=0.5, currency="EUR"))
    measured.requests.note("get_messages", 200)
    await measured.start()
    await house.clock.advance(60.0)
    found = await measured.scrape()
    await measured.stop()
    return found


async def test_a_scrape_has_every_family_of_the_table_and_no_other() -> None:
    found = await scraped()

    own = {each.name: each for each in found.families if not each.name.startswith("process_")}
    # The parser names a counter's family without its suffix.
    wanted = {each.name.removesuffix("_total"): each for each in TABLE}
    assert own.keys() == wanted.keys()
    for name, metric in wanted.items():
        assert own[name].type == metric.kind, name
        assert own[name].documentation == metric.text
        assert own[name].samples, f"{name}: the test gives it no sample"
    assert not [line for line in found.text.splitlines() if "_created" in line]


async def test_samples_have_the_labels_of_the_table_with_bounded_values() -> None:
    found = await scraped()

    by_name = {each.name.removesuffix("_total"): each for each in TABLE}
    for family in found.families:
        if family.name.startswith("process_"):
            continue
        metric = by_name[family.name]
        for sample in family.samples:
            beyond = {"le"} if metric.kind == table.HISTOGRAM else set()
            assert sample.labels.keys() - beyond <= set(metric.labels), sample
            for label, value in sample.labels.items():
                assert value in ALLOWED.get(label, {value}), sample


async def test_no_line_has_an_id_a_body_or_an_address() -> None:
    found = await scraped()

    assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}|https?://|sig=|AccountKey", found.text)


def test_the_type_is_that_of_the_text_format() -> None:
    assert CONTENT_TYPE == "text/plain; version=0.0.4; charset=utf-8"


@pytest.mark.parametrize("metric", TABLE, ids=lambda metric: metric.name)
def test_each_metric_keeps_the_rules_of_naming(metric: Metric) -> None:
    assert problems(metric) == []


@pytest.mark.parametrize(
    ("metric", "problem"),
    [
        (Metric(name="qtrigger_polls", kind="counter", text="Polls."), "a counter ends in _total"),
        (Metric(name="qtrigger_x_total", kind="gauge", text="X."), "_total is for counters"),
        (Metric(name="qtrigger_x_milliseconds", kind="gauge", text="X."), "no base unit"),
        (Metric(name="qtrigger_wait", kind="histogram", text="X."), "a histogram names its unit"),
        (Metric(name="qtrigger_x_gauge", kind="gauge", text="X."), "a type in the name"),
        (Metric(name="qtrigger_x_count", kind="gauge", text="X."), "a reserved suffix"),
        (Metric(name="qtrigger_x", kind="gauge", text=""), "no help"),
        (Metric(name="waits_x", kind="gauge", text="X."), "no prefix of ours"),
        (
            Metric(name="qtrigger_function_up", kind="gauge", labels=("function_up",), text="X."),
            "a label in the name",
        ),
    ],
)
def test_the_rules_of_naming_find_what_breaks_them(metric: Metric, problem: str) -> None:
    assert problem in problems(metric)


def test_names_stand_once_in_the_table() -> None:
    assert len({each.name for each in TABLE}) == len(TABLE)


def problems(metric: Metric) -> list[str]:
    """What Prometheus' own check of metrics would say, and more."""
    name = metric.name
    words = name.split("_")
    rules = [
        (not name.startswith("qtrigger_"), "no prefix of ours"),
        (not re.fullmatch(r"[a-z][a-z0-9_]*", name) or "__" in name, "no plain name"),
        (metric.kind == "counter" and words[-1] != "total", "a counter ends in _total"),
        (metric.kind != "counter" and "total" in words, "_total is for counters"),
        (any(word in SCALED for word in words), "no base unit"),
        (
            metric.kind == "histogram" and words[-1] not in ("seconds", "bytes"),
            "a histogram names its unit",
        ),
        (bool({"counter", "gauge", "histogram", "summary"} & set(words)), "a type in the name"),
        (words[-1] in ("count", "sum", "bucket"), "a reserved suffix"),
        (not metric.text.strip().endswith("."), "no help"),
        (any(label in name for label in metric.labels if "_" in label), "a label in the name"),
    ]
    return [text for broken, text in rules if broken]


def test_the_page_of_metrics_is_what_the_table_says() -> None:
    from qtrigger.telemetry.metric_page import page

    path = Path(__file__).parents[2] / "docs/reference/metrics.md"
    assert path.read_text(encoding="utf-8") == page(), (
        "make it anew: python -m qtrigger.telemetry.metric_page > docs/reference/metrics.md"
    )
