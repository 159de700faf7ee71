"""Work on the disk beside the event loop.

Owns that such work never holds up the end of the process: a folder on a network may answer late
or never, and threads of the loop's own executor are waited for at the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


async def aside(work: Callable[[], T]) -> T:
    """Return what `work` returns, or raise what it raises, having run it in a thread.

    Cancelling gives the work up, and does not end it.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def finish(settle: Callable[[Any], None], value: object) -> None:
        if not done.done():
            settle(value)

    def run() -> None:
        settle: Callable[[Any], None] = done.set_result
        value: object
        try:
            value = work()
        except Exception as error:  # noqa: BLE001  # raised again by who waits
            settle, value = done.set_exception, error
        with contextlib.suppress(RuntimeError):  # the loop has been closed
            loop.call_soon_threadsafe(finish, settle, value)

    threading.Thread(target=run, name="qtrigger looks at files", daemon=True).start()
    return await done
