"""What systemd is told by a service, and what it asks of one: the notify protocol.

Owns the socket and the words, as sd_notify(3) has them. When they are said is `announcing`'s.
Nothing here ever waits or fails: a service must not suffer by who looks after it.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import MutableMapping
from typing import Final

SOCKET: Final = "NOTIFY_SOCKET"
WATCHDOG_USEC: Final = "WATCHDOG_USEC"
WATCHDOG_PID: Final = "WATCHDOG_PID"

READY: Final = "READY=1"
STOPPING: Final = "STOPPING=1"
ALIVE: Final = "WATCHDOG=1"


class Notifier:
    """Says things to systemd, where it listens at `address`; elsewhere says them to nobody.

    An address that begins with @ is one of Linux' abstract sockets. `watchdog_s` is how often, in
    seconds, it wants to hear ALIVE; None where it does not.
    """

    def __init__(self, address: str = "", watchdog_s: float | None = None) -> None:
        self.watchdog_s = watchdog_s
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._socket: socket.socket | None = None
        if address:
            kind = socket.SOCK_DGRAM | getattr(socket, "SOCK_CLOEXEC", 0)
            self._socket = socket.socket(socket.AF_UNIX, kind)
            self._socket.settimeout(0.0)

    @property
    def listens(self) -> bool:
        """Whether there is somebody to tell."""
        return self._socket is not None

    def tell(self, *assignments: str) -> None:
        """Say that, if it can be said now."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.sendto("\n".join(assignments).encode(), self._address)

    def close(self) -> None:
        """Say nothing more."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def take_notifier(environ: MutableMapping[str, str]) -> Notifier:
    """What these variables of a service say, which are taken away.

    They are about this process: a child that found them would speak for it.
    """
    address = environ.pop(SOCKET, "")
    text, pid = environ.pop(WATCHDOG_USEC, ""), environ.pop(WATCHDOG_PID, "")
    ours = not pid or pid == str(os.getpid())
    watchdog_s = int(text) / 1e6 if ours and text.isdecimal() and int(text) else None
    known = address[:1] in ("/", "@") and len(os.fsencode(address)) < 108  # as a socket's path
    return Notifier(address if known else "", watchdog_s)


def status(text: str) -> str:
    """The line that `systemctl status` shows."""
    return f"STATUS={' '.join(text.split())}"


def reloading(now_s: float) -> str:
    """A reload begins; `now_s` is on CLOCK_MONOTONIC, without which newer ones wait in vain."""
    return f"RELOADING=1\nMONOTONIC_USEC={int(now_s * 1e6)}"


def extend(by_s: float) -> str:
    """A start or a stop goes on for that long, whatever the unit says."""
    return f"EXTEND_TIMEOUT_USEC={int(by_s * 1e6)}"
