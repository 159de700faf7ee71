"""Running the import of user code as it expects to be run.

Owns whether an event loop runs meanwhile. It knows neither programming model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def imported(load: Callable[[], T], loop: asyncio.AbstractEventLoop) -> T:
    """What `load` gives, called without a running loop, so that its code may run one of its own.

    The reference imports while its loop runs. Code that needs that (a client made at import) gets
    a second try under ours. Raises whatever `load` raises.
    """

    async def load_in_loop() -> T:
        return load()

    try:
        return load()
    except RuntimeError as error:
        if "no running event loop" not in str(error):
            raise
    finally:
        # The code may have used asyncio.run, which leaves no current loop behind.
        asyncio.set_event_loop(loop)
    return loop.run_until_complete(load_in_loop())
