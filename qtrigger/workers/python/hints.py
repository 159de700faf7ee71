"""What to do about code that could not be imported.

Owns the hints, by the kind of exception. A hint names the interpreter where it may be the cause.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import traceback
from pathlib import Path

_LIBRARY = "azure.functions."
_DECORATOR_CALL = re.compile(r"(\w+\.)*(queue_\w+|generic_\w+|function_name|retry)\(\)")


def hint(error: BaseException, root: str) -> str:
    """What the user may do about an exception at import, in the project at `root`."""
    if str(type(error).__module__).rpartition(".")[0] == __package__:
        return str(getattr(error, "hint", ""))
    if isinstance(error, ImportError):
        return _about_packages(error, root)
    if isinstance(error, SyntaxError):
        return f"it was read by Python {platform.python_version()} ({sys.executable})"
    if isinstance(error, KeyError) and _is_of_environ(error):
        return "set it in the environment, or in Values of local.settings.json"
    if isinstance(error, SystemExit):
        return "code that ends the process stands under if __name__ == '__main__'"
    return _about_code(error)


def _about_code(error: BaseException) -> str:
    if _is_of_decorators(error):
        return (
            "the decorators for queues are queue_trigger(arg_name, queue_name, connection) and "
            "queue_output with the same arguments"
        )
    return "what may fail belongs into the function, where it fails one try of one message"


def _about_packages(error: ImportError, root: str) -> str:
    package = (error.name or "").partition(".")[0]
    if error.name == "azure" or (error.name or "").startswith("azure.functions"):
        return f"install it for the interpreter that runs the functions: {_pip('azure-functions')}"
    if package and package in _requirements(root):
        return f"requirements.txt names it, but {sys.executable} does not have it: " + _pip(
            "-r requirements.txt"
        )
    return (
        f"name its package in requirements.txt and install it: {_pip('-r requirements.txt')}; "
        f"modules are searched for in {', '.join(filter(None, sys.path))}"
    )


def _is_of_environ(error: KeyError) -> bool:
    """Whether the key was looked for among the environment's variables."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals.get("__name__") == os.__name__


def _is_of_decorators(error: BaseException) -> bool:
    """Whether a decorator refuses what it is given, or does not exist."""
    if isinstance(error, TypeError) and _DECORATOR_CALL.match(str(error)):
        return True
    owner = type(getattr(error, "obj", None)).__module__  # of an AttributeError
    return f"{owner}.".startswith(_LIBRARY) or any(
        f"{frame.f_globals.get('__name__', '')}.".startswith(_LIBRARY)
        for frame, _ in traceback.walk_tb(error.__traceback__)
    )


def _pip(what: str) -> str:
    return f"{sys.executable} -m pip install {what}"


def _requirements(root: str) -> set[str]:
    """Names in requirements.txt, as far as a look at it tells."""
    try:
        lines = Path(root, "requirements.txt").read_text("utf-8-sig").splitlines()
    except (OSError, ValueError):
        return set()
    names = set()
    for line in lines:
        name = line.strip().split(";")[0]
        for mark in "[=<>!~ ":
            name = name.partition(mark)[0]
        names.add(name.strip().lower().replace("-", "_"))
    return names
