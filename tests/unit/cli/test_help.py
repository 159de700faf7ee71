"""Every verb is listed, and its help ends in examples that can be copied."""

from __future__ import annotations

import itertools

import pytest
from click.testing import CliRunner

from qtrigger.cli.main import VERBS, cli


@pytest.mark.parametrize("verb", VERBS)
def test_each_example_of_a_verb_stands_on_a_line_of_its_own(verb: str) -> None:
    lines = CliRunner().invoke(cli, [verb, "--help"], prog_name="qtrigger").output.splitlines()

    after = [line.strip() for line in lines[lines.index("  Examples:") + 1 :]]
    examples = list(itertools.takewhile(bool, after))
    assert examples
    for example in examples:
        assert example.startswith(f"qtrigger {verb}")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_listed_with_what_its_help_says(verb: str) -> None:
    output = CliRunner().invoke(cli, ["--help"]).output

    assert VERBS[verb].split(",", maxsplit=1)[0] in output.replace("\n", " ")
    assert CliRunner().invoke(cli, [verb, "--help"]).exit_code == 0
