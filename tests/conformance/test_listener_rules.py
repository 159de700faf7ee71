"""The queue trigger's rules, to the number, on the memory queue under virtual time.

Which test holds which rule, report or test of the reference stands in `index.md`. By theme:

- options: ranges and spellings in `unit/project/test_host_json`; their effect here
- polling: `test_polling`; slots and thresholds in `unit/test_listener`
- the back-off and wake-ups: `test_waits`; the arithmetic in `unit/test_backoff`
- one message from receipt to its end: `test_message`; the table of dispositions in
  `unit/test_decide`
- its lease: `test_renewals`; more in `unit/test_lease`
- poison queues: `test_poison`; names in `unit/project/test_queue_names`
- stopping: `test_stopping`; the ladder of a whole host in `unit/test_host`
- metadata and outputs: `test_data_and_outputs`; the values of metadata in
  `unit/project/test_binding_data`, what code may give in `unit/workers/test_outputs`
- encodings: `unit/queues/test_encoding`; what the service itself does: `contract`,
  with a listener on a real one in `contract/test_listening`
"""

from __future__ import annotations

import asyncio
import base64
from dataclasses import replace
from itertools import pairwise

import pytest

from qtrigger.invocation import Outcome, Succeeded, TriggerMessage
from qtrigger.project.model import QueueOptions
from tests.unit.harness import PLAIN, Bench, fail


async def hangs(_message: TriggerMessage) -> Outcome:
    await asyncio.Event().wait()
    return Succeeded()


def test_the_defaults_are_those_of_the_reference() -> None:
    assert QueueOptions() == QueueOptions(
        batch_size=16,
        new_batch_threshold=8,
        max_polling_interval_s=60.0,
        visibility_timeout_s=0.0,
        max_dequeue_count=5,
        message_encoding="base64",
    )


async def test_by_default_sixteen_messages_are_taken_and_no_more_until_half_have_ended() -> None:
    bench = Bench(hangs)
    await bench.start(*(str(n) for n in range(40)))

    await bench.clock.advance(600.0)

    assert (len(bench.bodies), bench.service.requests["receive"]) == (16, 1)
    bench.listener.stop_polling()
    bench.listener.cancel()


async def test_twenty_four_messages_are_in_processing_at_most_by_default() -> None:
    let_go: list[asyncio.Event] = []

    async def waits(_message: TriggerMessage) -> Outcome:
        let_go.append(asyncio.Event())
        await let_go[-1].wait()
        return Succeeded()

    bench = Bench(waits)
    await bench.start(*(str(n) for n in range(60)))
    await bench.clock.advance(0.0)
    for event in let_go[:8]:
        event.set()
    await bench.clock.advance(60.0)

    assert (bench.most_at_once, bench.listener.running) == (24, 24)
    for _ in range(10):
        for event in let_go:
            event.set()
        await bench.clock.advance(0.0)
    assert (bench.most_at_once, bench.left()) == (24, [])
    await bench.stop()


@pytest.mark.parametrize("batch_size", [1, 5, 32])
async def test_batch_size_is_what_one_request_takes(batch_size: int) -> None:
    bench = Bench(
        hangs, options=replace(PLAIN, batch_size=batch_size, new_batch_threshold=batch_size // 2)
    )
    await bench.start(*(str(n) for n in range(70)))

    await bench.clock.advance(1.0)

    assert len(bench.bodies) == batch_size
    bench.listener.stop_polling()
    bench.listener.cancel()


@pytest.mark.parametrize("limit", [1, 3, 5])
async def test_max_dequeue_count_is_the_number_of_runs_of_a_message_that_always_fails(
    limit: int,
) -> None:
    bench = Bench(fail, options=replace(PLAIN, max_dequeue_count=limit))
    await bench.start("a")

    await bench.clock.advance(60.0)

    assert len(bench.bodies) == limit
    assert (bench.left(), bench.left("orders-poison")) == ([], ["a"])
    await bench.stop()


@pytest.mark.parametrize("pause_s", [1.0, 30.0, 7 * 86_400.0])
async def test_visibility_timeout_is_the_wait_after_a_failure(pause_s: float) -> None:
    bench = Bench(fail, options=replace(PLAIN, visibility_timeout_s=pause_s))
    await bench.queue.create()
    await bench.queue.send("a", ttl_s=-1)
    await bench.start()
    await bench.clock.advance(0.0)

    (hidden,) = bench.service.peek_all("orders")

    assert (hidden.next_visible - hidden.inserted).total_seconds() == pause_s
    await bench.stop()


@pytest.mark.parametrize("interval_s", [0.1, 2.0, 60.0])
async def test_max_polling_interval_is_the_longest_wait_between_polls(interval_s: float) -> None:
    bench = Bench(options=replace(PLAIN, max_polling_interval_s=interval_s))
    await bench.start()

    await bench.clock.advance(1000.0)

    times = bench.service.times("receive")
    gaps = [round(later - earlier, 3) for earlier, later in pairwise(times)]
    assert max(gaps) == gaps[-1] == interval_s
    await bench.stop()


@pytest.mark.parametrize("encoding", ["base64", "none"])
async def test_message_encoding_holds_for_what_comes_in(encoding: str) -> None:
    body = "grüße".encode()
    text = base64.b64encode(body).decode() if encoding == "base64" else body.decode()
    bench = Bench(options=replace(PLAIN, message_encoding=encoding))
    await bench.start(text)

    await bench.clock.advance(1.0)

    assert bench.bodies == [body]
    await bench.stop()
