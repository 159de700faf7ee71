"""Every command line that a page shows, typed in the page's order in the page's project.

What a page says besides is held by the tests of its own; here each line ends well, and the host
that runs meanwhile ends well too.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from azure.storage.queue import QueueServiceClient

from tests.docs.blocks import REPOSITORY
from tests.docs.commands import programs
from tests.e2e import page_lines
from tests.e2e.page_visit import Visit

_TYPED = [pytest.param(page, id=page.stem) for page in page_lines.typed_pages()]
_HELD = [pytest.param(page, id=page.stem) for page in page_lines.all_pages()]


@pytest.fixture
def empty(connection: str) -> str:
    """The account without any queue: pages have the same names for theirs."""
    with QueueServiceClient.from_connection_string(connection) as account:
        for queue in list(account.list_queues()):
            account.delete_queue(queue.name)
    return connection


@pytest.mark.parametrize("page", _TYPED)
def test_each_command_of_the_page_ends_well(page: Path, tmp_path: Path, empty: str) -> None:
    with Visit(page, tmp_path, empty) as visit:
        for step in page_lines.steps(page):
            visit.type(step)


@pytest.mark.parametrize("page", _HELD)
def test_each_program_of_the_page_is_typed_or_it_is_said_why_not(page: Path) -> None:
    known = page_lines.TYPED | page_lines.ELSEWHERE.keys()

    unknown = [
        line
        for line in page_lines.shown_lines(page)
        for program in programs(line)
        if program not in known
    ]

    assert not unknown, "neither typed nor in a table of page_lines.py"


def test_each_program_of_elsewhere_is_still_on_a_page() -> None:
    pages = page_lines.all_pages()
    called = {
        program
        for page in pages
        for line in page_lines.shown_lines(page)
        for program in programs(line)
    }

    assert page_lines.ELSEWHERE.keys() <= called
    assert called & page_lines.TYPED == page_lines.TYPED
    assert not page_lines.TYPED & page_lines.ELSEWHERE.keys()


@pytest.mark.parametrize(("of", "line"), page_lines.NOT_TYPED)
def test_each_line_that_is_not_typed_is_still_on_its_page(of: str, line: str) -> None:
    shown = page_lines.shown_lines(REPOSITORY / of)

    assert [each for each in shown if re.match(re.escape(line), each)]
