"""The projects of the how-to pages where qtrigger is not installed: they load, as on Azure."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import DOCS, blocks
from tests.e2e.howto import write_project
from tests.e2e.support import LIMIT_S, ProjectFolder

PAGES = sorted(
    page.stem
    for page in (DOCS / "how-to").glob("*.md")
    if any(block.path.endswith(".py") for block in blocks(page))
)

# As a host that knows nothing of ours imports them: each script for itself.
LOAD = """
import runpy, sys
for script in sys.argv[1:]:
    runpy.run_path(script)
assert "qtrigger" not in sys.modules
"""


@pytest.mark.parametrize("page", PAGES)
def test_the_project_of_a_page_loads_unchanged_without_qtrigger(
    folder: ProjectFolder, page: str
) -> None:
    files = [folder.root / path for path in write_project(page, folder)]
    folder.hide("qtrigger")
    scripts = [str(path) for path in files if path.name in ("__init__.py", "function_app.py")]

    loaded = subprocess.run(
        [sys.executable, "-c", LOAD, *scripts],
        cwd=folder.root,
        env=folder.environ,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )

    assert scripts
    assert (loaded.returncode, loaded.stderr) == (0, "")


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_adds_to_host_json_stands_where_azure_does_not_look(
    folder: ProjectFolder, page: str
) -> None:
    files = [folder.root / path for path in write_project(page, folder)]
    hosts = [path for path in files if path.name == "host.json"]

    for path in hosts:
        _holds_no_more_than_azure_knows(path)


def _holds_no_more_than_azure_knows(path: Path) -> None:
    host = json.loads(path.read_text())
    assert set(host) <= {"version", "extensions", "functionTimeout", "qtrigger"}
    assert set(host.get("extensions", {}).get("queues", {})) <= {
        "batchSize",
        "newBatchThreshold",
        "maxPollingInterval",
        "visibilityTimeout",
        "maxDequeueCount",
        "messageEncoding",
    }
