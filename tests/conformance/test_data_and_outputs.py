"""What a function is told of its message, and what becomes of what it gives."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from qtrigger.errors import QueueUnavailable
from qtrigger.events import InvocationFinished
from qtrigger.invocation import Failed, Outcome, Output, OutputItem, Succeeded, TriggerMessage
from qtrigger.project.model import QueueOptions
from tests.unit.harness import PLAIN, Bench, Body, output

ONCE = replace(PLAIN, max_dequeue_count=1)


def gives(*bodies: bytes) -> Body:
    async def body(_message: TriggerMessage) -> Outcome:
        items = tuple(OutputItem(body=each) for each in bodies)
        return Succeeded(outputs=(Output(binding="out", items=items),))

    return body


async def written_to(template: str, text: str, options: QueueOptions = ONCE) -> list[str]:
    """The queues that there are after one message, but for its own and its poison queue."""
    bench = Bench(gives(b"1"), options=options, outputs=(output("out", template),))
    await bench.start(text)
    await bench.clock.advance(1.0)
    await bench.stop()
    return [name for name in bench.service.names() if not name.startswith("orders")]


@pytest.mark.parametrize(
    ("template", "queue"),
    [
        ("n-{DequeueCount}", "n-1"),
        ("n-{dequeuecount}", "n-1"),
        ("n-{QueueTrigger}", "n-abc"),
        ("n-{queueTrigger}", "n-abc"),
    ],
)
async def test_metadata_fills_names_whatever_their_case(template: str, queue: str) -> None:
    assert await written_to(template, "abc") == [queue]


@pytest.mark.parametrize("name", ["Id", "InsertionTime", "ExpirationTime", "NextVisibleTime"])
async def test_metadata_is_there_for_every_message(name: str) -> None:
    message = ""

    async def body(given: TriggerMessage) -> Outcome:
        nonlocal message
        facts = {
            "Id": given.id,
            "InsertionTime": given.inserted,
            "ExpirationTime": given.expires,
            "NextVisibleTime": given.next_visible,
        }
        message = str(facts[name])
        return Succeeded()

    bench = Bench(body)
    await bench.start("a")
    await bench.clock.advance(1.0)
    await bench.stop()

    assert message


async def test_a_json_bodys_properties_win_over_the_built_in_names() -> None:
    assert await written_to("n-{id}-{dequeuecount}", '{"Id":"Own","other":2}') == ["n-own-1"]


async def test_a_body_that_is_not_utf_8_has_no_queue_trigger_and_all_the_rest() -> None:
    text = base64.b64encode(b"\xff\x00").decode()
    options = QueueOptions(max_dequeue_count=1)

    assert await written_to("n-{QueueTrigger}", text, options) == []
    assert await written_to("n-{DequeueCount}", text, options) == ["n-1"]


async def test_an_output_queue_is_made_when_it_is_missing_and_once() -> None:
    bench = Bench(gives(b"1", b"2", b"3"), outputs=(output("out", "receipts"),))
    await bench.start("a", "b")

    await bench.clock.advance(1.0)

    assert len(bench.left("receipts")) == 6
    assert bench.service.order("create").count(("create", "receipts")) <= 2
    await bench.stop()


async def test_items_are_written_in_their_order() -> None:
    bodies = [str(n).encode() for n in range(50)]
    bench = Bench(gives(*bodies), outputs=(output("out", "receipts"),))
    await bench.start("a")

    await bench.clock.advance(1.0)

    assert bench.left("receipts") == [str(n) for n in range(50)]
    await bench.stop()


async def test_nothing_given_writes_nothing_and_makes_no_queue() -> None:
    bench = Bench(gives(), outputs=(output("out", "receipts"),))
    await bench.start("a")

    await bench.clock.advance(1.0)

    assert (bench.service.names(), bench.left()) == (["orders"], [])
    await bench.stop()


@pytest.mark.parametrize("encoding", ["base64", "none"])
async def test_an_empty_text_writes_an_empty_message(encoding: str) -> None:
    options = replace(PLAIN, message_encoding=encoding)
    bench = Bench(gives(b""), options=options, outputs=(output("out", "receipts"),))
    await bench.start("")

    await bench.clock.advance(1.0)

    assert bench.left("receipts") == [""]
    await bench.stop()


async def test_message_encoding_holds_for_what_goes_out() -> None:
    bench = Bench(gives(b"\x00\xff"), options=QueueOptions(), outputs=(output("out", "receipts"),))
    await bench.start(base64.b64encode(b"a").decode())

    await bench.clock.advance(1.0)

    assert bench.left("receipts") == ["AP8="]
    await bench.stop()


async def test_throttling_delays_an_output_and_fails_no_run() -> None:
    bench = Bench(gives(b"1", b"2"), outputs=(output("out", "receipts"),))
    busy = QueueUnavailable("busy", status=503, code="ServerBusy")
    bench.service.fail("send", busy, queue="receipts", times=3)
    await bench.start("a")

    await bench.clock.advance(30.0)

    assert bench.left("receipts") == ["1", "2"]
    assert (bench.bodies, bench.left()) == ([b"a"], [])
    await bench.stop()


async def test_an_output_that_cannot_be_written_fails_the_run_and_counts_as_a_try() -> None:
    bench = Bench(gives(b"1"), outputs=(output("out", "receipts"),))
    bench.service.fail("send", QueueUnavailable("down"), queue="receipts", times=None)
    await bench.start("a")

    await bench.clock.advance(120.0)

    ends = bench.probe.of(InvocationFinished)
    assert all(isinstance(end.outcome, Failed) for end in ends)
    assert len(ends) == 5
    assert bench.left("orders-poison") == ["a"]
    await bench.stop()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "its body offers nothing"),
        ("not json", "its body offers nothing (only a JSON object has names"),
        ('{"OrderId":null}', "null counts as missing"),
        (
            '{"Order":1,"Customer":"A5"}',
            "its body offers Order, Customer; on offer besides are Que",
        ),
        ('{"OrderId":"A B"}', 'makes the queue name "out-A B", which'),
    ],
)
async def test_an_output_name_that_cannot_be_filled_fails_the_run_by_the_expressions_name(
    text: str, words: str
) -> None:
    bench = Bench(gives(b"1"), options=ONCE, outputs=(output("out", "out-{OrderId}"),))
    await bench.start(text)

    await bench.clock.advance(1.0)

    (end,) = bench.probe.of(InvocationFinished)
    assert isinstance(end.outcome, Failed)
    assert "{OrderId}" in end.outcome.error.message
    assert words in end.outcome.error.message
    assert bench.left("orders-poison") == [text]
    await bench.stop()
