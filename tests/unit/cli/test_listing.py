"""Tables, their JSON, the question before a removal, and lines of progress."""

from __future__ import annotations

import json

import click
import pytest

from qtrigger.cli.asking import confirm
from qtrigger.cli.listing import broken, document, table
from qtrigger.cli.progress import LINE_EVERY_S, progress
from qtrigger.telemetry.widths import cells
from qtrigger.testing.clock import ManualClock


def test_columns_are_as_wide_as_their_texts_and_lines_have_no_blanks_at_the_end() -> None:
    assert (
        table(("A", "B"), [("wide cell", ""), ("x", "y")])
        == "A          B\nwide cell\nx          y"
    )


def test_names_are_shortened_until_the_table_fits_the_terminal() -> None:
    rows = [("a-name-that-goes-on-and-on", "12"), ("漢字漢字漢字漢字", "3")]

    shown = table(("NAME", "COUNT"), rows, width=20, names=1).splitlines()

    assert [cells(line.ljust(1)) <= 20 for line in shown] == [True] * 3
    assert shown[1] == "a-name…and-on  12"


def test_a_long_line_goes_on_below_and_a_path_in_it_stays_whole() -> None:
    line = "charge: failed: see /srv/orders/functions/charge.py"

    assert broken(line, None) == line
    assert broken(line, 40) == "charge: failed: see\n  /srv/orders/functions/charge.py"


def test_a_document_says_the_version_of_its_shape_first() -> None:
    assert list(json.loads(document(queues=[]))) == ["schema_version", "queues"]


def test_where_nobody_can_be_asked_yes_has_to_be_said() -> None:
    with pytest.raises(click.UsageError, match="say --yes to delete 3 messages"):
        confirm("delete 3 messages", yes=False)

    confirm("delete 3 messages", yes=True)


async def test_elsewhere_than_on_a_terminal_a_line_is_told_every_ten_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = ManualClock()
    with progress("sending to orders", 30, clock) as advance:
        advance(10)
        await clock.advance(LINE_EVERY_S)
        advance(10)
        advance(10)

    assert capsys.readouterr().err == "sending to orders: 20 of 30\n"
