"""Python's collector of cycles, at rest while a command comes up.

Owns that alone. What is made by then, modules above all, stays for as long as the process does,
and to look it through again and again is a seventh of the processor's time of a start.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def resting_collector() -> Iterator[None]:
    """Let it rest for the body, and leave alone for ever what was made by the end of it."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
