"""What users ran into with outputs: too large, refused by the service, empty."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from qtrigger.errors import AccessDenied
from qtrigger.events import InvocationFinished
from qtrigger.invocation import Failed, Outcome, Output, OutputItem, Succeeded, TriggerMessage
from qtrigger.project.model import QueueOptions
from tests.unit.harness import PLAIN, Bench, Body, output

ONCE = replace(PLAIN, max_dequeue_count=1)
BASE64_ONCE = QueueOptions(max_dequeue_count=1)


def gives(**bodies: bytes) -> Body:
    """One message for each output."""

    async def body(_message: TriggerMessage) -> Outcome:
        return Succeeded(
            outputs=tuple(
                Output(binding=name, items=(OutputItem(body=each),))
                for name, each in bodies.items()
            )
        )

    return body


def error_of(bench: Bench) -> str:
    """What the only run failed with."""
    (run,) = bench.probe.of(InvocationFinished)
    assert isinstance(run.outcome, Failed), run.outcome
    return run.outcome.error.message


@pytest.mark.parametrize(
    ("options", "body"),
    [
        (BASE64_ONCE, b"x" * 49_152),
        (ONCE, b"x" * 65_536),
        (ONCE, b"&" * 20_000),
    ],
    ids=["base64", "plain", "escaped"],
)
async def test_an_output_of_the_largest_size_is_written_whole(
    options: QueueOptions, body: bytes
) -> None:
    """The size counts on the text, and not on what escaping for XML makes of it."""
    bench = Bench(gives(out=body), options=options, outputs=(output("out", "receipts"),))
    await bench.start("")

    await bench.clock.advance(1.0)

    plain = options.message_encoding == "none"
    assert bench.left("receipts") == [body.decode() if plain else base64.b64encode(body).decode()]
    await bench.stop()


@pytest.mark.parametrize(
    ("options", "size", "words"),
    [
        (BASE64_ONCE, 49_153, ("65,540 bytes", "65,536", "base64")),
        (ONCE, 65_537, ("65,537 bytes", "65,536")),
    ],
    ids=["base64", "plain"],
)
async def test_an_output_of_one_byte_more_fails_the_run_with_size_limit_and_encoding(
    options: QueueOptions, size: int, words: tuple[str, ...]
) -> None:
    """Nothing is half-written: the output before it is not there either."""
    bench = Bench(
        gives(first=b"1", out=b"x" * size),
        options=options,
        outputs=(output("first", "firsts"), output("out", "receipts")),
    )
    await bench.start("")

    await bench.clock.advance(1.0)

    error = error_of(bench)
    assert "output 'out', item 0: " in error
    assert all(word in error for word in words), error
    assert (bench.left("firsts"), bench.left("receipts")) == ([], [])
    assert bench.left("orders-poison") == [""]
    await bench.stop()


async def test_an_output_that_may_not_be_written_is_named_with_what_was_written_before_it() -> None:
    """The message comes back, and its next try writes the first output again."""
    bench = Bench(
        gives(first=b"1", second=b"2"),
        options=replace(PLAIN, max_dequeue_count=2),
        outputs=(output("first", "firsts"), output("second", "seconds")),
    )
    denied = AccessDenied("the SAS lacks the permission add (a)")
    bench.service.fail("send", denied, queue="seconds", times=1)
    await bench.start("a")

    await bench.clock.advance(30.0)

    failed, succeeded = bench.probe.of(InvocationFinished)
    assert isinstance(failed.outcome, Failed)
    error = failed.outcome.error.message
    assert "output 'second': could not write to queue 'seconds'" in error
    assert "lacks the permission add" in error
    assert error.endswith("1 of 2 were written before it.")
    assert isinstance(succeeded.outcome, Succeeded)
    assert (bench.left("firsts"), bench.left("seconds")) == (["1", "1"], ["2"])
    assert (bench.left(), bench.left("orders-poison")) == ([], [])
    await bench.stop()


@pytest.mark.parametrize("body", ["", "   "])
@pytest.mark.parametrize("encoding", ["base64", "none"])
async def test_an_empty_output_and_one_of_spaces_are_written_as_such(
    body: str, encoding: str
) -> None:
    options = replace(PLAIN, message_encoding=encoding)
    bench = Bench(gives(out=body.encode()), options=options, outputs=(output("out", "receipts"),))
    await bench.start("")

    await bench.clock.advance(1.0)

    text = base64.b64encode(body.encode()).decode() if encoding == "base64" else body
    assert bench.left("receipts") == [text]
    await bench.stop()
