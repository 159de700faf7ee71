"""The flags that say where a host answers over HTTP.

Owns how an address is written, and what applies where none was given.
"""

from __future__ import annotations

import functools
import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import click

# Of the Functions Core Tools; where it is taken, the next ones are tried.
PORT: Final = 7071
LAST_PORT: Final = 7090

_LOOPBACK: Final = ("127.0.0.1", "::1")
_WRITTEN: Final = re.compile(r"(?:(\[[^\]]+\]|[^:]+):)?([0-9]{1,5})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listen:
    """Where to listen: IP addresses, one port for all (0: a free one).

    `last_port` is above `port` where any of those between will do. `names` are those that others
    know it by.
    """

    addresses: tuple[str, ...] = _LOOPBACK
    port: int = PORT
    last_port: int = PORT
    names: frozenset[str] = frozenset()


class _Address(click.ParamType[Listen]):
    """`7071`, `127.0.0.1:7071`, `[::1]:7071` or `0.0.0.0:80`."""

    name = "addr:port"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Listen:
        """See click."""
        match = _WRITTEN.fullmatch(str(value).strip())
        if match is None or int(match[2]) > 65535:
            self.fail(f"{value!r} is no PORT and no ADDR:PORT, such as 0.0.0.0:7071", param, ctx)
        address, port = (match[1] or "localhost").strip("[]"), int(match[2])
        if address.casefold() == "localhost":
            return Listen(port=port, last_port=port)
        try:
            found = str(ipaddress.ip_address(address))
        except ValueError:
            self.fail(f"{address!r} is no IP address of this machine, nor localhost", param, ctx)
        return Listen(addresses=(found,), port=port, last_port=port)


_OPTIONS: Final = (
    click.option(
        "--http",
        type=_Address(),
        metavar="[ADDR:]PORT",
        help="Where the dashboard, metrics and management are served (default: port 7071 of this "
        "machine alone, or the next free one; in Production nowhere).",
    ),
    click.option("--no-http", is_flag=True, help="Serve nothing over HTTP."),
    click.option(
        "--http-host",
        multiple=True,
        metavar="NAME…",
        help="A name that others know it by, as it stands in their addresses.",
    ),
)


def http_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb the flags; it gets `http`: where to listen, None for nowhere."""

    @functools.wraps(command)
    def call(*args: Any, **flags: Any) -> Any:
        given, none, names = flags.pop("http"), flags.pop("no_http"), flags.pop("http_host")
        listen = chosen(given, none=none, names=names, environment=flags["environment"])
        return command(*args, http=listen, **flags)

    for option in reversed(_OPTIONS):
        call = option(call)
    return call


def chosen(
    given: Listen | None, *, none: bool, names: tuple[str, ...], environment: str
) -> Listen | None:
    """What the flags mean. Raises UsageError for those that contradict each other."""
    if none and given is not None:
        raise click.UsageError("--http and --no-http contradict each other: give one of them")
    known = frozenset(each.strip().casefold() for each in names)
    if given is not None:
        return Listen(
            addresses=given.addresses, port=given.port, last_port=given.last_port, names=known
        )
    if none or environment.casefold() != "development":
        return None
    return Listen(last_port=LAST_PORT, names=known)
