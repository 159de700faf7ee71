"""Runs a coroutine on the leanest event loop there is: uvloop where it is installed (`[fast]`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

T = TypeVar("T")


def run(main: Coroutine[object, object, T]) -> T:
    """As `asyncio.run`."""
    with asyncio.Runner(loop_factory=_factory()) as runner:
        return runner.run(main)


def _factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop  # an extra
    except ImportError:
        return None
    return uvloop.new_event_loop
