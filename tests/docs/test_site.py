"""The site is built without a warning, and is all there: a page loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import REPOSITORY

# What a browser fetches by itself; a link that a reader follows may lead anywhere.
_LOADED = re.compile(r"<(?:script|img|link|iframe|source|video)\b[^>]*\b(?:src|href)=\"?([^\" >]+)")
_STYLED = re.compile(r"(?:url\(|@import )[\"']?([^\"')]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    ended = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=REPOSITORY,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return folder


def test_every_page_and_the_changes_are_there(site: Path) -> None:
    sources = (REPOSITORY / "docs").rglob("*.md")
    names = {str(each.relative_to(REPOSITORY / "docs").with_suffix(".html")) for each in sources}

    built = {str(each.relative_to(site)) for each in site.rglob("*.html")}

    assert {*(name.replace("README", "index") for name in names), "changes.html"} <= built


def test_nothing_is_loaded_from_other_hosts(site: Path) -> None:
    loaded = [
        (file.name, address)
        for pattern, files in ((_LOADED, site.rglob("*.html")), (_STYLED, site.rglob("*.css")))
        for file in files
        for address in pattern.findall(file.read_text("utf-8"))
    ]

    assert len(loaded) > 100
    assert [each for each in loaded if re.match(r"(?:[a-z]+:)?//", each[1])] == []


def test_a_files_path_stands_above_its_text(site: Path) -> None:
    assert 'class="filename">host.json<' in (site / "how-to" / "retry-delays.html").read_text()
