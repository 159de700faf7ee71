"""Commands and flags that sentences name are there, as those of blocks are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs import commands
from tests.docs.blocks import REPOSITORY, pages

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_COMMAND = re.compile(r"(?:qtrigger|make) [a-z]")
_FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]*")

# Of other programs.
_OF_OTHERS = frozenset(
    {"--concurrency", "--max-tasks-per-child", "--skipApiVersionCheck", "--oauth"}
    | {"--env-file", "--init"}
)

# What was decided or changed is told as it was then.
_SHOWN = [page for page in pages() if "decisions" not in page.parts]


def codes(page: Path) -> Iterator[str]:
    """What a page's sentences set as code."""
    return iter(_CODE.findall(_FENCED.sub("", page.read_text("utf-8"))))


@pytest.mark.parametrize("page", _SHOWN, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_what_a_sentence_names_is_there(page: Path) -> None:
    known = commands.flags() | _OF_OTHERS
    wrong = [commands.named(code) for code in codes(page) if _COMMAND.match(code)]
    wrong += [
        f"{code}: no verb has {flag}"
        for code in codes(page)
        if code.startswith("-")
        for flag in _FLAG.findall(code)
        if flag not in known
    ]

    assert not [*filter(None, wrong)]


@pytest.mark.parametrize("code", ["qtrigger sent", "qtrigger start --no-such-flag", "make nothing"])
def test_what_is_not_there_is_seen(code: str) -> None:
    assert commands.named(code)
    assert "--no-such-flag" not in commands.flags()
