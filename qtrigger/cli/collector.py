"""Python's collector of cycles, at rest while a command comes up.

Owns that, and how often it looks afterwards. What is made by then, modules above all, stays for as
long as the process does, and to look it through again and again is a seventh of the processor's
time of a start.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# How much is made between two looks at the youngest, and how many of these between two at more.
# Python's own 700 are made for a few dozen messages, whose cycles, where there are any, can wait.
LOOKS = (10_000, 20, 20)


@contextmanager
def resting_collector() -> Iterator[None]:
    """Let it rest for the body, and leave alone for ever what was made by the end of it.

    It looks less often from then on.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(*LOOKS)
        gc.enable()
