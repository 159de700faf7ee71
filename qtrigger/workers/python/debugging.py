"""Lets a debugger attach to the worker: debugpy of the project's own Python, when it is asked for.

Owns the wait for the port, which the worker before this one may still hold, and what is said.
"""

from __future__ import annotations

import importlib
import logging
import os
import socket
import threading
from collections.abc import Callable, Mapping

PORT = "QTRIGGER_DEBUG_PORT"
HOST = "127.0.0.1"
LOOK_S = 0.2

Say = Callable[[int, str], None]


def listen(environ: Mapping[str, str], python: str, say: Say) -> None:
    """Let a debugger attach where the environment names a port; says so once it can.

    Where the port is taken it is waited for in a thread, for as long as the process lives: the
    worker before this one holds it until its last run has ended.
    """
    port = environ.get(PORT, "")
    if not port.isdecimal():
        return
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    try:
        debugger = importlib.import_module("debugpy")
    except ImportError:
        say(
            logging.ERROR,
            f"no debugger can attach: debugpy is not there. {python} -m pip install debugpy",
        )
        return

    def attachable() -> None:
        debugger.listen((HOST, int(port)))
        say(logging.INFO, f"a debugger can attach at {HOST}:{port} (pid {os.getpid()})")

    if _free(int(port)):
        attachable()
        return
    said = f"{HOST}:{port} is taken, most likely by the worker before; a debugger can attach when "
    say(logging.INFO, said + "that has ended")
    threading.Thread(
        target=_wait_then, args=(int(port), attachable, say), name="debugger", daemon=True
    ).start()


def _wait_then(port: int, attachable: Callable[[], None], say: Say) -> None:
    pause = threading.Event()
    while not _free(port):
        pause.wait(LOOK_S)
    try:
        attachable()
    except Exception as error:  # noqa: BLE001  # functions run without a debugger as well
        say(logging.ERROR, f"no debugger can attach: {type(error).__name__}: {error}")


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
