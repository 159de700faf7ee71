"""Where and how findings in the user's files are collected while a project is read.

Owns places, the growing list of problems, the nearest known name, and the rule which text of the
user's may be shown. Knows no file format and no schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from qtrigger.project.model import Problem, Severity

# What keys, signatures and connection strings look like when they stand in the wrong field.
_SECRET_FIELD: Final = re.compile(
    r"(accountkey|sharedaccess\w*|password|secret|\bsig|\bpwd)\s*=", re.IGNORECASE
)
_LONG_WORD: Final = re.compile(r"[A-Za-z0-9+/~_.\-]{30,}")
_LONGEST_SHOWN: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place in the user's files, as in `Problem`; empty for the environment."""

    file: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


NOWHERE: Final = Place()


class Findings:
    """The problems found so far; `function` is named in each of them unless told otherwise."""

    def __init__(self, function: str = "") -> None:
        self._function = function
        self._problems: list[Problem] = []

    @property
    def failed(self) -> bool:
        """Whether an error is among them."""
        return any(problem.severity is Severity.ERROR for problem in self._problems)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All of them, in the order in which they were found, equal ones once."""
        return tuple(dict.fromkeys(self._problems))

    def error(self, message: str, place: Place = NOWHERE, hint: str = "") -> None:
        """Something that stops the function, or the project when no function is named."""
        self.add(_problem(Severity.ERROR, message, place, hint, self._function))

    def warning(self, message: str, place: Place = NOWHERE, hint: str = "") -> None:
        """Something that the user should know, and that stops nothing."""
        self.add(_problem(Severity.WARNING, message, place, hint, self._function))

    def add(self, *problems: Problem) -> None:
        """Take over problems found elsewhere."""
        self._problems.extend(problems)


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that looks most like this one, compared without case; "" when none does."""
    import difflib  # noqa: PLC0415 - for projects with something wrong alone

    spelled = {candidate.casefold(): candidate for candidate in known}
    found = difflib.get_close_matches(name.casefold(), spelled, n=1, cutoff=0.7)
    return spelled[found[0]] if found else ""


def suggest(name: str, known: Iterable[str]) -> str:
    """A hint with the nearest known name, "" when there is none."""
    found = nearest(name, known)
    return f'did you mean "{found}"?' if found else ""


def looks_secret(text: str) -> bool:
    """Whether a text could be a key, a signature or a connection string."""
    if _SECRET_FIELD.search(text):
        return True
    # A long word of small letters alone is a name; keys have capitals and digits among them.
    return any(
        re.search("[a-z]", word) and re.search("[A-Z]", word) and re.search("[0-9]", word)
        for word in _LONG_WORD.findall(text)
    )


def shown(value: Any) -> str:
    """The user's own value for an error text: as JSON, shortened, and never what may be secret."""
    if isinstance(value, str) and looks_secret(value):
        return "(a text that may be secret)"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_SHOWN else f'{text[:_LONGEST_SHOWN]}…"'


def _problem(severity: Severity, message: str, place: Place, hint: str, function: str) -> Problem:
    return Problem(
        severity=severity,
        message=message,
        file=place.file,
        line=place.line,
        column=place.column,
        function=function,
        hint=hint,
    )
