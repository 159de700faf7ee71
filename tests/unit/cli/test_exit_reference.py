"""docs/reference/exit-codes.md is what the code does: every code, every verb, and no other."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import click
import pytest

from qtrigger.cli.exit_reference import codes_of, commands, page
from qtrigger.errors import ExitCode

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "exit-codes.md"
COMMANDS = dict(commands())


def said(command: click.Command) -> set[ExitCode]:
    """The codes that a verb names in its help."""
    return {
        ExitCode(int(each)) for part in codes_of(command) for each in re.findall(r"\b\d\b", part)
    }


def module_of(command: click.Command) -> str:
    assert command.callback is not None
    return str(inspect.unwrap(command.callback).__module__)


def test_the_page_is_made_from_the_commands() -> None:
    how = "python -m qtrigger.cli.exit_reference > docs/reference/exit-codes.md"

    assert PAGE.read_text() == page(), f"it is made by: {how}"


def test_the_page_has_a_row_for_each_code() -> None:
    rows = re.findall(r"^\| (\d) \|", page(), re.MULTILINE)

    assert rows == [str(int(code)) for code in ExitCode]


@pytest.mark.parametrize("words", COMMANDS)
def test_each_verb_says_what_it_may_end_with(words: str) -> None:
    assert ExitCode.OK in said(COMMANDS[words])


@pytest.mark.parametrize("words", COMMANDS)
def test_a_code_that_a_verbs_module_returns_is_said_by_it(words: str) -> None:
    module = module_of(COMMANDS[words])
    source = inspect.getsource(importlib.import_module(module))
    returned = {ExitCode[name] for name in re.findall(r"\bExitCode\.([A-Z]+)\b", source)}
    neighbours = [each for each in COMMANDS.values() if module_of(each) == module]

    assert returned <= {code for each in neighbours for code in said(each)}
