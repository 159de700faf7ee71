"""What is installed here: packages, the interpreter of the workers, Node.js and Azurite.

Owns looking; judges nothing.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from qtrigger.queues.azurite_find import Azurite, Machine, find
from qtrigger.workers.interpreter import Interpreter

# What a report of a defect should name; the last one is optional.
PACKAGES: Final = (
    "azure-storage-queue",
    "azure-identity",
    "azure-functions",
    "aiohttp",
    "httptools",
    "watchfiles",
    "structlog",
    "click",
    "uvloop",
)
ASK_LIMIT_S: Final = 4.0

_QUESTION: Final = """\
import json, sys
try:
    from importlib.metadata import version
    library = version("azure-functions")
except Exception:
    library = ""
print(json.dumps({"python": ".".join(map(str, sys.version_info[:3])), "library": library}))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an interpreter says of itself; `library` is azure-functions' version, "" without it."""

    python: str = ""
    library: str = ""
    fault: str = ""


def version_of(package: str) -> str:
    """The installed version, "" when there is none."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def system() -> str:
    """The operating system and the processor's kind."""
    return f"{platform.system()} {platform.release()} {platform.machine()}"


def ask(interpreter: Interpreter, root: Path, env: Mapping[str, str]) -> Asked:
    """Start the interpreter for a moment, as a worker would be; four seconds at most."""
    try:
        ended = subprocess.run(  # noqa: S603 - the project's own choice of a Python
            [str(interpreter.path), "-c", _QUESTION],
            cwd=root,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ASK_LIMIT_S,
            check=True,
        )
        said = json.loads(ended.stdout)
        return Asked(python=str(said["python"]), library=str(said["library"]))
    except subprocess.TimeoutExpired:
        return Asked(fault=f"it did not answer within {ASK_LIMIT_S:g} s")
    except subprocess.CalledProcessError as error:
        last = error.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        return Asked(fault=": ".join([f"it ended with status {error.returncode}", *last]))
    except OSError as error:
        return Asked(fault=error.strerror or type(error).__name__)
    except (ValueError, KeyError, TypeError):
        return Asked(fault="it is no Python")


def azurite_here(root: Path) -> Azurite | None:
    """The Azurite that a start in the folder would use."""
    return find(root, Machine.here())


def azurite_version(azurite: Azurite) -> str:
    """The version that Azurite's own package names, "" when it names none."""
    try:
        # azurite/dist/src/queue/main.js
        package = json.loads((azurite.main.parents[3] / "package.json").read_bytes())
        return str(package["version"])
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return ""


def worker_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """The variables that workers get: the process's own, and the project's settings over them."""
    return {**os.environ, **settings}
