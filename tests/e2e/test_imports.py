"""A command imports what it needs and no more, since a person waits while it does."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterable

import pytest

from tests.e2e.conftest import Service
from tests.e2e.support import REPOSITORY, ProjectFolder, running

# As `-X importtime` writes them.
IMPORTED = re.compile(r"^import time:\s+\d+ \|\s+\d+ \|\s+([\w.]+)$")

HEAVY = {"asyncio", "ssl", "aiohttp", "azure", "httptools", "jsonschema", "rich", "structlog"}


def imported(lines: Iterable[str]) -> set[str]:
    """The packages that were imported, a package of `azure` by two names."""
    names = {found[1] for line in lines if (found := IMPORTED.match(line))}
    assert "qtrigger" in names, "nothing is said of imports"
    return {".".join(name.split(".")[: 2 if name.startswith("azure.") else 1]) for name in names}


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_a_question_about_the_command_imports_neither_libraries_nor_the_event_loop(
    option: str,
) -> None:
    said = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "qtrigger", option],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )

    assert not imported(said.stderr.splitlines()) & HEAVY


def test_a_probe_imports_no_event_loop_either(folder: ProjectFolder) -> None:
    """A container's health check asks every few seconds, for as long as it runs."""
    said = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "qtrigger", "status", "--check"],
        cwd=folder.root,
        env=folder.environ,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert said.returncode == 1  # no host runs here
    assert not imported(said.stderr.splitlines()) & {*HEAVY, "yaml"}


async def test_a_host_that_needs_no_proxy_and_no_identity_imports_no_client_but_its_own(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("plain", "def main(msg: str) -> None:\n    note(msg)\n")
    folder.environ["PYTHONPROFILEIMPORTTIME"] = "1"
    for name in [name for name in folder.environ if name.lower().endswith("_proxy")]:
        del folder.environ[name]
    await service.put(folder.queue("plain"), ["one"])

    with running(folder, "--no-reload") as host:
        host.wait_for(" ok ")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert folder.notes() == ["one"]
    assert not imported(host.lines) & {"aiohttp", "azure", "structlog", "rich", "watchfiles"}
