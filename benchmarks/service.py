"""The queue server as a process of its own, and the way to fill and ask it.

Owns its start, its end and its control connection. What a run means is `measure`'s.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.certificate import write
from benchmarks.processes import running

ROOT = Path(__file__).parent.parent
ACCOUNT = "devstoreaccount1"
# No request is checked against it, but every client wants one of this shape to sign with. It holds
# no slash, because one of the peers takes it out of an address.
KEY = base64.b64encode(b"for measuring only: no request is checked against this key here.").decode()
START_S = 20.0
ANSWER_S = 120.0


class BenchmarkError(Exception):
    """A measurement cannot be made; the text says why."""


@dataclass(frozen=True, slots=True)
class Stats:
    """What the server has counted since it was filled."""

    gets: int
    deletes: int
    handed: int
    again: int
    left: int
    requests: int
    connections: int
    last_delete_at: float


class Service:
    """A running queue server."""

    def __init__(self, pid: int, port: int, tls_port: int, certificate: Path) -> None:
        self.pid = pid
        self.port = port
        self.certificate = certificate
        self._tls_port = tls_port
        self._socket = socket.create_connection(("127.0.0.1", port), START_S)
        self._socket.settimeout(ANSWER_S)

    def connection_string(self, *, tls: bool = False) -> str:
        """What a client needs."""
        scheme, port = ("https", self._tls_port) if tls else ("http", self.port)
        return (
            f"DefaultEndpointsProtocol={scheme};AccountName={ACCOUNT};AccountKey={KEY};"
            f"QueueEndpoint={scheme}://127.0.0.1:{port}/{ACCOUNT}"
        )

    def close(self) -> None:
        """Close the control connection."""
        self._socket.close()

    def reset(self) -> None:
        """Forget all queues and counts, and answer at once."""
        self._ask("reset")

    def create(self, queue: str) -> None:
        """Make a queue."""
        self._ask("fill", queue=queue, n=0, text="")

    def fill(self, queue: str, messages: int, text: str) -> None:
        """Put so many messages on a queue."""
        self._ask("fill", queue=queue, n=messages, text=text)

    def latency(self, ms: float) -> None:
        """From now on every answer waits so long."""
        self._ask("latency", ms=ms)

    def count_anew(self) -> None:
        """Forget the counts; the queues stay."""
        self._ask("recount")

    def stats(self) -> Stats:
        """Ask what has been counted."""
        told = self._ask("stats")
        return Stats(
            gets=int(told.get("get", 0)),
            deletes=int(told.get("delete", 0)),
            handed=int(told.get("handed", 0)),
            again=int(told.get("again", 0)),
            left=int(told["left"]),
            requests=int(told.get("requests", 0)),
            connections=int(told.get("connections", 0)),
            last_delete_at=told["last_delete_at"],
        )

    def _ask(self, verb: str, **query: object) -> dict[str, float]:
        request = f"GET /_ctl/{verb}?{urlencode(query)} HTTP/1.1\r\n\r\n"
        self._socket.sendall(request.encode())
        data = b""
        while (end := data.find(b"\r\n\r\n")) < 0 or not data.endswith(b"}"):
            more = self._socket.recv(65536)
            if not more:
                raise BenchmarkError("the queue server has closed its control connection")
            data += more
        told: dict[str, float] = json.loads(data[end + 4 :])
        return told


@contextlib.contextmanager
def serving() -> Iterator[Service]:
    """A queue server for as long as the block lasts, with TLS on a second port."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))
        certificate = Path(folder) / "certificate.pem"
        write(certificate)
        command = ["-m", "benchmarks.server", "--port", "0", "--certificate", str(certificate)]
        process = stack.enter_context(
            running([sys.executable, *command], os.environ, None, ROOT, told=True)
        )
        port, tls_port = _ports(process)
        service = Service(process.pid, port, tls_port, certificate)
        try:
            yield service
        finally:
            service.close()


def _ports(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """What it says it listens at. Raises BenchmarkError when it does not in time."""
    assert process.stdout is not None
    until = time.monotonic() + START_S
    line = b""
    while not line.endswith(b"\n"):
        left_s = max(until - time.monotonic(), 0.0)
        ready, _, _ = select.select([process.stdout], [], [], left_s)
        more = os.read(process.stdout.fileno(), 256) if ready else b""
        if not more:
            raise BenchmarkError("the queue server did not start; see its lines above")
        line += more
    port, tls_port = line.split()[-2:]
    return int(port), int(tls_port)
