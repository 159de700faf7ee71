"""What happens at a host's HTTP face."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpListening:
    """Requests are answered at these addresses; `instead_of` is a port that was taken, 0 if none.

    `keyed` says that a key is needed.
    """

    addresses: tuple[str, ...]
    keyed: bool
    instead_of: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRefused:
    """Somebody was not answered. `reason` is a stable word; `path` has no query, and is cut.

    `count` above 1: so many were refused since the last line, of which this is the last one.
    """

    reason: str
    status: int
    method: str
    path: str
    remote: str
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminAction:
    """Somebody did something to the host over HTTP: `who` is the name of their key.

    `action` is a stable word, `target` the function or queue, "" for the host.
    """

    action: str
    who: str
    target: str
    status: int
    remote: str
