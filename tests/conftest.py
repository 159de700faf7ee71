"""What several tiers need: one Azurite for each test process; Hypothesis without its deadline."""

from __future__ import annotations

import asyncio
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from qtrigger.clock import SystemClock
from qtrigger.queues.azurite_find import Machine, find
from qtrigger.queues.azurite_install import install
from qtrigger.queues.azurite_process import AzuriteProcess, start_azurite

# Hosts of tests side by side would take each other's ports; those of HTTP ask for it.
os.environ.setdefault("QTRIGGER_START_NO_HTTP", "1")

settings.register_profile("qtrigger", deadline=None)
settings.load_profile("qtrigger")


@pytest.fixture(scope="session")
def azurite() -> Iterator[AzuriteProcess]:
    """One Azurite for the session, on a free port, its queues in memory; installed if missing.

    Test processes run side by side, and one of them installs.
    """
    machine, clock = Machine.here(), SystemClock()
    with (Path(tempfile.gettempdir()) / "qtrigger-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = find(Path(), machine) or asyncio.run(install(machine, print, clock))
    process = asyncio.run(start_azurite(found, 0, clock, data=None))
    yield process
    asyncio.run(process.stop())
