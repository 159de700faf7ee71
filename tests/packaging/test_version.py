"""The version that is built is one of the changelog, and the newest."""

from __future__ import annotations

import re

from qtrigger import __version__
from tests.packaging.installed import REPOSITORY


def test_the_newest_section_of_the_changelog_is_of_this_version() -> None:
    text = (REPOSITORY / "CHANGELOG.md").read_text("utf-8")
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)

    assert sections[0] == "Unreleased"
    assert re.fullmatch(rf"{re.escape(__version__)} - \d{{4}}-\d\d-\d\d", sections[1])
