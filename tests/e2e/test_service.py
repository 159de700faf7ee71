"""A host as systemd runs it: what is heard at its notify socket when something stands still."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, qtrigger, running

# A quarter of it is between two signs of life, half of it may a worker be silent.
WATCHDOG_S = 2.0
LIMIT_S = 30.0
CODE = """
import os
def main(msg):
    note(f"{os.getpid()} {os.environ.get('NOTIFY_SOCKET')} {os.environ.get('WATCHDOG_USEC')}")
"""


class Manager:
    """Listens at a notify socket."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))

    def wait_for(self, word: str) -> str:
        """The first of what comes from now on that holds the word."""
        until = time.monotonic() + LIMIT_S
        heard = []
        while (left := until - time.monotonic()) > 0:
            self._socket.settimeout(left)
            try:
                heard.append(self._socket.recv(4096).decode())
            except TimeoutError:
                break
            if word in heard[-1]:
                return heard[-1]
        raise AssertionError(f"no {word!r} among {heard}")

    def hears(self, word: str, for_s: float) -> bool:
        """Whether that is said within so many seconds; what came before does not count."""
        self._socket.settimeout(0.0)
        try:
            while True:
                self._socket.recv(4096)
        except BlockingIOError:
            pass
        until = time.monotonic() + for_s
        while (left := until - time.monotonic()) > 0:
            self._socket.settimeout(left)
            try:
                if word in self._socket.recv(4096).decode():
                    return True
            except TimeoutError:
                return False
        return False

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    listening = Manager(tmp_path / "notify")
    yield listening
    listening.close()


@pytest.fixture
def unit(folder: ProjectFolder, manager: Manager) -> ProjectFolder:
    folder.function("charge", CODE, queue="charges")
    folder.environ |= {
        "NOTIFY_SOCKET": str(manager.path),
        "WATCHDOG_USEC": str(int(WATCHDOG_S * 1e6)),
        "AZURE_FUNCTIONS_ENVIRONMENT": "Production",
    }
    return folder


async def test_a_service_says_how_it_gets_on_from_its_start_to_its_stop(
    unit: ProjectFolder, manager: Manager, service: Service
) -> None:
    await service.put(unit.queue("charges"), ["one"])
    with running(unit) as host:
        assert "1 function" in manager.wait_for("READY=1")
        manager.wait_for("WATCHDOG=1")
        host.wait_for("  ok  ")
        host.signal(signal.SIGHUP)
        assert "MONOTONIC_USEC=" in manager.wait_for("RELOADING=1")
        assert "1 ok" in manager.wait_for("READY=1")
        host.signal(signal.SIGTERM)
        assert "EXTEND_TIMEOUT_USEC=" in manager.wait_for("STOPPING=1")
        assert host.wait() == 0

    (note,) = unit.notes()
    assert note.split()[1:] == ["None", "None"]  # no child of its speaks for it


def test_a_worker_that_stands_still_is_named_and_starves_the_watchdog(
    unit: ProjectFolder, manager: Manager
) -> None:
    with running(unit) as host:
        manager.wait_for("WATCHDOG=1")
        (pid,) = workers(unit)
        os.kill(pid, signal.SIGSTOP)
        try:
            assert f"worker {pid} has not answered" in manager.wait_for("STATUS=ready, but")
            host.wait_for(f"pid {pid} stands still")
            assert not manager.hears("WATCHDOG=1", WATCHDOG_S)
            shown = qtrigger("status", str(unit.root), environ=unit.environ).stdout
            assert f"worker {pid} has not answered for" in shown
        finally:
            os.kill(pid, signal.SIGCONT)
        host.wait_for(f"pid {pid} answers again")
        manager.wait_for("WATCHDOG=1")


def test_a_host_whose_loop_is_held_starves_the_watchdog_and_leaves_its_stacks(
    unit: ProjectFolder, manager: Manager
) -> None:
    with running(unit) as host:
        manager.wait_for("WATCHDOG=1")
        host.signal(signal.SIGSTOP)
        assert not manager.hears("WATCHDOG=1", WATCHDOG_S)

        host.signal(signal.SIGABRT)  # what the unit has systemd send
        host.signal(signal.SIGCONT)

        assert host.wait() == -signal.SIGABRT
        assert "Fatal Python error: Aborted" in host.output
        assert "(most recent call first)" in host.output
        assert "/qtrigger/" in host.output


def workers(unit: ProjectFolder) -> list[int]:
    asked = qtrigger("status", str(unit.root), "--format", "json", environ=unit.environ)
    (found,) = json.loads(asked.stdout)["hosts"]
    return [each["pid"] for each in found["workers"]]
