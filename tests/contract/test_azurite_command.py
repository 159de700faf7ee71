"""How an Azurite is started: with telemetry off, and without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from qtrigger.clock import SystemClock
from qtrigger.queues.azurite_find import Azurite, Machine, find
from qtrigger.queues.azurite_process import AzuriteProcess, start_azurite

CLOCK = SystemClock()

# Writes its arguments down, says that it listens, and waits for its stdin to end.
NODE = """#!/bin/sh
printf '%s\\n' "$@" > "{arguments}"
echo 'successfully listens on http://127.0.0.1:4711'
cat > /dev/null
"""


async def arguments_of(tmp_path: Path, data: Path | None) -> list[str]:
    noted, node = tmp_path / "arguments", tmp_path / "node"
    node.write_text(NODE.format(arguments=noted))
    node.chmod(0o755)
    process = await start_azurite(
        Azurite(node=node, main=tmp_path / "main.js"), 0, CLOCK, data=data
    )
    await process.stop()
    assert process.port == 4711
    return noted.read_text().splitlines()


@pytest.mark.parametrize("kept", [True, False])
async def test_it_is_told_to_be_silent_send_no_telemetry_and_take_newer_clients(
    tmp_path: Path, *, kept: bool
) -> None:
    data = tmp_path / "data"
    data.mkdir()

    arguments = await arguments_of(tmp_path, data if kept else None)

    assert {"--silent", "--disableTelemetry", "--skipApiVersionCheck"} <= set(arguments)
    assert arguments[arguments.index("--queueHost") + 1] == "127.0.0.1"
    assert ("--location" in arguments) is kept
    assert ("--inMemoryPersistence" in arguments) is not kept


async def test_it_starts_and_stops_without_a_network_and_says_nothing_but_that(
    azurite: AzuriteProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the switch it calls for a telemetry host at its end, and prints that it cannot."""
    assert azurite.pid  # installed by now
    found = find(tmp_path, Machine.here())
    assert found is not None
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    data = tmp_path / "data"
    data.mkdir()

    process = await start_azurite(found, 0, CLOCK, data=data)
    await process.stop()

    said = (data / "azurite.log").read_text().splitlines()
    assert [line for line in said if not line.startswith("Azurite Queue service ")] == []
    assert len(said) <= 4
