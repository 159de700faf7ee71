"""Runs this repository's order pipeline once, on an emulator of its own, and ends.

`make demo` calls it: it copies the project into a temporary folder, starts `qtrigger start`
there, sends a few orders as soon as the host is ready, and leaves when every queue has been
empty for a while. One order goes to a country that nobody delivers to, so its parcel fails five
times and ends in the poison queue.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
QTRIGGER = [sys.executable, "-m", "qtrigger"]
IDLE_SECONDS = "3"
LIMIT_SECONDS = 300

ORDERS = [
    {"id": "A-1", "total": 12.5, "country": "DE"},
    {"id": "A-2", "total": 99, "country": "FR"},
    {"id": "A-3", "total": 7, "country": "Atlantis"},
    {"id": "A-4", "total": 41.9, "country": "US"},
]

# The account and key that every copy of the emulator knows; they are no secret.
STORAGE = (
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;"
    "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6"
    "tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "QueueEndpoint=http://127.0.0.1:{port}/devstoreaccount1;"
)


def main() -> int:
    """Run the demo; return its exit code."""
    with tempfile.TemporaryDirectory(prefix="qtrigger-demo-") as folder:
        project = copy_project(Path(folder))
        command = [*QTRIGGER, "start", str(project), "--exit-when-idle", IDLE_SECONDS]
        print("$ qtrigger start --exit-when-idle", IDLE_SECONDS, flush=True)
        with subprocess.Popen(
            [*command, "--log-format", "plain"], env=environ(), stdout=subprocess.PIPE, text=True
        ) as host:
            assert host.stdout is not None
            for line in host.stdout:
                print(line, end="", flush=True)
                if line.startswith("ready in"):
                    send_orders(project)
            code = host.wait(LIMIT_SECONDS)
    print(f"the host ended by itself with exit code {code}", flush=True)
    return code


def copy_project(folder: Path) -> Path:
    """Copy the project, with a port of its own for the emulator, so that nobody else's is used."""
    shutil.copytree(ROOT / "functions", folder / "functions")
    shutil.copy(ROOT / "host.json", folder)
    settings = json.loads((ROOT / "local.settings.json").read_text("utf-8"))
    settings["Values"]["AzureWebJobsStorage"] = STORAGE.format(port=free_port())
    (folder / "local.settings.json").write_text(json.dumps(settings), "utf-8")
    return folder


def send_orders(project: Path, orders: Sequence[Mapping[str, Any]] = ORDERS) -> None:
    """Put orders on the queue."""
    texts = [json.dumps(order) for order in orders]
    print("$ qtrigger send orders", *(f"'{text}'" for text in texts), flush=True)
    command = [*QTRIGGER, "send", "--project", str(project), "orders", *texts]
    subprocess.run(command, env=environ(), check=True, timeout=LIMIT_SECONDS)


def environ() -> dict[str, str]:
    """Return this process's environment without what would override the demo's settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith("AzureWeb")}


def free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    sys.exit(main())
