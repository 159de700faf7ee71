"""A real host, asked over HTTP: what stands, what is done, who is let in, how it ends."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
from typing import Any

from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, RunningHost, qtrigger, running

KEY = "a-key-for-acting-of-this-test"

CODE = """
import logging
def main(msg):
    body = msg.get_body().decode()
    if body == "bad":
        raise ValueError("no card")
    note(body)
    return "receipt for " + body
"""


class Client:
    """Asks one host."""

    def __init__(self, host: RunningHost, key: str = "") -> None:
        host.wait_for("dashboard")
        match = re.search(r"dashboard +http://(\S+):(\d+)", host.output)
        assert match is not None
        self.address, self.port = match[1], int(match[2])
        self._key = key

    def ask(self, method: str, path: str, content: Any = None) -> tuple[int, Any]:
        """The status and the answer, as JSON where it is some."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        headers = {"x-functions-key": self._key} if self._key else {}
        connection.request(
            method, path, None if content is None else json.dumps(content), headers=headers
        )
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        is_json = answer.getheader("Content-Type", "").startswith("application/json")
        return answer.status, json.loads(body) if is_json and body else body.decode()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


def _start(folder: ProjectFolder, http: str) -> subprocess.CompletedProcess[str]:
    return qtrigger("start", str(folder.root), "--http", http, environ=folder.environ)


def _project(folder: ProjectFolder) -> None:
    folder.function("charge", CODE, out={"$return": "receipts"})
    del folder.environ["QTRIGGER_START_NO_HTTP"]


async def test_a_host_is_looked_at_and_moved_over_http(
    folder: ProjectFolder, service: Service
) -> None:
    _project(folder)
    await service.put(folder.queue("charge"), ["first"])
    with running(folder, "--http", "0") as host:
        host.wait_for("  ok  ")
        client = Client(host)
        for path in ("/health/live", "/health/ready", "/health/ready?strict=1", "/health/startup"):
            assert client.ask("GET", path)[0] == 200, path
        assert client.ask("GET", "/admin/host/ping") == (200, "")
        status, found = client.ask("GET", "/admin/host/status")
        assert (status, found["state"]) == (200, "Running")
        assert found["processId"] == host.pid
        assert "qtrigger_invocations_total" in client.ask("GET", "/metrics")[1]
        assert "<html" in client.ask("GET", "/")[1]
        assert client.ask("GET", "/api/status")[1]["functions"][0]["succeeded"] == 1

        (one,) = client.ask("GET", "/admin/functions")[1]
        assert (one["name"], one["language"], one["isDisabled"]) == ("charge", "python", False)
        assert one["config"]["bindings"][0]["queueName"] == folder.queue("charge")
        assert client.ask("GET", "/admin/functions/CHARGE")[1] == one
        assert client.ask("GET", "/admin/functions/charge/status") == (200, {})
        assert client.ask("GET", "/admin/functions/nope")[0] == 404

        assert client.ask("POST", "/admin/functions/charge", {"input": "by hand"})[0] == 202
        host.wait_for("charge, run by hand: succeeded")
        assert client.ask("POST", "/admin/functions/charge", {"input": "bad"})[0] == 202
        host.wait_for("charge, run by hand: failed")
        assert client.ask("POST", "/admin/functions/charge", {"input": 7})[0] == 400
        receipts = folder.queue("receipts")
        assert sorted(await service.texts(receipts)) == [
            "receipt for by hand",
            "receipt for first",
        ]

        assert client.ask("POST", "/admin/host/drain")[0] == 202
        assert client.ask("GET", "/health/ready")[1]["status"] == "draining"
        drained = client.ask("GET", "/admin/host/drain/status")[1]
        assert (drained["state"], drained["outstandingInvocations"]) == ("Completed", 0)
        assert client.ask("POST", "/api/functions/charge/send", {"text": "second"})[0] == 201
        assert client.ask("POST", "/admin/host/resume")[1]["state"] == "Running"
        host.wait_for("  ok  ", count=2)
        assert folder.notes() == ["first", "by hand", "second"]

        paused = client.ask("POST", "/api/functions/charge/pause", {"for_s": 600, "reason": "bank"})
        assert paused[0] == 200
        host.wait_for("paused by local over HTTP until")
        assert client.ask("POST", "/api/functions/charge/pause", {"for_s": "x"})[0] == 400
        assert client.ask("POST", "/api/functions/charge/resume")[0] == 200
        host.wait_for("resumed by hand: it is polled again")

        assert client.ask("POST", "/api/reload")[0] == 202
        host.wait_for("asked for: charge live again")
        assert client.ask("GET", "/health/ready")[0] == 200
        host.signal(signal.SIGTERM)
        assert host.wait() == 0
        assert "function.pause charge by local from 127.0.0.1" in host.output
        assert "a defect" not in host.output


def test_other_machines_need_a_key(folder: ProjectFolder) -> None:
    _project(folder)
    port = _free_port()
    refused = _start(folder, f"0.0.0.0:{port}")
    assert refused.returncode == 3
    assert "can be reached from other machines, and no key is set" in refused.stderr
    folder.environ["QTRIGGER_HTTP_KEY"] = "too-short"
    short = _start(folder, f"0.0.0.0:{port}")
    assert short.returncode == 3
    assert "too-short" not in short.stderr + short.stdout
    folder.environ["QTRIGGER_HTTP_KEY"] = KEY
    folder.function("spill", "import os\ndef main(msg): raise ValueError(dict(os.environ))")
    with running(folder, "--http", f"0.0.0.0:{port}", "--log-level", "debug") as host:
        host.wait_for("a key is needed")
        assert Client(host).ask("GET", "/api/status")[0] == 401
        assert Client(host, "another-key-than-that-one").ask("POST", "/api/reload")[0] == 401
        assert Client(host, KEY).ask("GET", "/api/status")[0] == 200
        assert Client(host).ask("GET", "/health/live")[0] == 200
        admin = Client(host, KEY)
        assert admin.ask("POST", "/admin/functions/spill", {"input": ""})[0] == 202
        host.wait_for("spill, run by hand: failed")
        host.wait_for("wrong key (401)")
        assert "no key (401)" in host.output
        assert KEY not in host.output
        assert "another-key" not in host.output


def test_a_port_that_is_taken(folder: ProjectFolder) -> None:
    _project(folder)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = _start(folder, str(port))
        assert refused.returncode == 4
        assert f"port {port} is taken by another program" in refused.stderr
