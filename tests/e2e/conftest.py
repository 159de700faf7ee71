"""A project folder of the test's own on a real Azurite, and a look at its queues.

The queues are filled and read with Microsoft's own client, so that nothing here rests on ours.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError
from azure.storage.queue.aio import QueueClient

from qtrigger.queues.account import EMULATOR_ACCOUNT, EMULATOR_KEY
from qtrigger.queues.azurite_process import AzuriteProcess
from tests.e2e.support import ProjectFolder

_numbers = itertools.count()


class Service:
    """The queues of the test's account."""

    def __init__(self, connection: str) -> None:
        self._connection = connection

    async def put(self, queue: str, bodies: Sequence[str | bytes]) -> None:
        """Send bodies, base64 as a function's queue expects them."""
        encoded = [
            base64.b64encode(each.encode() if isinstance(each, str) else each).decode()
            for each in bodies
        ]
        await self.put_raw(queue, encoded)

    async def put_raw(self, queue: str, texts: Sequence[str]) -> None:
        """Send texts as they are, making the queue when it is missing."""
        async with self._client(queue) as client:
            with contextlib.suppress(ResourceExistsError):
                await client.create_queue()
            left = iter(texts)

            async def sender() -> None:
                for text in left:
                    await client.send_message(text)

            await asyncio.gather(*(sender() for _ in range(8)))

    async def put_later(self, queue: str, bodies: Sequence[str], delay_s: int) -> None:
        """Send bodies that nobody can take before that many seconds."""
        async with self._client(queue) as client:
            with contextlib.suppress(ResourceExistsError):
                await client.create_queue()
            for body in bodies:
                text = base64.b64encode(body.encode()).decode()
                await client.send_message(text, visibility_timeout=delay_s)

    async def put_for_ever(self, queue: str, body: str) -> None:
        """Send one body that never expires."""
        async with self._client(queue) as client:
            with contextlib.suppress(ResourceExistsError):
                await client.create_queue()
            await client.send_message(base64.b64encode(body.encode()).decode(), time_to_live=-1)

    async def dequeue_counts(self, queue: str) -> list[int]:
        """How often each of the visible messages was received, of 32 at most."""
        async with self._client(queue) as client:
            return [each.dequeue_count or 0 for each in await client.peek_messages(32)]

    async def count(self, queue: str) -> int:
        """The messages there, hidden ones too; 0 where there is no queue."""
        async with self._client(queue) as client:
            try:
                return (await client.get_queue_properties()).approximate_message_count or 0
            except ResourceNotFoundError:
                return 0

    async def raw(self, queue: str) -> list[str]:
        """The visible messages' texts as they stand on the wire, 32 at most."""
        async with self._client(queue) as client:
            try:
                return [str(each.content) for each in await client.peek_messages(32)]
            except ResourceNotFoundError:
                return []

    async def lifetimes(self, queue: str) -> dict[str, float]:
        """How many seconds after their arrival the visible messages expire, by their bodies."""
        async with self._client(queue) as client:
            return {
                base64.b64decode(str(each.content)).decode(): (
                    each.expires_on - each.inserted_on
                ).total_seconds()
                for each in await client.peek_messages(32)
                if each.expires_on is not None and each.inserted_on is not None
            }

    async def bodies(self, queue: str) -> list[bytes]:
        """The visible messages' bodies; fails when some are hidden."""
        texts = await self.raw(queue)
        assert await self.count(queue) == len(texts), f"{queue} has hidden messages"
        return [base64.b64decode(text) for text in texts]

    async def texts(self, queue: str) -> list[str]:
        """As `bodies`, decoded."""
        return [body.decode() for body in await self.bodies(queue)]

    def _client(self, queue: str) -> QueueClient:
        return QueueClient.from_connection_string(
            self._connection, queue, api_version="2021-12-02", use_env_settings=False
        )


@pytest.fixture
def connection(azurite: AzuriteProcess) -> str:
    """The account's connection string."""
    return (
        f"DefaultEndpointsProtocol=http;AccountName={EMULATOR_ACCOUNT};"
        f"AccountKey={EMULATOR_KEY};"
        f"QueueEndpoint=http://127.0.0.1:{azurite.port}/{EMULATOR_ACCOUNT};"
    )


@pytest.fixture
def service(connection: str) -> Service:
    """The account's queues."""
    return Service(connection)


@pytest.fixture
def folder(tmp_path: Path, connection: str) -> ProjectFolder:
    """An empty project whose queue names no other test uses."""
    return ProjectFolder(tmp_path, connection, f"e{os.getpid()}-{next(_numbers)}")
