"""What is known of a host before it is up: the event that a banner is made from.

Owns the words for the interpreter, the loop and the project.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from qtrigger import __version__
from qtrigger.events import HostStarting
from qtrigger.project.model import Project
from qtrigger.workers.interpreter import Interpreter

# In short why an interpreter was chosen, see `workers.interpreter`.
_SHORT = {
    "the activated virtual environment (VIRTUAL_ENV)": "VIRTUAL_ENV",
    "the Python that runs qtrigger": "qtrigger's own",
}
BY_HAND = "qtrigger reload"
BY_ITSELF = "saved files"


def starting(
    project: Project, interpreter: Interpreter, *, workers: int, watches: bool, dashboard: str = ""
) -> HostStarting:
    """Return the event, with the dashboard's address. It is made on the loop that runs the host."""
    return HostStarting(
        version=__version__,
        project=project.root.name or str(project.root),
        environment=project.environment,
        python=python_text(interpreter),
        workers=workers,
        loop=loop_name(asyncio.get_running_loop()),
        dashboard=dashboard,
        reload=BY_ITSELF if watches else BY_HAND,
        folder="" if Path.cwd().is_relative_to(project.root) else os.path.relpath(project.root),
    )


def python_text(interpreter: Interpreter) -> str:
    """Return `Python 3.11 (.venv)`; without a version where none is known before it runs."""
    why = _SHORT.get(interpreter.why, interpreter.why.removesuffix(" in the project"))
    version = _version(interpreter)
    return f"Python{f' {version}' if version else ''} ({why})"


def loop_name(loop: asyncio.AbstractEventLoop) -> str:
    """Return the package that an event loop is from."""
    return type(loop).__module__.partition(".")[0]


def _version(interpreter: Interpreter) -> str:
    if str(interpreter.path) == sys.executable:
        return f"{sys.version_info.major}.{sys.version_info.minor}"
    try:
        text = (interpreter.path.parent.parent / "pyvenv.cfg").read_text()
    except (OSError, ValueError):
        return ""
    for line in text.splitlines():
        name, _, value = line.partition("=")
        if name.strip() in ("version", "version_info"):
            return ".".join(value.strip().split(".")[:2])
    return ""
