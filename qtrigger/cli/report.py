"""What `qtrigger check` has found, as text, as JSON, or as annotations of GitHub Actions.

Owns the three spellings of one report. Decides nothing: no exit code, no severity.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from qtrigger.cli.connect import Queue
from qtrigger.project.model import Problem, Severity
from qtrigger.telemetry.widths import wrapped

SCHEMA_VERSION: Final = 1
INDENT: Final = 4
_COLOURS: Final = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All findings, in the order of their places, and the queues that were looked at.

    `functions` is how many functions the project has, whatever became of them.
    """

    root: Path
    environment: str
    problems: tuple[Problem, ...]
    functions: int
    queues: tuple[Queue, ...] = ()

    def count(self, severity: Severity) -> int:
        """How many findings are that bad."""
        return sum(problem.severity is severity for problem in self.problems)

    @property
    def summary(self) -> str:
        """The last line: `3 errors, 1 warning in 5 functions`."""
        errors = _counted(self.count(Severity.ERROR), "error")
        warnings = _counted(self.count(Severity.WARNING), "warning")
        return f"{errors}, {warnings} in {_counted(self.functions, 'function')}"


def as_text(report: Report, width: int | None = None) -> str:
    """One finding a line, as compilers write them; coloured, which a pipe has to take off.

    On a terminal of `width` columns, lines go on below, and hints are lines of their own.
    """
    findings = [_coloured(problem, width) for problem in report.problems]
    return "\n".join([*findings, *map(_queue_line, report.queues), report.summary])


def as_json(report: Report) -> str:
    """One object; `line` and `column` count from 1, and are 0 where there is none."""
    content: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "project": str(report.root),
        "environment": report.environment,
        "findings": [
            {
                "severity": problem.severity.value,
                "file": problem.file,
                "line": problem.line,
                "column": problem.column,
                "function": problem.function,
                "message": problem.message,
                "hint": problem.hint,
            }
            for problem in report.problems
        ],
        "queues": [_queue_object(queue) for queue in report.queues],
        "summary": {
            "errors": report.count(Severity.ERROR),
            "warnings": report.count(Severity.WARNING),
            "functions": report.functions,
        },
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def as_github(report: Report, base: Path) -> str:
    """Workflow commands that GitHub shows at the files' lines; paths are relative to `base`."""
    return "\n".join(
        [*(_annotation(report, each, base) for each in report.problems), report.summary]
    )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _coloured(problem: Problem, width: int | None) -> str:
    word = f"{problem.severity}:"
    styled = click.style(word, fg=_COLOURS[problem.severity], bold=True)
    first, *rest = str(problem).splitlines()
    lines = [first] if width is None else _fitted(first, problem.hint, width)
    lines[0] = lines[0].replace(word, styled, 1)
    return "\n".join([*lines, *(" " * INDENT + line for line in rest)])


def _fitted(text: str, hint: str, width: int) -> list[str]:
    """A finding's first line in lines of a terminal, its hint apart."""
    before, found, after = text.rpartition("  hint: ") if hint else (text, "", "")
    if not found:
        before = text
    lines = wrapped(before, width, first=0, rest=INDENT)
    if found:
        below = wrapped(f"hint: {after}", width, first=INDENT, rest=INDENT)
        label = click.style("hint:", fg="cyan")
        lines += [" " * INDENT + below[0].replace("hint:", label, 1), *below[1:]]
    return lines


def _queue_line(queue: Queue) -> str:
    parts = [f"queue {queue.name} in {queue.account.name} ({queue.account.authentication})"]
    parts.append(f"{_in_words(queue)}; {_uses(queue)}")
    if queue.not_tried:
        words = ", ".join(operation.words for operation in queue.not_tried)
        roles = " and ".join(dict.fromkeys(operation.role for operation in queue.not_tried))
        parts.append(f"not tried, since it changes something: {words} (needs {roles})")
    return ": ".join(parts[:2]) + "".join(f"; {part}" for part in parts[2:])


def _in_words(queue: Queue) -> str:
    look = queue.look
    if look is None:
        return "not looked at, since its name depends on the message"
    if queue.state == "ok":
        return "exists" + (
            "" if look.count is None else f", about {_counted(look.count, 'message')}"
        )
    if queue.state == "missing":
        return "does not exist"
    return "refused" if queue.state == "refused" else "cannot be reached"


def _uses(queue: Queue) -> str:
    return ", ".join(f"{use.role} of {use.function}" for use in queue.uses)


def _queue_object(queue: Queue) -> dict[str, Any]:
    return {
        "queue": queue.name,
        "account": queue.account.name,
        "endpoint": queue.account.endpoint,
        "authentication": queue.account.authentication,
        "state": queue.state,
        "messages": queue.look.count if queue.look else None,
        "uses": [{"role": use.role, "function": use.function} for use in queue.uses],
        "not_tried": [
            {"operation": operation.words, "role": operation.role} for operation in queue.not_tried
        ],
    }


def _annotation(report: Report, problem: Problem, base: Path) -> str:
    fields = {"file": _relative(report.root, problem.file, base)} if problem.file else {}
    if problem.line:
        fields["line"] = str(problem.line)
    if problem.column:
        fields["col"] = str(problem.column)
    if problem.function:
        fields["title"] = problem.function
    text = f"{problem.message}\nhint: {problem.hint}" if problem.hint else problem.message
    pairs = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in fields.items())
    return f"::{problem.severity}{f' {pairs}' if pairs else ''}::{_escaped(text)}"


def _relative(root: Path, file: str, base: Path) -> str:
    return Path(os.path.relpath(root / file, base)).as_posix()


def _escaped(text: str, further: str = "") -> str:
    """Escape what would end the command or its property early."""
    for character in f"%\r\n{further}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def ordered(problems: Sequence[Problem]) -> list[Problem]:
    """The findings by file, line and column, equal ones once."""
    return sorted(dict.fromkeys(problems), key=lambda each: (each.file, each.line, each.column))
