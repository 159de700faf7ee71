"""What MkDocs does with these pages beyond what mkdocs.yml can say.

Owns three things: the navigation is made of what the index pages link in their lists, so that a
page is added in one place; a fenced block's path (```json host.json) becomes its title; and the
changelog, which stands in the repository's root, becomes a page.
"""

from __future__ import annotations

import re
from pathlib import Path
from posixpath import join, normpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

DOCS = Path(__file__).parent
TABS = {
    "How to": "how-to/README.md",
    "Reference": "reference/README.md",
    "Explanation": "explanation/README.md",
}
_ITEM = re.compile(r"^- \[[^\]]+\]\((?P<page>[^)#:]+\.md)\)")
_FENCE = re.compile(r"^```(?P<language>\w+) (?P<path>\S+)$", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Make the navigation."""
    contributing = ["contributing.md", "glossary.md", "changes.md"]
    index, *decisions = section("decisions/README.md")
    config.nav = [
        {"Start": ["index.md", "tutorial/ten-minutes.md"]},
        *({title: section(page)} for title, page in TABS.items()),
        {"Contributing": [*contributing, {"Decisions": [index, *sorted(decisions)]}]},
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the changelog, whose links start at the repository's root."""
    text = (DOCS.parent / "CHANGELOG.md").read_text("utf-8").replace("](docs/", "](")
    files.append(File.generated(config, "changes.md", content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Show a block's path above it."""
    return _FENCE.sub(r'```\g<language> title="\g<path>"', markdown)


def section(index: str) -> list[Any]:
    """An index page and the pages of its lists; a line that ends with a colon names a group."""
    pages: list[Any] = [index]
    into = pages
    for line in (DOCS / index).read_text("utf-8").splitlines():
        if line.endswith(":") and not line.startswith("-"):
            into = []
            pages.append({line.removesuffix(":"): into})
        elif found := _ITEM.match(line):
            into.append(normpath(join(Path(index).parent.as_posix(), found["page"])))
    return [page for page in pages if isinstance(page, str) or any(page.values())]
