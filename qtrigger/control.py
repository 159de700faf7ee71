"""The socket at which a running host answers: what it is asked, and what that may cost.

Owns the socket's life and the bounds on who asks: how long a question may be, how many ask at
once, how long one may take to ask. Whoever asks can neither stop nor slow what happens to messages.
What is answered is for those who are given.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from qtrigger import rendezvous
from qtrigger.background import begin
from qtrigger.clock import Clock
from qtrigger.rendezvous import MOST_OF_A_REQUEST, PATTERN, VERSION
from qtrigger.state import make_folder

MOST_CLIENTS: Final = 16
# Those who have not asked yet take no place from those who have: the one that has been silent for
# longest gives way.
MOST_SILENT: Final = 64
# For a question to be put once somebody is connected; a command does so at once.
ASKING_S: Final = 2.0
# For an answer to be taken.
TAKING_S: Final = 5.0
# Whoever waits for a stop waits with it; nothing waits longer.
ANSWERING_S: Final = 3600.0
# For answers under way when the host ends.
CLOSING_S: Final = 2.0

Answer = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Answers one kind of question; what it raises is told as a defect."""


class Control:
    """Answers questions at a socket of its own, by their `do`, until `close`."""

    def __init__(self, answers: Mapping[str, Answer], clock: Clock) -> None:
        self._answers = answers
        self._clock = clock
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()
        self._silent: dict[asyncio.Task[None], None] = {}
        self._asking = 0
        self._made: list[Path] = []
        self._temporary: Path | None = None

    @property
    def path(self) -> Path | None:
        """Where it answers, None before `open`."""
        return self._made[0] if self._made else None

    async def open(self, folders: Sequence[Path], temporary: Path) -> None:
        """Begin to answer in the first of the folders that can hold a socket.

        The others that there are get a link to it, so that a command which knows one finds it.
        Raises OSError where none of them can. `temporary` is the one that anybody could make.
        """
        error: OSError = FileNotFoundError("no folder for a socket")
        for folder in folders:
            try:
                _prepare(folder, private=folder == temporary)
                if self.path is not None:
                    if folder != temporary:
                        self._link(folder)
                    continue
                bound, path = _bound(folder)
            except OSError as found:
                error = found
                continue
            self._made.append(path)
            self._temporary = folder if folder == temporary else None
            self._server = await asyncio.start_unix_server(
                self._came, sock=bound, limit=MOST_OF_A_REQUEST
            )
        if self.path is None:
            raise error

    async def close(self) -> None:
        """Answer no more; what is being answered has two seconds."""
        if self._server is not None:
            self._server.close()
        if self._clients:
            await asyncio.wait(self._clients, timeout=CLOSING_S)
        for client in self._clients:
            client.cancel()
        for path in self._made:
            with contextlib.suppress(OSError):
                path.unlink()
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                self._temporary.rmdir()

    def _link(self, folder: Path) -> None:
        assert self.path is not None
        link = folder / self.path.name
        link.symlink_to(self.path)
        self._made.append(link)

    def _came(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._silent) >= MOST_SILENT:
            longest = next(iter(self._silent))
            del self._silent[longest]
            longest.cancel()
        client = begin(self._serve(reader, writer), name="answer to a command")
        self._clients.add(client)
        self._silent[client] = None

        def gone(_client: asyncio.Task[None]) -> None:
            self._clients.discard(client)
            self._silent.pop(client, None)
            writer.close()  # here, for one that is sent away before it was served at all

        client.add_done_callback(gone)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with self._clock.timeout(ASKING_S):
                line = await reader.readline()
            client = asyncio.current_task()
            assert client is not None
            self._silent.pop(client, None)
            if line:
                answer = {"version": VERSION, **await self._answer_in_place(line, reader)}
                writer.write(json.dumps(answer).encode() + b"\n")
                async with self._clock.timeout(TAKING_S):
                    await writer.drain()
        except (OSError, TimeoutError, ValueError):
            pass  # it has gone, or says too much, or says nothing

    async def _answer_in_place(
        self, line: bytes, reader: asyncio.StreamReader
    ) -> Mapping[str, Any]:
        if self._asking >= MOST_CLIENTS:
            return {"error": f"{MOST_CLIENTS} commands wait for its answers already; try again"}
        self._asking += 1
        try:
            return await self._answer(line, reader)
        finally:
            self._asking -= 1

    async def _answer(self, line: bytes, reader: asyncio.StreamReader) -> Mapping[str, Any]:
        try:
            request = json.loads(line)
            known = isinstance(request, dict) and request.get("version") == VERSION
            answer = self._answers.get(str(request.get("do"))) if known else None
        except (ValueError, RecursionError):
            answer = None
        if answer is None:
            return {"error": "this host does not know that question"}
        asking = asyncio.ensure_future(answer(request))
        gone = asyncio.ensure_future(reader.read(1))
        try:
            async with self._clock.timeout(ANSWERING_S):
                await asyncio.wait({asking, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                raise ConnectionError("who asked has gone")
            return await asking
        finally:
            asking.cancel()
            gone.cancel()


def _prepare(folder: Path, *, private: bool) -> None:
    """Make the folder, and remove what hosts that were killed have left there."""
    if private:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        if not rendezvous.is_ours(folder):
            raise PermissionError(f"{folder} is not ours alone")
    else:
        make_folder(folder)
    for path in folder.glob(PATTERN):
        if not rendezvous.takes_connections(_real(path)):
            path.unlink(missing_ok=True)


def _bound(folder: Path) -> tuple[socket.socket, Path]:
    """A socket in the folder which nobody but its owner can open."""
    path = folder / f"host-{os.getpid()}.sock"
    if path.exists():  # another container's, where this one's process has the same id
        path = folder / f"host-{os.getpid()}-{secrets.token_hex(4)}.sock"
    if not rendezvous.fits(path):
        raise OSError(f"{path} is too long for a socket")
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        made.bind(str(path))
    except OSError:
        made.close()
        raise
    finally:
        os.umask(mask)
    made.settimeout(0.0)
    return made, path


def _real(path: Path) -> Path:
    """Where a link points; a long path cannot be connected to itself."""
    return path.readlink() if path.is_symlink() else path
