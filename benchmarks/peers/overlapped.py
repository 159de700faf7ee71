"""A loop that handles a page of messages while it fetches the next, with a limit to both.

Owns the slots. How a page is fetched and a message is deleted is given to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

Message = TypeVar("Message")

PAGE = 16
IN_FLIGHT = 24
IDLE_S = 0.05


async def work(
    receive: Callable[[int], Awaitable[Sequence[Message]]],
    handle: Callable[[Message], Awaitable[None]],
) -> None:
    """Work until cancelled: whenever a whole page has room, ask for one."""
    running: set[asyncio.Task[None]] = set()
    while True:
        while len(running) > IN_FLIGHT - PAGE:
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        page = await receive(PAGE)
        for message in page:
            running.add(asyncio.ensure_future(_done(handle, message)))
        if not page:
            await asyncio.sleep(IDLE_S)


async def _done(handle: Callable[[Message], Awaitable[None]], message: Message) -> None:
    await handle(message)
