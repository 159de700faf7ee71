"""However a project's files are damaged: findings with a place, no crash, and within a second."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qtrigger.project.loader import load_project
from qtrigger.project.model import Project
from tests.unit.project.folder import CONNECTION, OUTPUT, TRIGGER

FILES = ("host.json", "resize/function.json", "local.settings.json")
SOUND: dict[str, Any] = {
    "host.json": {
        "version": "2.0",
        "functionTimeout": "00:05:00",
        "functions": ["resize"],
        "extensions": {
            "queues": {
                "batchSize": 8,
                "newBatchThreshold": 2,
                "maxPollingInterval": "00:00:05",
                "visibilityTimeout": "00:00:10",
                "maxDequeueCount": 3,
                "messageEncoding": "none",
            }
        },
        "logging": {"logLevel": {"default": "Debug"}},
        "qtrigger": {"lease": "00:05:00", "functions": {"resize": {"batchSize": 1}}},
    },
    "resize/function.json": {
        "bindings": [TRIGGER, OUTPUT],
        "disabled": False,
        "scriptFile": "__init__.py",
        "retry": {"strategy": "fixedDelay", "maxRetryCount": 1, "delayInterval": "00:00:01"},
    },
    "local.settings.json": {
        "IsEncrypted": False,
        "Values": {"AzureWebJobsStorage": CONNECTION, "OFF": "0"},
        "ConnectionStrings": {"Sql": {"ConnectionString": "x"}},
    },
}

wrong = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from([-1, 0, 33, 2**31, 2**63, 1e308, "-1", "24:00:00", "0", "%X%", "{a}", [], {}]),
    st.lists(st.integers(), max_size=3),
)


@st.composite
def mutated(draw: st.DrawFn, part: Any) -> Any:
    """The part with keys dropped, repeated in other letters, and values of other types."""
    if draw(st.integers(0, 7)) == 0:
        return draw(wrong)
    if isinstance(part, dict):
        changed: dict[str, Any] = {}
        for key, value in part.items():
            name = draw(st.sampled_from([key, key, key, key, key.upper(), key[:-1], None]))
            if name is not None:
                changed[name] = draw(mutated(value))
        return changed
    if isinstance(part, list):
        return [draw(mutated(item)) for item in part]
    return part


@st.composite
def damaged(draw: st.DrawFn, text: str) -> bytes:
    """The text with some bytes replaced or cut off, as by a broken disk or editor."""
    data = text.encode()
    start = draw(st.integers(0, len(data)))
    end = draw(st.integers(start, min(start + 4, len(data))))
    scrap = draw(st.sampled_from([b"", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\0", b'"', b"{", b"]"]))
    return data[:start] + scrap + (data[end:] if draw(st.integers(0, 5)) else b"")


@st.composite
def swollen(draw: st.DrawFn) -> bytes:
    """A file that is huge or deep."""
    depth = draw(st.sampled_from([63, 64, 500, 100_000]))
    many = draw(st.sampled_from([100, 5_000, 60_000]))
    return draw(
        st.sampled_from(
            [
                b'{"version": "2.0", "x": ' + b"[" * depth + b"]" * depth + b"}",
                json.dumps({"version": "2.0", **{f"k{n}": n for n in range(many)}}).encode(),
                json.dumps({"bindings": [TRIGGER] * (many // 10)}).encode(),
                json.dumps({"Values": {f"k{n}": {"a": n} for n in range(many)}}).encode(),
                b'{"version": "' + b"2" * many * 10 + b'"}',
                b" " * many * 20,
            ]
        )
    )


@st.composite
def projects(draw: st.DrawFn) -> dict[str, bytes]:
    """Three files, at least one of which is not as it should be."""
    contents = {name: json.dumps(draw(mutated(SOUND[name])), indent=1) for name in FILES}
    files: dict[str, bytes] = {name: text.encode() for name, text in contents.items()}
    victim = draw(st.sampled_from(FILES))
    how = draw(st.integers(0, 2))
    if how == 1:
        files[victim] = draw(damaged(contents[victim]))
    elif how == 2:
        files[victim] = draw(swollen())
    return files


def load(files: dict[str, bytes]) -> tuple[Project, float]:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "resize").mkdir()
        (root / "resize/__init__.py").touch()
        for file, data in files.items():
            (root / file).write_bytes(data)
        began = time.thread_time()
        project = load_project(root, {}, environment="Development")
        return project, time.thread_time() - began


@given(projects())
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@pytest.mark.timeout(120)
def test_two_hundred_damaged_projects_are_findings_with_file_and_line_in_bounded_time(
    files: dict[str, bytes],
) -> None:
    project, took_s = load(files)

    assert took_s < 10.0  # of what grows with the square, the largest would take minutes
    for problem in project.problems:
        assert problem.message, problem
        assert problem.file in FILES, problem
        assert problem.line > 0, problem
        assert "\n" not in str(problem), problem
    errors = [problem for problem in project.problems if problem.severity == "error"]
    assert errors or not (project.blocked or project.failed)


@pytest.mark.parametrize("name", FILES)
def test_every_byte_that_is_not_utf_8_has_its_place(name: str) -> None:
    text = json.dumps(SOUND[name], indent=1).encode()
    files = {each: json.dumps(SOUND[each]).encode() for each in FILES}
    line = text[: len(text) // 2].count(b"\n") + 1

    project, _ = load({**files, name: text[: len(text) // 2] + b"\xff" + text[len(text) // 2 :]})

    (problem,) = [each for each in project.problems if each.file == name]
    assert problem.line == line
    assert "is not UTF-8" in problem.message
