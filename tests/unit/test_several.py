"""`--functions a b`: several values after one option, as Azure's tool writes them."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from qtrigger.cli.several import SeveralValues


@click.command(cls=SeveralValues)
@click.argument("project", required=False)
@click.option("--functions", multiple=True)
@click.option("--other")
def verb(project: str | None, functions: tuple[str, ...], other: str | None) -> None:
    click.echo(f"{project} {functions} {other}")


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        ("", "None () None"),
        ("p --functions a b c", "p ('a', 'b', 'c') None"),
        ("p --functions a b --other x", "p ('a', 'b') x"),
        ("--other x --functions a", "None ('a',) x"),
        ("p --functions a --functions b", "p ('a', 'b') None"),
        ("--functions a --other x p", "p ('a',) x"),
    ],
)
def test_values_go_to_the_option_before_them(arguments: str, seen: str) -> None:
    assert CliRunner().invoke(verb, arguments.split()).output == seen + "\n"
