"""The projects that pages of docs/how-to show, so that what a page says is what is tried.

A fenced block is a file of the project when a path follows its language: ```json host.json
"""

from __future__ import annotations

import re

from tests.docs.blocks import DOCS, blocks
from tests.e2e.support import ProjectFolder

_QUEUE = re.compile(
    r'(?P<key>"(?:queueName|poisonQueueName)":\s*|queue_name=)"(?P<name>[a-z0-9-]+)"'
)


def write_project(page: str, folder: ProjectFolder) -> list[str]:
    """Write the files that `docs/how-to/<page>.md` shows; their paths.

    Queues get the test's own prefix, see `ProjectFolder.queue`.
    """
    shown = blocks(DOCS / "how-to" / f"{page}.md")
    files = {block.path: block.text for block in shown if block.path}
    assert files, f"{page} shows no file"
    for path, content in files.items():
        target = folder.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_own_queues(content, folder))
    return sorted(files)


def _own_queues(content: str, folder: ProjectFolder) -> str:
    return _QUEUE.sub(lambda found: f'{found["key"]}"{folder.queue(found["name"])}"', content)
