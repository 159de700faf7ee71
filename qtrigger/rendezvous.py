"""Where a running host can be spoken to, and how a command does so.

Owns the places and names of the sockets, and the form of a question: one line of JSON each way
over a unix socket, which its owner alone can open. Needs the standard library alone, so that a
probe costs next to nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

VERSION: Final = 1
# The path of a unix socket has room for 108 bytes with the one that ends it; macOS has 104.
MOST_OF_A_PATH: Final = 103
MOST_OF_A_REQUEST: Final = 4 * 1024
MOST_OF_AN_ANSWER: Final = 8 * 1024 * 1024
PATTERN: Final = "host-*.sock"
# A host answers at once; a connection that its kernel does not take is nobody's.
CONNECT_S: Final = 1.0


class NoAnswerError(Exception):
    """Nobody answered there, or not in time, or not what we understand."""


def folders(root: Path, state: Path, environ: Mapping[str, str]) -> Sequence[Path]:
    """Where hosts of a project may have their sockets, the first choice of a new one first.

    That is what systemd gives as `RUNTIME_DIRECTORY`, then the project's state folder, then one
    of the user's own for temporary files, where the path of the others is too long.
    """
    given = environ.get("RUNTIME_DIRECTORY", "").partition(":")[0]
    return [*([Path(given)] if given else []), state, _temporary(root)]


def _temporary(root: Path) -> Path:
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
    try:
        place = tempfile.gettempdir()
    except FileNotFoundError:  # none can be written, as in a container with a read-only root
        place = "/tmp"  # noqa: S108  # nobody makes anything there
    return Path(place) / f"qtrigger-{os.getuid()}-{digest}"


def fits(path: Path) -> bool:
    """Whether a socket can have that path."""
    return len(os.fsencode(path)) <= MOST_OF_A_PATH


def is_ours(folder: Path) -> bool:
    """Whether nobody else can have put something into a folder; for those that anybody may make."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    private = not found.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and private


def hosts(root: Path, state: Path, environ: Mapping[str, str]) -> Sequence[Path]:
    """The sockets of the project's hosts that take connections now, each once."""
    found: dict[Path, None] = {}
    for path in _sockets(root, state, environ):
        with contextlib.suppress(OSError):
            real = path.resolve()
            if real not in found and takes_connections(real):
                found[real] = None
    return list(found)


def takes_connections(path: Path) -> bool:
    """Whether somebody listens there; a socket of a host that was killed refuses."""
    with contextlib.suppress(OSError), _connected(path, CONNECT_S):
        return True
    return False


def ask(path: Path, request: Mapping[str, Any], *, timeout_s: float) -> Mapping[str, Any]:
    """Put one question to the host at `path` and return what it answers.

    Raises NoAnswerError, after `timeout_s` seconds at the latest.
    """
    until = time.monotonic() + timeout_s
    try:
        with _connected(path, min(CONNECT_S, timeout_s)) as connection:
            connection.sendall(json.dumps({"version": VERSION, **request}).encode() + b"\n")
            answer = json.loads(_line(connection, until))
    except TimeoutError:
        raise NoAnswerError(
            f"the host at {path} has not answered within {timeout_s:g} s: it is busy or stands "
            "still; try again, and see its log"
        ) from None
    except (OSError, ValueError) as error:
        raise NoAnswerError(f"the host at {path} does not answer: {error}") from error
    if not isinstance(answer, dict) or answer.get("version") != VERSION:
        raise NoAnswerError(f"the host at {path} is of another version of qtrigger")
    if "error" in answer:
        raise NoAnswerError(f"the host at {path} refuses: {answer['error']}")
    return answer


def _sockets(root: Path, state: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    for folder in folders(root, state, environ):
        if folder != _temporary(root) or is_ours(folder):
            yield from sorted(folder.glob(PATTERN))


@contextlib.contextmanager
def _connected(path: Path, timeout_s: float) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout_s)
        connection.connect(str(path))
        yield connection


def _line(connection: socket.socket, until: float) -> bytes:
    line = bytearray()
    while not line.endswith(b"\n"):
        left_s = until - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("the time is up")
        connection.settimeout(left_s)
        part = connection.recv(65_536)
        if not part:
            raise ConnectionError("it ended before it had answered")
        line += part
        if len(line) > MOST_OF_AN_ANSWER:
            raise ValueError("the answer is too long")
    return bytes(line)
