"""What a worker process says of a script that declares functions by decorators.

Values alone, in the words of function.json; what they amount to is decided above.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qtrigger.workers.worker import LoadFailure


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedFunction:
    """A function as its decorators declare it, and where its code stands.

    `line` counts from 1 and is that of its first decorator. `fault` says why the rest could not
    be read, "" when it could.
    """

    name: str
    entry_point: str
    file: Path
    line: int
    bindings: tuple[dict[str, Any], ...]
    retry: Mapping[str, Any] | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """All functions of a script, or the `failure` that stands for all of them."""

    functions: tuple[IndexedFunction, ...] = ()
    failure: LoadFailure | None = None
