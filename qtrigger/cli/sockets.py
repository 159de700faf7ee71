"""Takes the port that a host will answer HTTP at, before anything that answers is there.

Owns what is tried where a port is taken. Binding takes no time and no library, so that the banner
can show the address while workers come up; who connects before that is let wait by the system.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from qtrigger.cli.http_options import Listen
from qtrigger.errors import PortTaken, ProjectError

_BACKLOG = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """Sockets that listen, and the port of all of them; `instead_of` is one that was taken."""

    sockets: Sequence[socket.socket]
    port: int
    instead_of: int = 0

    @property
    def urls(self) -> tuple[str, ...]:
        """Where they are reached; the first is the one to show."""
        return tuple(_url(*each.getsockname()[:2]) for each in self.sockets)

    def close(self) -> None:
        """Let the port go."""
        for each in self.sockets:
            each.close()


def bind(listen: Listen) -> Bound:
    """Take the port, or the next free one where others will do.

    Raises PortTaken, or ProjectError for an address that is none of this machine's or may not be
    used.
    """
    for port in range(listen.port, max(listen.port, listen.last_port) + 1):
        try:
            sockets = _at(listen.addresses, port)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                continue
            raise ProjectError(
                f"--http: {listen.addresses[0]} port {port} cannot be listened at: "
                f"{error.strerror or error}. Name an address of this machine and a port from 1024 "
                "on, or none: --no-http."
            ) from error
        bound = sockets[0].getsockname()[1]
        return Bound(
            sockets=sockets, port=bound, instead_of=listen.port if port != listen.port else 0
        )
    ports = str(listen.port)
    if listen.last_port > listen.port:
        ports = f"each from {listen.port} to {listen.last_port}"
    raise PortTaken(
        f"--http: port {ports} is taken by another program. Name another one (--http PORT), or "
        "none: --no-http."
    )


def _at(addresses: Sequence[str], port: int) -> list[socket.socket]:
    """One socket for each address; of several, those that this machine does not have are none."""
    made: list[socket.socket] = []
    try:
        for address in addresses:
            try:
                made.append(_listening(address, made[0].getsockname()[1] if made else port))
            except OSError as error:
                without = error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
                if not (made and without):
                    raise
    except OSError:
        for each in made:
            each.close()
        raise
    return made


def _listening(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(address != "::"))
        made.bind((address, port))
        made.listen(_BACKLOG)
        made.settimeout(0.0)
    except OSError:
        made.close()
        raise
    return made


def _url(address: str, port: int) -> str:
    shown = f"[{address}]" if ":" in address else address
    return f"http://{shown}:{port}"
