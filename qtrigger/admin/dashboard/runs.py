"""The last runs of a function as a table, and one of them in full.

Owns which runs a query leaves, and what is said of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from qtrigger.admin.dashboard import words
from qtrigger.admin.dashboard.cells import Cells
from qtrigger.admin.dashboard.layout import cell, follows, nothing, part, path, table
from qtrigger.admin.dashboard.markup import Markup, tag
from qtrigger.admin.dashboard.recent import Recent
from qtrigger.admin.dashboard.run import OUTCOMES, Run, Texts

_TONES: Final = {"succeeded": "ok", "failed": "bad", "timed out": "bad", "worker lost": "bad"}
_HEADER: Final = (
    ("Ended, UTC", ""),
    ("Outcome", ""),
    ("Try", "figure"),
    ("Took", "figure"),
    ("Message", ""),
    ("What was raised", "wide"),
)


def matching(recent: Recent, name: str, query: Mapping[str, str]) -> Iterator[Run]:
    """The last runs that the query's `outcome` and `contains` leave, newest first.

    `outcome=bad` is all that have not succeeded. `contains` looks at ids, errors and lines, in
    capital letters or small.
    """
    outcome, contains = query.get("outcome", ""), query.get("contains", "").casefold()
    for run in recent.runs(name):
        wanted = run.outcome != "succeeded" if outcome == "bad" else outcome in ("", run.outcome)
        if wanted and (not contains or any(contains in each.casefold() for each in _texts_of(run))):
            yield run


def _texts_of(run: Run) -> Iterable[str]:
    texts = run.texts or Texts()
    return (
        run.message_id,
        run.invocation_id,
        texts.error_type,
        texts.error_message,
        texts.traceback,
        *texts.lines,
    )


def runs_section(name: str, query: Mapping[str, str], cells: Cells, recent: Recent) -> Markup:
    """The table with its filter; the query's `run` is the number of the one that is open."""
    news = follows(cells, f"f.{name}.count")
    found = list(matching(recent, name, query))
    opened = query.get("run", "")
    rows = (row for run in found for row in _run(name, run, query, recent, opened))
    listed = (
        table(_HEADER, rows, label="Recent runs", class_="rows runs")
        if found
        else nothing(
            "No run like this among the last ones." if recent.count(name) else "No run yet."
        )
    )
    return tag(
        "section",
        tag(
            "form",
            tag("h2", "Recent runs"),
            part("span", "tally", str(len(found)), class_="tally", **news),
            tag(
                "select",
                *(
                    tag("option", word, value=value, selected=value == query.get("outcome", ""))
                    for value, word in (
                        ("", "all outcomes"),
                        ("bad", "not succeeded"),
                        *((each, each) for each in OUTCOMES),
                    )
                ),
                name="outcome",
                aria_label="Outcome",
            ),
            tag(
                "input",
                type="search",
                name="contains",
                class_="filter",
                value=query.get("contains", ""),
                placeholder="Error, id or log   /",
                aria_label="Filter runs by text",
            ),
            tag("button", "Filter", type="submit", class_="nojs"),
            class_="tools",
            action=path("f", name),
            data_swap="",
        ),
        part("div", "runs", listed, **news),
    )


def _run(
    name: str, run: Run, query: Mapping[str, str], recent: Recent, opened: str
) -> Iterator[Markup]:
    is_open = opened == str(run.number)
    texts = run.texts or Texts()
    kept = {key: query.get(key) or None for key in ("outcome", "contains")}
    href = path("f", name, **kept, run=None if is_open else str(run.number))
    ended = recent.utc(run.ended)
    raised = (
        f"{texts.error_type}: {texts.error_message}" if texts.error_type else texts.error_message
    )
    if not raised and texts.lines:
        raised = texts.lines[-1]
    yield tag(
        "tr",
        cell(
            "Ended, UTC",
            tag(
                "a",
                tag("time", words.time_of_day(ended), datetime=ended.isoformat()),
                href=href,
                class_="open",
                data_swap="",
                aria_expanded="true" if is_open else "false",
            ),
        ),
        cell(
            "Outcome",
            tag("span", run.outcome, class_="pill", data_s=_TONES.get(run.outcome, "idle")),
        ),
        cell("Try", f"{run.dequeue_count}/{run.max_dequeue_count}", class_="figure"),
        cell("Took", words.duration(run.duration_s), class_="figure"),
        cell("Message", tag("code", run.message_id[:8]), class_="id"),
        cell(
            "What was raised",
            tag("span", raised[:200], class_="raised" if texts.error_type else "raised quiet"),
            class_="wide",
        ),
        data_row=str(run.number),
        class_="opened" if is_open else None,
    )
    if is_open:
        yield tag(
            "tr", tag("td", _detail(run, texts, recent), colspan=len(_HEADER)), class_="detail"
        )


def _detail(run: Run, texts: Texts, recent: Recent) -> Markup:
    began = recent.utc(run.ended - run.duration_s)
    facts = (
        ("message", run.message_id),
        ("invocation", run.invocation_id),
        ("started", f"{began:%Y-%m-%d} {words.time_of_day(began)} UTC"),
        ("then", run.disposition),
        ("raised at", texts.place),
    )
    raised = (
        f"{texts.error_type}: {texts.error_message}" if texts.error_type else texts.error_message
    )
    return tag(
        "div",
        tag(
            "dl",
            *(
                tag("div", tag("dt", key), tag("dd", tag("code", value)))
                for key, value in facts
                if value
            ),
            class_="facts",
        ),
        tag("h3", "Error") if raised else None,
        tag("pre", texts.traceback or raised, tabindex="0") if raised else None,
        tag("h3", "Log") if texts.lines else None,
        tag("pre", "\n".join(texts.lines), tabindex="0") if texts.lines else None,
        nothing("Its texts were left out, to make room for newer ones; the journal may have them.")
        if texts.left_out
        else None,
        nothing("It logged nothing.")
        if not texts.lines and not raised and not texts.left_out
        else None,
        class_="inside",
    )
