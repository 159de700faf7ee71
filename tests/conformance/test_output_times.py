"""How long what is written stays hidden and lives: by its binding, and by the item itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from qtrigger.events import InvocationFinished
from qtrigger.invocation import Failed, Outcome, Output, OutputItem, Succeeded, TriggerMessage
from qtrigger.queues.client import NEVER_EXPIRES_S
from tests.conformance.said import told
from tests.unit.harness import Bench, output
from tests.unit.project.folder import OUTPUT, TRIGGER, ProjectFolder

WEEK_S = 7 * 86_400.0


@pytest.mark.parametrize(
    ("keys", "times"),
    [
        ({}, (None, None)),
        ({"visibilityTimeout": "00:00:30"}, (30.0, None)),
        ({"visibilityTimeout": "00:00:00"}, (0.0, None)),
        ({"timeToLive": "01:00:00"}, (None, 3600.0)),
        ({"timeToLive": "-1"}, (None, NEVER_EXPIRES_S)),
        ({"visibilityTimeout": "7.00:00:00", "timeToLive": "-1"}, (WEEK_S, NEVER_EXPIRES_S)),
        ({"VisibilityTimeout": "00:00:30", "TIMETOLIVE": "00:01:00"}, (30.0, 60.0)),
    ],
    ids=str,
)
def test_an_output_binding_may_say_both_times(
    folder: ProjectFolder, keys: dict[str, str], times: tuple[float | None, float | None]
) -> None:
    folder.function("resize", TRIGGER, {**OUTPUT, **keys})

    (found,) = folder.one().outputs

    assert (found.delay_s, found.ttl_s) == times


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"visibilityTimeout": "8.00:00:00"}, 'from "00:00:00" to "7.00:00:00"'),
        ({"visibilityTimeout": "-1"}, 'from "00:00:00" to "7.00:00:00"'),
        ({"visibilityTimeout": 30}, "if seconds are meant"),
        ({"timeToLive": "00:00:00"}, 'at least "00:00:01", or "-1" for no limit'),
        ({"timeToLive": True}, "must be a duration"),
        (
            {"visibilityTimeout": "00:01:00", "timeToLive": "00:01:00"},
            "visibilityTimeout 00:01:00 is not less than timeToLive 00:01:00",
        ),
    ],
    ids=str,
)
def test_times_that_the_service_does_not_take_are_errors_with_their_place(
    folder: ProjectFolder, keys: dict[str, Any], words: str
) -> None:
    folder.function("resize", TRIGGER, {**OUTPUT, **keys})

    assert told(folder.load(), "functions/resize/function.json:1:", "error:", words)


@pytest.mark.parametrize(
    ("item", "times"),
    [
        ((None, None), (30.0, 3600.0)),
        ((5.0, None), (5.0, 3600.0)),
        ((0.0, 60.0), (0.0, 60.0)),
        ((None, NEVER_EXPIRES_S), (30.0, None)),
    ],
    ids=str,
)
async def test_an_items_own_times_go_before_its_bindings_at_the_service(
    item: tuple[float | None, float | None], times: tuple[float, float | None]
) -> None:
    hidden_s, life_s = times
    bench, at = await written(OutputItem(body=b"x", delay_s=item[0], ttl_s=item[1]))

    (message,) = bench.service.peek_all("receipts")

    assert (message.next_visible - at).total_seconds() == hidden_s
    if life_s is None:
        assert message.expires.year == 9999
    else:
        assert (message.expires - at).total_seconds() == life_s


async def test_a_delay_that_reaches_the_time_to_live_fails_the_run() -> None:
    """The item's delay is good by itself, and not with its binding's time to live."""
    bench, _ = await written(OutputItem(body=b"x", delay_s=3600.5))

    outcome = bench.probe.of(InvocationFinished)[0].outcome
    assert isinstance(outcome, Failed)
    assert "output 'out', item 0: its delay of 3600.5 s is not less than its time to live of" in (
        outcome.error.message
    )
    assert bench.left("receipts") == []


async def written(item: OutputItem) -> tuple[Bench, Any]:
    """A bench whose function wrote that item, and when."""

    async def body(_message: TriggerMessage) -> Outcome:
        return Succeeded(outputs=(Output(binding="out", items=(item,)),))

    binding = replace(output("out", "receipts"), delay_s=30.0, ttl_s=3600.0)
    bench = Bench(body, outputs=(binding,))
    at = bench.clock.utcnow()
    await bench.start("a")
    await bench.probe.wait_for(InvocationFinished)
    await bench.stop()
    return bench, at
