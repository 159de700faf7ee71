"""What users ran into with odd bodies, odd queues and odd neighbours on one queue."""

from __future__ import annotations

import base64
import logging
from dataclasses import replace

import pytest

from qtrigger.events import InvocationFinished, MessagePoisoned
from qtrigger.invocation import Failed, Outcome, Output, OutputItem, Succeeded, TriggerMessage
from qtrigger.project.model import QueueOptions
from qtrigger.telemetry.lines import line_of
from tests.unit.harness import PLAIN, Bench, fail, output

ONCE = replace(PLAIN, max_dequeue_count=1)
HOSTILE = ["<&>\"'", "]]>", "a\r\nb\rc", "\ttab", "\ufffd", "😀", "\u2028"]
FORBIDDEN = ["\x00", "\x01", "\x08", "\x0b", "\x1f", "\ufffe", "\uffff"]


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("body", ["", " ", "   \t "])
@pytest.mark.parametrize("encoding", ["base64", "none", "auto"])
async def test_an_empty_body_and_one_of_spaces_are_delivered_as_such(
    body: str, encoding: str
) -> None:
    bench = Bench(options=replace(PLAIN, message_encoding=encoding))
    await bench.start(body if encoding == "none" else encoded(body))

    await bench.clock.advance(1.0)

    assert (bench.bodies, bench.left()) == ([body.encode()], [])
    await bench.stop()


async def test_hosts_of_different_encodings_on_one_queue_lose_nothing_and_warn() -> None:
    """Whichever takes what it cannot decode says so and keeps the text in the poison queue."""
    strict = Bench(options=QueueOptions(batch_size=1))
    lax = Bench(options=replace(PLAIN, batch_size=1), beside=strict)
    texts = [text for n in range(10) for text in (f"plain {n}", encoded(f"encoded {n}"))]
    await strict.start(*texts)
    await lax.start()

    await strict.clock.advance(60.0)

    poisoned = strict.left("orders-poison")
    ran = [encoded(body.decode()) for body in strict.bodies] + [b.decode() for b in lax.bodies]
    assert sorted(ran + poisoned) == sorted(texts)
    assert strict.bodies
    assert lax.bodies
    told = strict.probe.of(MessagePoisoned)
    assert (len(told), {each.reason for each in told}) == (len(poisoned), {"undecodable"})
    assert all(line_of(each).level == logging.WARNING for each in told)
    assert len(poisoned) > 0
    await strict.stop()
    await lax.stop()


async def test_a_failing_function_on_a_poison_queue_neither_spins_nor_skips_nor_makes_another() -> (
    None
):
    """Each try comes when the lease of the one before ends, however high the count is."""
    bench = Bench(fail, queue="orders-poison", options=replace(PLAIN, max_polling_interval_s=1.0))
    await bench.start("a")

    await bench.clock.advance(6 * 3600.0)

    counts = [run.dequeue_count for run in bench.probe.of(InvocationFinished)]
    assert counts == list(range(1, len(counts) + 1))
    assert 30 <= len(counts) <= 37
    assert bench.service.names() == ["orders-poison"]
    assert bench.left() == ["a"]
    await bench.stop()


async def test_a_function_that_succeeds_on_a_poison_queue_deletes_what_it_looked_at() -> None:
    bench = Bench(queue="orders-poison")
    await bench.start("a")

    await bench.clock.advance(1.0)

    assert (bench.bodies, bench.left()) == ([b"a"], [])
    await bench.stop()


def returning(*texts: str, options: QueueOptions) -> Bench:
    async def body(_message: TriggerMessage) -> Outcome:
        items = tuple(OutputItem(body=text.encode("utf-8", "surrogatepass")) for text in texts)
        return Succeeded(outputs=(Output(binding="out", items=items),))

    return Bench(body, options=options, outputs=(output("out", "receipts"),))


async def test_an_output_of_characters_hostile_to_xml_is_written_as_it_is() -> None:
    bench = returning(*HOSTILE, options=ONCE)
    await bench.start("a")

    await bench.clock.advance(1.0)

    assert bench.left("receipts") == HOSTILE
    await bench.stop()


@pytest.mark.parametrize("char", FORBIDDEN)
async def test_an_output_that_no_message_can_carry_fails_the_run_and_names_the_character(
    char: str,
) -> None:
    """Nothing is half-written, and base64 is named as what carries it."""
    bench = returning("first", f"ab{char}", options=ONCE)
    await bench.start("a")

    await bench.clock.advance(1.0)

    (run,) = bench.probe.of(InvocationFinished)
    assert isinstance(run.outcome, Failed)
    error = run.outcome.error.message
    assert f"output 'out', item 1: the text holds the character U+{ord(char):04X}" in error
    assert "at position 2" in error
    assert "use messageEncoding base64" in error
    assert (bench.left("receipts"), bench.left("orders-poison")) == ([], ["a"])
    await bench.stop()


async def test_base64_carries_every_character() -> None:
    bench = returning(*HOSTILE, *FORBIDDEN, options=QueueOptions())
    await bench.start("")

    await bench.clock.advance(1.0)

    assert bench.left("receipts") == [encoded(text) for text in (*HOSTILE, *FORBIDDEN)]
    await bench.stop()
