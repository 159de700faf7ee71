"""From a script file to a function, by the rules of the v1 model.

Owns the search path and the package `__app__`, whose search path is the folders that hold the
function folders. It knows nothing of bindings.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import os
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from .recent import keep_up

APP = "__app__"


class LoadError(Exception):
    """The script or its entry point cannot be used; `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def prepare(root: str, parents: Sequence[str]) -> None:
    """Set up the search path for a project; `parents` hold its function folders.

    The project comes last, so that its folders never hide an installed package; its own installed
    packages come before those of the interpreter.
    """
    keep_up(root)
    # A folder `azure` in the project, if a regular package, would hide every azure package. Once
    # imported, the namespace package keeps its own search path.
    with contextlib.suppress(ImportError):
        importlib.import_module("azure")
    packages = Path(root, ".python_packages", "lib", "site-packages")
    if packages.is_dir() and str(packages) not in sys.path:
        sys.path.insert(_first_site_packages(), str(packages))
    for folder in dict.fromkeys([root, *parents]):
        if folder in sys.path:
            sys.path.remove(folder)
        sys.path.append(folder)
    app = types.ModuleType(APP)
    spec = importlib.machinery.ModuleSpec(APP, None, is_package=True)
    spec.submodule_search_locations = app.__path__ = list(parents)
    app.__spec__ = spec
    sys.modules[APP] = app


def _first_site_packages() -> int:
    for index, entry in enumerate(sys.path):
        if entry.endswith(("site-packages", "dist-packages")):
            return index
    return len(sys.path)


def load(*, directory: str, script: str, entry: str) -> Callable[..., Any]:
    """Import the script and take the entry point. Raises LoadError, or whatever the code raises."""
    module = importlib.import_module(module_name(directory, script))
    try:
        function = getattr(module, entry)
    except AttributeError:
        raise LoadError(
            f"function {entry}() is not present in {_shown(directory, script)}",
            "define it there, or name another one by entryPoint in function.json",
        ) from None
    if not callable(function) or isinstance(function, type) or not hasattr(function, "__name__"):
        kind = "class" if isinstance(function, type) else type(function).__name__
        raise LoadError(
            f"{entry} in {_shown(directory, script)} must be a function, and is a {kind}"
        )
    return cast("Callable[..., Any]", function)


def module_name(directory: str, script: str) -> str:
    """The name to import a script by: `__app__.resize`, `__app__.resize.main`."""
    path = _shown(directory, script)
    if not path.endswith(".py"):
        raise LoadError(f"{path} is no Python file; its name must end in .py")
    parts = [*Path(path).with_suffix("").parts]
    if parts[0] == os.pardir:
        raise LoadError(f"{path} lies outside the folder that holds the function folders")
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    if any("." in part for part in parts):
        raise LoadError(f"{path} cannot be imported: a folder or file name has a dot in it")
    return ".".join([APP, *parts])


def _shown(directory: str, script: str) -> str:
    """The script as seen from the folder that holds the function folders."""
    return os.path.relpath(script, Path(directory).parent)
