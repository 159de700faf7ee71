"""The alerts and the dashboard ask for metrics that there are, in PromQL that can be read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

from qtrigger.telemetry import metric_table as table
from qtrigger.telemetry.metric_table import TABLE

DOCS = Path(__file__).parents[2] / "docs"
# What Prometheus itself makes of a scrape.
FROM_PROMETHEUS = frozenset({"up"})


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load((DOCS / "prometheus/alerts.yml").read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DOCS / "grafana/qtrigger.json").read_text("utf-8"))
    return found


def expressions() -> Iterator[tuple[str, str]]:
    for rule in alerts():
        yield rule["alert"], rule["expr"]
    for panel in dashboard()["panels"]:
        for target in panel["targets"]:
            # Grafana puts its own in before it asks.
            text = target["expr"].replace("$__rate_interval", "5m")
            yield f"{panel['title']} {target['refId']}", text


EXPRESSIONS = [pytest.param(text, id=name) for name, text in expressions()]


def names_in(text: str) -> set[str]:
    """The names of metrics: words that stand before labels, a range or the end of an operand."""
    without_labels = re.sub(r"\{[^}]*\}", "{}", text)
    without_labels = re.sub(r"\b(by|on|without|ignoring) *\([^)]*\)", "", without_labels)
    return set(re.findall(r"\b(qtrigger_\w+|up)\b", without_labels))


def samples() -> dict[str, set[str]]:
    """Every name that a scrape can hold, with its labels."""
    found: dict[str, set[str]] = {}
    for metric in TABLE:
        if metric.kind == table.HISTOGRAM:
            found[f"{metric.name}_bucket"] = {*metric.labels, "le"}
            found |= {f"{metric.name}_{end}": set(metric.labels) for end in ("count", "sum")}
        else:
            found[metric.name] = set(metric.labels)
    return found


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_each_expression_is_promql(text: str) -> None:
    promql_parser.parse(text)  # raises for what is none


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_each_expression_names_metrics_and_labels_that_there_are(text: str) -> None:
    known = samples()

    names = names_in(text)
    assert names
    assert names <= known.keys() | FROM_PROMETHEUS
    for name, selector in re.findall(r"(qtrigger_\w+)\{([^}]*)\}", text):
        labels = set(re.findall(r"(\w+) *(?:=~|!~|!=|=)", selector))
        assert labels <= known[name] | {"job", "instance"}, name


def test_values_of_labels_that_are_asked_for_are_those_of_the_table() -> None:
    words = {"outcome": table.OUTCOMES, "state": table.STATES}
    asked = [
        (label, value)
        for _, text in expressions()
        for label, values in re.findall(r'(outcome|state)[!=~]+"([^"]*)"', text)
        for value in values.split("|")
    ]

    assert asked
    assert [(label, value) for label, value in asked if value not in words[label]] == []


def test_what_a_person_on_call_needs_has_an_alert() -> None:
    text = " ".join(rule["expr"] for rule in alerts())

    for metric in (
        table.INVOCATIONS,
        table.OLDEST,
        table.QUEUE_MESSAGES,
        table.POISON_MESSAGES,
        table.POISONED,
        table.FUNCTION_UP,
        table.THROTTLED,
        table.WORKER_RESTARTS,
        table.HOST_READY,
    ):
        assert metric.name in text
    assert all(rule["annotations"]["summary"] for rule in alerts())
    assert {rule["labels"]["severity"] for rule in alerts()} == {"info", "warning", "critical"}


def test_panels_have_numbers_places_and_sources_of_their_own() -> None:
    panels = dashboard()["panels"]

    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells
    assert {panel["datasource"]["uid"] for panel in panels} == {"${datasource}"}


def test_a_metric_of_no_use_to_a_person_is_the_only_one_without_a_panel() -> None:
    shown = {name for _, text in expressions() for name in names_in(text)}
    families = {re.sub(r"_(bucket|count|sum)$", "", name) for name in shown}
    variables = json.dumps(dashboard()["templating"])

    unshown = {
        each.name for each in TABLE if each.name not in families and each.name not in variables
    }
    assert unshown == set()
