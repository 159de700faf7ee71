"""The SDK's own client beside ours: each reads what the other wrote, on Azurite and built in."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.storage.queue import (
    BinaryBase64DecodePolicy,
    BinaryBase64EncodePolicy,
    QueueMessage,
    TextBase64DecodePolicy,
    TextBase64EncodePolicy,
)
from azure.storage.queue.aio import QueueClient, QueueServiceClient

from qtrigger.clock import SystemClock
from qtrigger.queues.account import EMULATOR_ACCOUNT, EMULATOR_KEY, emulator_account
from qtrigger.queues.azurite_process import AzuriteProcess
from qtrigger.queues.emulator.server import BuiltinEmulator
from qtrigger.queues.encoding import decode, encode
from qtrigger.queues.rest import RestQueueService

TEXT = 'grüße <&> "1" \r\n 😀 '


@pytest.fixture(params=["built-in", "azurite"])
def sdk_kind(request: pytest.FixtureRequest) -> AzuriteProcess | None:
    if request.param == "built-in":
        return None
    process: AzuriteProcess = request.getfixturevalue("azurite")
    return process


@pytest.fixture
async def port(sdk_kind: AzuriteProcess | None) -> AsyncIterator[int]:
    """Where a queue service listens."""
    emulator = BuiltinEmulator(SystemClock())
    yield sdk_kind.port if sdk_kind else await emulator.start(0)
    await emulator.stop()


@pytest.fixture
async def ours(port: int) -> AsyncIterator[RestQueueService]:
    service = RestQueueService(emulator_account(port), SystemClock())
    yield service
    await service.close()


@pytest.fixture
async def theirs(port: int) -> AsyncIterator[QueueServiceClient]:
    """The SDK's service client as users make it: with its own, newest version of the interface."""
    account = emulator_account(port)
    credential = {"account_name": EMULATOR_ACCOUNT, "account_key": EMULATOR_KEY}
    async with QueueServiceClient(account.endpoint, credential=credential, retry_total=0) as client:
        yield client


async def taken(client: QueueClient) -> list[QueueMessage]:
    return [message async for message in client.receive_messages(messages_per_page=32)]


async def test_the_sdk_reads_base64_that_we_wrote(
    ours: RestQueueService, theirs: QueueServiceClient, queue_name: str
) -> None:
    queue = ours.queue(queue_name)
    await queue.create()
    await queue.send(encode(TEXT.encode(), "base64"))
    await queue.send(encode(b"\x00\xff", "base64"))

    decoding = theirs.get_queue_client(queue_name, message_decode_policy=BinaryBase64DecodePolicy())

    assert [message.content for message in await taken(decoding)] == [TEXT.encode(), b"\x00\xff"]


async def test_we_read_base64_that_the_sdk_wrote(
    ours: RestQueueService, theirs: QueueServiceClient, queue_name: str
) -> None:
    binary = theirs.get_queue_client(queue_name, message_encode_policy=BinaryBase64EncodePolicy())
    text = theirs.get_queue_client(queue_name, message_encode_policy=TextBase64EncodePolicy())
    await binary.create_queue()
    await binary.send_message(b"\x00\xff")
    await text.send_message(TEXT)

    messages = await ours.queue(queue_name).receive(32, 30)

    assert [decode(m.text, "base64") for m in messages] == [b"\x00\xff", TEXT.encode()]


async def test_both_read_the_plain_text_of_the_other(
    ours: RestQueueService, theirs: QueueServiceClient, queue_name: str
) -> None:
    queue, client = ours.queue(queue_name), theirs.get_queue_client(queue_name)
    await queue.create()

    await queue.send(encode(TEXT.encode(), "none"))
    assert [message.content for message in await taken(client)] == [TEXT]

    # The SDK writes a CR as it is, which XML turns into LF on its way: not ours to keep.
    await client.send_message(TEXT.replace("\r", ""))
    (message,) = await queue.receive(1, 30)
    assert message.text == TEXT.replace("\r", "")


async def test_receipts_pass_from_one_to_the_other(
    ours: RestQueueService, theirs: QueueServiceClient, queue_name: str
) -> None:
    queue = ours.queue(queue_name)
    client = theirs.get_queue_client(queue_name, message_decode_policy=TextBase64DecodePolicy())
    await queue.create()
    await queue.send(encode(b"x", "base64"))

    (message,) = await queue.receive(1, 30)
    updated = await client.update_message(
        message.id, message.pop_receipt, content=encode(b"y", "base64"), visibility_timeout=60
    )
    renewed = await queue.update(message.id, updated.pop_receipt or "", 60)
    await client.delete_message(message.id, renewed.pop_receipt)

    assert list(await queue.receive(1, 30)) == []


async def test_the_sdk_manages_queues(
    theirs: QueueServiceClient, ours: RestQueueService, queue_name: str
) -> None:
    names = [f"{queue_name}-{number}" for number in range(3)]
    for name in names:
        await theirs.create_queue(name, metadata={"kind": "test"})
    client = theirs.get_queue_client(names[0])
    await client.send_message("one", visibility_timeout=60)
    await client.send_message("two")

    listed = [
        (queue.name, queue.metadata)
        async for queue in theirs.list_queues(
            name_starts_with=queue_name, include_metadata=True, results_per_page=2
        )
    ]
    properties = await client.get_queue_properties()
    peeked = await client.peek_messages(max_messages=32)
    await ours.queue(names[0]).create()  # there, with metadata that we do not give
    await client.set_queue_metadata({"kind": "other"})
    await client.clear_messages()

    assert listed == [(name, {"kind": "test"}) for name in names]
    assert properties.approximate_message_count == 2
    assert [(message.content, message.dequeue_count) for message in peeked] == [("two", 0)]
    after = await client.get_queue_properties()
    assert (after.approximate_message_count, after.metadata) == (0, {"kind": "other"})
    for name in names:
        await theirs.delete_queue(name)
    with pytest.raises(ResourceNotFoundError):
        await client.get_queue_properties()


async def test_the_sdk_sees_the_services_own_error_codes(
    theirs: QueueServiceClient, queue_name: str
) -> None:
    client = theirs.get_queue_client(queue_name)
    with pytest.raises(ResourceNotFoundError) as missing:
        await client.send_message("x")
    await client.create_queue(metadata={"a": "1"})
    with pytest.raises(HttpResponseError) as exists:
        await client.create_queue(metadata={"a": "2"})
    sent = await client.send_message("x")
    with pytest.raises(HttpResponseError) as mismatch:
        await client.delete_message(sent.id, "wrong")
    with pytest.raises(HttpResponseError) as large:
        await client.send_message("x" * 65_537)

    codes = [getattr(each.value, "error_code", None) for each in (missing, exists, mismatch, large)]
    assert codes == [
        "QueueNotFound",
        "QueueAlreadyExists",
        "PopReceiptMismatch",
        "RequestBodyTooLarge",
    ]
    await client.delete_message(sent.id, sent.pop_receipt)
