"""Whatever stands in the files, reading them ends in findings with a place and in no crash."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from qtrigger.project import expressions, jsonc, timespan
from qtrigger.project.loader import load_project
from qtrigger.project.model import Project
from tests.unit.project.folder import CONNECTION, OUTPUT, TRIGGER

HOST: Any = {
    "version": "2.0",
    "functionTimeout": "00:05:00",
    "functions": ["resize"],
    "extensions": {"queues": {"batchSize": 8, "maxPollingInterval": "00:00:05"}},
    "logging": {"logLevel": {"default": "Debug"}},
    "retry": {"strategy": "fixedDelay", "maxRetryCount": 1, "delayInterval": "00:00:01"},
    "qtrigger": {"lease": "00:05:00", "functions": {"resize": {"batchSize": 1}}},
}
FUNCTION: Any = {
    "bindings": [TRIGGER, OUTPUT],
    "disabled": "OFF",
    "scriptFile": "__init__.py",
    "entryPoint": "main",
    "retry": {"maxRetryCount": 1, "minimumInterval": "00:00:01", "maximumInterval": "00:00:02"},
}
LOCAL: Any = {
    "IsEncrypted": False,
    "Values": {"AzureWebJobsStorage": CONNECTION, "OFF": "0"},
    "ConnectionStrings": {"Sql": {"ConnectionString": "x"}},
}

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(
        ["%X%", "%", "{a}", "{", "-1", "24:00:00", "$return", "queue", "in", "\ud800"]
    )
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=5,
)
bounded = settings(max_examples=30, deadline=None)


@st.composite
def mutated(draw: st.DrawFn, original: Any) -> Any:
    """The original with some of its parts replaced, renamed or removed."""
    if draw(st.integers(0, 9)) == 0:
        return draw(values)
    if isinstance(original, dict):
        changed = {}
        for key, value in original.items():
            name = draw(st.sampled_from([key, key, key, key, key.upper(), key[:-1], ""]))
            changed[name] = draw(mutated(value))
        return changed
    if isinstance(original, list):
        return [draw(mutated(value)) for value in original]
    return original


def loaded(host: str | bytes, function: str | bytes, local: str | bytes) -> Project:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "resize").mkdir()
        (root / "resize/__init__.py").touch()
        for path, text in (
            ("host.json", host),
            ("resize/function.json", function),
            ("local.settings.json", local),
        ):
            data = text if isinstance(text, bytes) else text.encode()
            (root / path).write_bytes(data)
        return load_project(root, {}, environment="Development")


def check(project: Project) -> None:
    for problem in project.problems:
        assert problem.message
        assert problem.file, problem
        assert problem.line > 0, problem
    errors = [problem for problem in project.problems if problem.severity == "error"]
    assert errors or not project.blocked
    assert all(name in {problem.function for problem in errors} for name in project.failed)


@given(mutated(HOST), mutated(FUNCTION), mutated(LOCAL))
@bounded
def test_changed_files_never_crash_and_every_finding_has_a_place(
    host: Any, function: Any, local: Any
) -> None:
    check(loaded(json.dumps(host), json.dumps(function), json.dumps(local)))


@given(st.data())
@bounded
def test_damaged_text_never_crashes(data: st.DataObject) -> None:
    texts = []
    for original in (HOST, FUNCTION, LOCAL):
        text = json.dumps(original, indent=1)
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 5, len(text))))
        scrap = data.draw(st.text(alphabet="{}[]\",:'/*\\ \n\r0x", max_size=4))
        texts.append(text[:start] + scrap + text[end:])

    check(loaded(*texts))


@given(st.binary(max_size=200))
@bounded
def test_any_bytes_are_a_document_or_a_mistake_with_a_place(data: bytes) -> None:
    try:
        place = jsonc.parse(data).value_place(())
    except jsonc.JsonError as error:
        place = (error.line, error.column)
    assert min(place) >= 1


@given(values)
@bounded
def test_strict_json_is_read_as_it_is(value: Any) -> None:
    text = json.dumps(value)

    expected = json.loads(text, parse_constant=float)
    assert repr(jsonc.parse(text.encode()).value) == repr(_without_halves(expected))


@given(st.text(alphabet="0123456789:.-+ dx٣", max_size=20))
@bounded
def test_any_text_is_a_duration_or_none(text: str) -> None:
    try:
        found = timespan.parse(text)
    except timespan.TimeSpanError:
        return
    assert timespan.parse(timespan.spell(found.seconds)).seconds == found.seconds


@given(st.text(alphabet="{}ab.:-% ", max_size=20))
@bounded
def test_any_template_has_pieces_or_a_mistake(template: str) -> None:
    try:
        pieces = expressions.parse(template)
    except expressions.ExpressionError:
        return
    assert all(isinstance(piece, (str, expressions.Expression)) for piece in pieces)


def _without_halves(value: Any) -> Any:
    """The value with half surrogate pairs replaced, as the reader does."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_halves(part) for part in value]
    if isinstance(value, dict):
        return {_without_halves(key): _without_halves(part) for key, part in value.items()}
    return value
