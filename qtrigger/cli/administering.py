"""Lets a host that runs be asked over HTTP: puts the server together with what it answers from.

Owns when each part is made, so that the first message waits for none of it: the port is taken when
the project is known, and the server is imported in a thread once the host has had its first
moments. The keys come from the settings; nothing here compares or shows one.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

from qtrigger.admin.keys import KEY, READ_KEY, Guesses, Keys, Sessions
from qtrigger.admin.security import Gate, Place, is_loopback
from qtrigger.admin.telling import Telling
from qtrigger.background import begin
from qtrigger.cli import sockets
from qtrigger.cli.http_options import Listen
from qtrigger.clock import Clock
from qtrigger.errors import PortTaken, ProjectError
from qtrigger.events import EventSink, HostLog, HttpListening
from qtrigger.project.model import Project

if TYPE_CHECKING:
    from qtrigger.admin.route import Route
    from qtrigger.admin.server import Server


# A start that takes longer is served meanwhile, for those who ask how far it is.
PATIENCE_S: Final = 3.0
# From ready on: to import a server costs as much as many messages, and the first come now.
FIRST_S: Final = 0.3


class Administering:
    """The HTTP face of one process; `routes` makes what is answered, once it is wanted.

    `ready` is waited for before anything is imported, though not for long.
    """

    def __init__(
        self,
        listen: Listen,
        routes: Callable[[], Sequence[Route]],
        ready: Callable[[], Awaitable[None]],
        *,
        clock: Clock,
        sink: EventSink,
    ) -> None:
        self._listen = listen
        self._routes = routes
        self._ready = ready
        self._clock = clock
        self._sink = sink
        self._keys = Keys()
        self._bound: sockets.Bound | None = None
        self._server: Server | None = None
        self._serving: asyncio.Task[None] | None = None

    def open(self, project: Project) -> str:
        """Take the port, and begin to serve soon; the address to show, "" where there is none.

        Raises ProjectError where it may not be served so, PortTaken where a port that was asked
        for is taken. Harmless twice.
        """
        if self._bound is None and self._serving is None:
            self._keys = keys_of(project)
            check_reach(self._listen, self._keys)
            try:
                self._bound = sockets.bind(self._listen)
            except PortTaken as error:
                if self._listen.last_port <= self._listen.port:
                    raise  # that port was asked for
                text = f"nothing is served over HTTP: {error}"
                self._sink.emit(HostLog(level=logging.WARNING, logger="qtrigger", message=text))
                return ""
            self._serving = begin(self._serve(self._bound), name="start of the HTTP server")
        return self._bound.urls[0] if self._bound is not None else ""

    async def close(self) -> None:
        """Answer no more, within the server's own deadline."""
        if self._serving is not None and not self._serving.done():
            self._serving.cancel()
            await asyncio.wait([self._serving])
        if self._server is not None:
            await self._server.close()
        if self._bound is not None:
            self._bound.close()

    async def _serve(self, bound: sockets.Bound) -> None:
        with contextlib.suppress(TimeoutError):
            async with self._clock.timeout(PATIENCE_S):
                await self._ready()
        await self._clock.sleep(FIRST_S)
        await asyncio.to_thread(importlib.import_module, "qtrigger.admin.server")
        from qtrigger.admin.server import Server

        place = Place(
            port=bound.port,
            loopback=all(map(is_loopback, self._listen.addresses)),
            names=self._listen.names,
        )
        gate = Gate(place, self._keys, Sessions(self._clock), Guesses(self._clock))
        telling = Telling(self._clock, self._sink)
        server = Server(self._routes(), gate, clock=self._clock, telling=telling)
        await server.open(bound.sockets)
        self._server = server
        self._sink.emit(
            HttpListening(addresses=bound.urls, keyed=bool(self._keys), instead_of=bound.instead_of)
        )


def keys_of(project: Project) -> Keys:
    """The keys that the project's settings, the environment's among them, say. See `Keys.of`."""
    found = [project.settings.get(name, "").strip() for name in (KEY, READ_KEY)]
    return Keys.of(found[0], found[1])


def check_reach(listen: Listen, keys: Keys) -> None:
    """Raise ProjectError where other machines could ask without a key."""
    reached = [each for each in listen.addresses if not is_loopback(each)]
    if reached and not keys:
        raise ProjectError(
            f"--http {reached[0]} can be reached from other machines, and no key is set. Set "
            f"{KEY} to a long random text (python3 -c 'import secrets; "
            "print(secrets.token_urlsafe(32))'), or listen on this machine alone: --http "
            f"{listen.port}."
        )
