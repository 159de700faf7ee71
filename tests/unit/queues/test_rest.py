"""What the REST client sends, and what it makes of answers that are not as they should be."""

from __future__ import annotations

import pytest

from qtrigger.errors import (
    AccessDenied,
    MessageTooLarge,
    QueueError,
    QueueRejected,
    QueueUnavailable,
)
from qtrigger.queues.account import Account, Sas, emulator_account
from qtrigger.queues.request_counts import NO_ANSWER, RequestCounts
from qtrigger.queues.rest import RestQueueClient, RestQueueService
from qtrigger.queues.transport import NoAnswer, Response, Silence
from qtrigger.testing.clock import ManualClock
from tests.unit.queues.transports import ScriptedTransport, answer

SENT = (
    b"<QueueMessagesList><QueueMessage><MessageId>m1</MessageId></QueueMessage></QueueMessagesList>"
)
PORTAL = Response(status=200, headers={"Content-Type": "text/html"}, body=b"<html>Hi</html>")


def client(*answers: Response | NoAnswer) -> tuple[RestQueueClient, ScriptedTransport]:
    transport = ScriptedTransport(list(answers))
    service = RestQueueService(emulator_account(10001), ManualClock(), transport=transport)
    return service.queue("orders"), transport


async def test_a_receive_asks_for_whole_seconds() -> None:
    queue, transport = client(answer(200, b"<QueueMessagesList/>"))

    await queue.receive(16, 600.9)

    method, target, headers, body = transport.asked[0]
    assert (method, body) == ("GET", b"")
    assert target == ("/devstoreaccount1/orders/messages?numofmessages=16&visibilitytimeout=600")
    assert headers["x-ms-version"] == "2021-12-02"
    assert headers["Authorization"].startswith("SharedKey devstoreaccount1:")
    assert headers["User-Agent"].startswith("qtrigger/")


async def test_a_renewal_carries_no_body_and_escapes_its_receipt() -> None:
    renewed = answer(
        204, x_ms_popreceipt="new", x_ms_time_next_visible="Tue, 01 Dec 2026 03:29:55 GMT"
    )
    queue, transport = client(renewed)

    receipt = await queue.update("1b", "a+b/c=", 600)

    assert receipt.pop_receipt == "new"
    method, target, _, body = transport.asked[0]
    assert (method, body) == ("PUT", b"")
    assert target == (
        "/devstoreaccount1/orders/messages/1b?popreceipt=a%2Bb%2Fc%3D&visibilitytimeout=600"
    )


async def test_times_are_left_out_of_a_send_unless_given() -> None:
    queue, transport = client(answer(201, SENT), answer(201, SENT))

    assert await queue.send("x") == "m1"
    await queue.send("x", delay_s=1.9, ttl_s=-1.0)

    assert transport.asked[0][1] == "/devstoreaccount1/orders/messages"
    assert transport.asked[1][1].endswith("/messages?messagettl=-1&visibilitytimeout=1")


@pytest.mark.parametrize(
    ("text", "kind"), [("x" * 65_537, MessageTooLarge), ("\x00", QueueRejected)]
)
async def test_what_cannot_be_held_is_not_sent(text: str, kind: type[QueueError]) -> None:
    queue, transport = client()

    with pytest.raises(kind):
        await queue.send(text)
    with pytest.raises(kind):
        await queue.update("m", "r", 0, text)

    assert transport.asked == []


async def test_a_page_in_the_way_is_no_queue_service() -> None:
    queue, _ = client(*[PORTAL] * 6)

    for call in (
        queue.receive(1, 30),
        queue.send("x"),
        queue.update("m", "r", 0),
        queue.delete("m", "r"),
        queue.exists(),
        queue.create(),
    ):
        with pytest.raises(QueueUnavailable, match="is no queue service"):
            await call


async def test_a_renewal_without_its_new_receipt_is_unusable() -> None:
    queue, _ = client(answer(204))

    with pytest.raises(QueueUnavailable, match="x-ms-popreceipt"):
        await queue.update("m", "r", 0)


async def test_nothing_is_tried_twice() -> None:
    queue, transport = client(NoAnswer(Silence.BROKEN_OFF, "reset"), answer(503))

    with pytest.raises(QueueUnavailable, match="broke off"):
        await queue.delete("m", "r")
    with pytest.raises(QueueUnavailable, match="503"):
        await queue.delete("m", "r")

    assert len(transport.asked) == 2


async def test_a_queue_with_foreign_metadata_counts_as_made() -> None:
    exists = answer(409, x_ms_error_code="QueueAlreadyExists")
    disabled = answer(409, x_ms_error_code="QueueDisabled")
    queue, _ = client(exists, disabled)

    await queue.create()
    with pytest.raises(QueueRejected):
        await queue.create()


async def test_a_queue_on_its_way_out_does_not_exist() -> None:
    queue, _ = client(
        answer(409, x_ms_error_code="QueueBeingDeleted"),
        answer(200, x_ms_approximate_messages_count="0"),
    )

    assert not await queue.exists()
    assert await queue.exists()


async def test_a_refusal_is_no_answer_to_whether_it_exists() -> None:
    queue, _ = client(answer(403, x_ms_error_code="AuthorizationPermissionMismatch"))

    with pytest.raises(AccessDenied):
        await queue.exists()


async def test_addresses_show_no_secret_and_no_double_slash() -> None:
    account = Account(
        name="acme",
        endpoint="https://acme.queue.core.windows.net/",
        credential=Sas(token="sv=1&sig=s3cret"),
    )
    transport = ScriptedTransport([NoAnswer(Silence.TIMED_OUT, "7 s")])
    service = RestQueueService(account, ManualClock(), transport=transport)
    queue = service.queue("orders")

    with pytest.raises(QueueUnavailable) as silent:
        await queue.delete("m", "r")
    await service.close()

    assert queue.address == "https://acme.queue.core.windows.net/orders"
    assert transport.asked[0][1] == "/orders/messages/m?popreceipt=r&sv=1&sig=s3cret"
    assert "s3cret" not in f"{silent.value} {silent.value!r} {queue!r} {service!r}"
    assert transport.closed


async def test_each_request_is_counted_once_by_what_it_is_for_and_how_it_was_answered() -> None:
    counts = RequestCounts()
    busy = answer(503, x_ms_error_code="ServerBusy")
    transport = ScriptedTransport(
        [
            answer(200, b"<QueueMessagesList/>"),
            answer(200, b"<QueueMessagesList/>"),
            NoAnswer(Silence.BROKEN_OFF),
            busy,
            answer(404, x_ms_error_code="MessageNotFound"),
        ]
    )
    account = emulator_account(10001)
    service = RestQueueService(account, ManualClock(), transport=transport, counts=counts)
    queue = service.queue("orders")

    await queue.receive(16, 600)
    await queue.receive(16, 600)
    for _ in range(2):
        with pytest.raises(QueueUnavailable):
            await queue.receive(16, 600)
    with pytest.raises(QueueError):
        await queue.delete("m", "r")

    assert counts.by_operation_and_status == {
        ("get_messages", 200): 2,
        ("get_messages", NO_ANSWER): 1,
        ("get_messages", 503): 1,
        ("delete_message", 404): 1,
    }
    assert counts.throttled == 1
