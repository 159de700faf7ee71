"""azure-storage-queue's asyncio client, as it comes or tuned by what is public.

`--tuned` tells aiohttp not to look for proxies in the environment at every request, and takes the
faster event loop; both are a line each, and little is to be had beyond them without a client of
one's own.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from typing import Any

import uvloop
from azure.storage.queue import QueueMessage
from azure.storage.queue.aio import QueueClient

from benchmarks.peers.handled import from_environment
from benchmarks.peers.overlapped import work

LEASE_S = 600


async def consume(*, tuned: bool) -> None:
    """Work until ended from outside."""
    handled = from_environment()
    options: dict[str, Any] = {"use_env_settings": False} if tuned else {}
    queue = QueueClient.from_connection_string(
        os.environ["BENCH_CONNECTION"], os.environ["BENCH_QUEUE"], **options
    )

    async def receive(page: int) -> list[QueueMessage]:
        messages = queue.receive_messages(
            max_messages=page, messages_per_page=page, visibility_timeout=LEASE_S
        )
        return [message async for message in messages]

    async def handle(message: QueueMessage) -> None:
        handled.one()
        await queue.delete_message(message)

    async with queue:
        await work(receive, handle)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tuned", action="store_true")
    tuned: bool = parser.parse_args().tuned
    if tuned:
        uvloop.run(consume(tuned=True))
    else:
        asyncio.run(consume(tuned=False))


if __name__ == "__main__":
    main()
