"""Starting the child's program under an interpreter.

Owns the command line, what the programming model adds to the environment, the socket that the two
sides share, and the pipe whose end in the host stands for the host's life.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path

from qtrigger.workers.spawn import Process, spawn

ENTRY = Path(__file__).with_name("python") / "__main__.py"


async def launch(
    process: Process, *, interpreter: Path, root: Path, env: Mapping[str, str]
) -> socket.socket:
    """Start it; returns the host's end of the socket. Raises WorkerStartError."""
    ours, childs = socket.socketpair()
    ours.settimeout(0.0)
    watched, held = os.pipe()
    descriptors = (childs.fileno(), watched)
    command = [str(interpreter), "-X", "utf8", "-u", str(ENTRY), *map(str, descriptors)]
    whole = {
        **env,
        "FUNCTIONS_WORKER_RUNTIME": "python",
        "AzureWebJobsScriptRoot": str(root),
        "PYTHONUNBUFFERED": "1",
    }
    try:
        await spawn(command, cwd=root, env=whole, pass_fds=descriptors, process=process)
    except BaseException:
        ours.close()
        os.close(held)
        raise
    finally:
        childs.close()
        os.close(watched)
    process.hold(held)
    return ours
