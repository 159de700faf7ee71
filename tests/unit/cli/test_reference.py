"""docs/reference/cli.md is what the commands say, and the commands say what is asked of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from qtrigger.cli.main import VERBS, cli
from qtrigger.cli.reference import page

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "cli.md"


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every verb and every verb within one, with its words."""
    context = click.Context(cli)
    for verb in VERBS:
        command = cli.get_command(context, verb)
        assert command is not None
        yield verb, command
        if isinstance(command, click.Group):
            for name, inner in command.commands.items():
                yield f"{verb} {name}", inner


def test_the_page_is_made_from_the_commands() -> None:
    how = "python -m qtrigger.cli.reference > docs/reference/cli.md"

    assert PAGE.read_text() == page(), f"it is made by: {how}"


def test_the_page_names_every_command_and_flag() -> None:
    text = page()

    for words, command in commands():
        assert f" qtrigger {words}\n" in text
        for option in command.params:
            if isinstance(option, click.Option):
                assert f"`{option.opts[0]}`" in text


def test_every_flag_has_a_variable_that_is_shown_in_its_help() -> None:
    for words, command in commands():
        said = CliRunner().invoke(cli, [*words.split(), "--help"]).output
        shown = " ".join(said.split())
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.envvar
                assert f"env var: {option.envvar}" in shown


@pytest.mark.parametrize(
    ("words", "flag", "variable"),
    [
        ("start", "--shutdown-timeout", "QTRIGGER_START_SHUTDOWN_TIMEOUT"),
        ("start", "--environment", "AZURE_FUNCTIONS_ENVIRONMENT"),
        ("pause", "--for", "QTRIGGER_PAUSE_FOR"),
        ("version", "--format", "QTRIGGER_VERSION_FORMAT"),
        ("emulator status", "--port", "QTRIGGER_EMULATOR_STATUS_PORT"),
    ],
)
def test_a_variable_is_called_after_the_verb_and_the_flag(
    words: str, flag: str, variable: str
) -> None:
    options = dict(commands())[words].params

    (found,) = [each for each in options if flag in each.opts]
    assert found.envvar == variable


def test_a_variable_counts_and_the_flag_wins_over_it() -> None:
    environ = {"QTRIGGER_VERSION_FORMAT": "json"}

    by_variable = CliRunner().invoke(cli, ["version"], env=environ).output
    by_flag = CliRunner().invoke(cli, ["version", "--format", "table"], env=environ).output

    assert by_variable.startswith("{")
    assert by_flag.startswith("WHAT")
