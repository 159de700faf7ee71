"""The notify protocol, spoken to a real socket."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from qtrigger import systemd
from qtrigger.systemd import Notifier, take_notifier


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, socket.socket]]:
    """An address, and who listens there."""
    path = str(tmp_path / "notify")
    address = path if request.param == "path" else f"@{path}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind("\0" + path if request.param == "abstract" else path)
        listening.settimeout(5.0)
        yield address, listening


def test_what_is_told_arrives_as_one_datagram(manager: tuple[str, socket.socket]) -> None:
    address, listening = manager
    notifier = Notifier(address)

    notifier.tell(systemd.READY, systemd.status("two\nlines  of it"))

    assert listening.recv(4096) == b"READY=1\nSTATUS=two lines of it"
    notifier.close()
    notifier.tell(systemd.READY)  # to nobody


def test_the_variables_are_taken_so_that_no_child_has_them() -> None:
    environ = {
        "NOTIFY_SOCKET": "/run/notify",
        "WATCHDOG_USEC": "60000000",
        "WATCHDOG_PID": str(os.getpid()),
        "PATH": "/bin",
    }

    notifier = take_notifier(environ)

    assert (notifier.listens, notifier.watchdog_s) == (True, 60.0)
    assert environ == {"PATH": "/bin"}
    notifier.close()


@pytest.mark.parametrize(
    ("environ", "watchdog_s"),
    [
        ({"WATCHDOG_USEC": "5000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "5000000"}, 5.0),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({}, None),
    ],
)
def test_a_watchdog_is_fed_by_the_process_that_it_is_for(
    environ: dict[str, str], watchdog_s: float | None
) -> None:
    assert take_notifier(environ).watchdog_s == watchdog_s


@pytest.mark.parametrize("address", ["", "relative", "vsock:2:1", "/" + "x" * 200])
def test_an_address_that_is_none_is_nobody(address: str) -> None:
    notifier = take_notifier({"NOTIFY_SOCKET": address})

    assert not notifier.listens
    notifier.tell(systemd.READY)


def test_a_manager_that_is_gone_or_takes_nothing_harms_nobody(tmp_path: Path) -> None:
    path = tmp_path / "notify"
    gone = Notifier(str(path))
    gone.tell(systemd.READY)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as deaf:
        deaf.bind(str(path))
        for _ in range(10_000):  # its queue is full long before
            gone.tell(systemd.ALIVE)
    gone.close()


def test_a_reload_carries_the_time_without_which_newer_ones_wait() -> None:
    assert systemd.reloading(12.5) == "RELOADING=1\nMONOTONIC_USEC=12500000"
    assert systemd.extend(45.0) == "EXTEND_TIMEOUT_USEC=45000000"
