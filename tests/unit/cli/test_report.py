"""One report in three spellings: text, JSON, annotations of GitHub Actions."""

from __future__ import annotations

import json
from pathlib import Path

import click

from qtrigger.cli.report import Report, as_github, as_json, as_text, ordered
from qtrigger.project.model import Problem, Severity

ROOT = Path("/repository/app")
ERROR = Problem(
    severity=Severity.ERROR,
    message='bindings[0].queueName "a_b" may not hold an underscore',
    file="functions/resize/function.json",
    line=7,
    column=18,
    function="resize",
    hint="a queue name has letters",
)
WARNING = Problem(severity=Severity.WARNING, message="100 % wrong:\nreally")


def report(*problems: Problem, functions: int = 5) -> Report:
    return Report(
        root=ROOT, environment="Development", problems=tuple(problems), functions=functions
    )


def lines(text: str) -> list[str]:
    return click.unstyle(text).splitlines()


def test_a_finding_is_one_line_as_compilers_write_it() -> None:
    first, *_ = lines(as_text(report(ERROR)))

    assert first == (
        'functions/resize/function.json:7:18: error: bindings[0].queueName "a_b" may not hold an '
        "underscore  hint: a queue name has letters"
    )


def test_on_a_terminal_a_finding_goes_on_below_and_its_hint_has_a_line_of_its_own() -> None:
    said = lines(as_text(report(ERROR, WARNING), width=60))

    assert said[:4] == [
        "functions/resize/function.json:7:18: error:",
        '    bindings[0].queueName "a_b" may not hold an underscore',
        "    hint: a queue name has letters",
        "warning: 100 % wrong:",
    ]


def test_the_last_line_counts_errors_warnings_and_functions() -> None:
    assert lines(as_text(report(ERROR, ERROR, WARNING)))[-1] == (
        "2 errors, 1 warning in 5 functions"
    )
    assert lines(as_text(report(functions=1))) == ["0 errors, 0 warnings in 1 function"]


def test_further_lines_of_a_finding_are_indented_under_it() -> None:
    assert lines(as_text(report(WARNING)))[:2] == ["warning: 100 % wrong:", "    really"]


def test_json_is_one_object_with_its_version() -> None:
    content = json.loads(as_json(report(ERROR, WARNING)))

    assert content["schema_version"] == 1
    assert content["summary"] == {"errors": 1, "warnings": 1, "functions": 5}
    assert content["findings"][0] == {
        "severity": "error",
        "file": "functions/resize/function.json",
        "line": 7,
        "column": 18,
        "function": "resize",
        "message": ERROR.message,
        "hint": ERROR.hint,
    }


def test_annotations_name_the_file_from_the_repository_and_escape_what_would_end_them() -> None:
    first, second, _ = as_github(report(ERROR, WARNING), Path("/repository")).splitlines()

    assert first.startswith(
        "::error file=app/functions/resize/function.json,line=7,col=18,title=resize::bindings[0]"
    )
    assert first.endswith("%0Ahint: a queue name has letters")
    assert second == "::warning::100 %25 wrong:%0Areally"


def test_a_files_name_cannot_add_a_property_to_an_annotation() -> None:
    odd = Problem(severity=Severity.ERROR, message="x", file="a,line=1::b.json", line=2)

    (first, _) = as_github(report(odd), ROOT).splitlines()

    assert first == "::error file=a%2Cline=1%3A%3Ab.json,line=2::x"


def test_findings_are_told_in_the_order_of_their_places_equal_ones_once() -> None:
    later = Problem(severity=Severity.WARNING, message="x", file="host.json", line=12)
    sooner = Problem(severity=Severity.ERROR, message="y", file="host.json", line=3)

    assert ordered([later, sooner, later]) == [sooner, later]
