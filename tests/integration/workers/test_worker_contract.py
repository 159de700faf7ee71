"""What every `Worker` must do, held against the process and the in-process fake alike."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qtrigger.clock import SystemClock
from qtrigger.invocation import (
    ErrorDetail,
    Failed,
    Interrupted,
    Outcome,
    Postponed,
    Rejected,
    Retrial,
    Succeeded,
    TimedOut,
)
from qtrigger.trace_context import TraceContext
from qtrigger.workers.inline import InlineWorker
from qtrigger.workers.worker import Worker
from tests.integration.workers.support import (
    CONTRACT,
    Workshop,
    failure,
    invocation,
    outcome,
    returned,
    specs_of,
    until,
    written,
)


def _main_of(file: Path) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location(f"contract_{file.parent.name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    main: Callable[..., Any] = module.main
    return main


@pytest.fixture(params=["inline", "process"])
async def worker(request: pytest.FixtureRequest) -> AsyncIterator[Worker]:
    made: Worker
    specs = specs_of(CONTRACT)
    if request.param == "process":
        made = Workshop(root=CONTRACT).make()
    else:
        functions = {spec.name: _main_of(spec.script_file) for spec in specs}
        made = InlineWorker(functions, clock=SystemClock(), root=CONTRACT)
    loaded = await made.start(specs)
    assert loaded.failures == {}
    yield made
    await made.stop(0.0)


async def test_a_run_gives_back_what_the_function_returned(worker: Worker) -> None:
    ran = await worker.invoke(invocation("echo", b"\x00\xff"))

    assert returned(ran) == [b"\x00\xff"]
    assert ran.duration_s >= 0
    assert worker.running == 0


async def test_an_async_function_runs_like_a_plain_one(worker: Worker) -> None:
    assert returned(await worker.invoke(invocation("echo_async", "grüße"))) == ["grüße".encode()]


async def test_a_function_sees_the_messages_properties_and_its_context(worker: Worker) -> None:
    asked = invocation("properties", "text")

    (body,) = returned(await worker.invoke(asked))

    assert json.loads(body) == {
        "id": asked.messages[0].id,
        "body": "text",
        "dequeue_count": 2,
        "insertion_time": "2026-12-01T10:00:00.123456+00:00",
        "expiration_time": "9999-12-31T23:59:59.999999+00:00",
        "time_next_visible": "2026-12-01T10:00:00.123456+00:00",
        "pop_receipt": "receipt",
        "invocation_id": asked.id,
        "function_name": "properties",
        "function_directory": str(CONTRACT / "functions" / "properties"),
        "max_dequeue_count": [5, 5],
        "trace": ["", "", {}, "", "", {}],
        "retry": [0, 0, None, None],
        "thread_invocation_id": asked.id,
    }


class Followed:
    """The trace of a run, as whoever traces would give it."""

    context = TraceContext(parent="00-" + "a" * 32 + "-" + "b" * 16 + "-01", state="k=v")

    def ended(self, outcome: Outcome, disposition: str, retries: int = 0) -> None:
        """Nothing is made of it."""

    def close(self) -> None:
        """Nothing either."""


async def test_a_function_sees_its_place_in_a_trace(worker: Worker) -> None:
    asked = replace(invocation("properties", "text"), trace=Followed())

    (body,) = returned(await worker.invoke(asked))

    parent, state = Followed.context.parent, Followed.context.state
    assert json.loads(body)["trace"] == [parent, state, {}, parent, state, {}]


class Hand:
    """A message in hand that remembers what its runs left."""

    def __init__(self) -> None:
        self.left: list[bytes] = []

    @property
    def latest(self) -> bytes | None:
        return self.left[-1] if self.left else None

    def checkpoint(self, body: bytes) -> None:
        self.left.append(body)


async def test_what_a_run_leaves_for_its_next_try_is_here_before_its_end(worker: Worker) -> None:
    hand = Hand()

    refused = returned(await worker.invoke(replace(invocation("checkpoints"), next_try=hand)))

    assert hand.left == [b"one", b"\x00two"]
    assert [b"not int" in refused[0], b"49,153 bytes" in refused[1], b"UTF-8" in refused[2]] == (
        [True] * 3
    )


async def test_a_checkpoint_where_no_next_try_can_be_has_no_effect(worker: Worker) -> None:
    assert len(returned(await worker.invoke(invocation("checkpoints")))) == 3


async def test_a_json_body_becomes_what_the_annotation_says(worker: Worker) -> None:
    text = '{"number": 7, "items": [{"name": "pen", "price": 2}], "unknown": true}'
    asked = invocation("order", text)

    (body,) = returned(await worker.invoke(asked))

    assert json.loads(body) == {
        "order": {"number": 7, "items": [{"name": "pen", "price": 2.0, "note": None}]},
        "id": asked.messages[0].id,
        "dequeue_count": [2, 5],
        "insertion_time": "2026-12-01T10:00:00.123456+00:00",
        "body": text,
    }


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ('{"number": "pa55word"}', "not fit Order, which the function takes: number: a whole numb"),
        ('{"number": pa55word}', "not JSON, and the function takes Order: Expecting value at line"),
    ],
)
async def test_a_body_that_does_not_fit_fails_its_own_run_and_is_not_shown(
    worker: Worker, body: str, why: str
) -> None:
    error = failure(await worker.invoke(invocation("order", body))).error

    assert error.type == "InputError"
    assert why in error.message
    assert error.place.startswith("functions/order/__init__.py:")
    assert "pa55word" not in repr(error)


async def test_outputs_keep_their_order_and_the_last_value_set_wins(worker: Worker) -> None:
    ran = await worker.invoke(invocation("outputs", "you"))

    assert written(ran) == {"first": [b"overwritten by you"], "second": [b"one", b"two"]}


async def test_a_failure_has_type_text_place_and_only_user_frames(worker: Worker) -> None:
    error = failure(await worker.invoke(invocation("ends", "error"))).error

    assert (error.type, error.message) == ("ValueError", "wrong colour")
    assert error.place.startswith("functions/ends/__init__.py:")
    assert "in deeper" in error.traceback
    assert error.traceback.endswith("ValueError: wrong colour\n")
    assert "workers/python" not in error.traceback


@pytest.mark.parametrize(
    ("retry", "seen"),
    [
        (None, [0, 0, None]),
        (Retrial(count=0, most=3), [0, 3, None]),
        (Retrial(count=2, most=-1, error=ErrorDetail(type="E", message="no")), [2, -1, "no"]),
    ],
)
async def test_a_function_sees_which_retry_it_is_and_how_the_run_before_failed(
    worker: Worker, retry: Retrial | None, seen: list[object]
) -> None:
    (body,) = returned(await worker.invoke(replace(invocation("retried"), retry=retry)))

    assert json.loads(body.removeprefix(b"seen ")) == seen


@pytest.mark.parametrize("function", ["ends", "ends_async"])
@pytest.mark.parametrize(
    ("how", "kind", "text"),
    [
        ("exit", "SystemExit", "sys.exit(3)"),
        ("interrupt", "KeyboardInterrupt", "raised KeyboardInterrupt"),
        ("generator exit", "GeneratorExit", ""),
        ("cancelled", "CancelledError", ""),
    ],
)
async def test_whatever_user_code_raises_fails_its_run_alone(
    worker: Worker, function: str, how: str, kind: str, text: str
) -> None:
    error = failure(await worker.invoke(invocation(function, how))).error

    assert error.type == kind
    assert text in error.message
    assert returned(await worker.invoke(invocation("echo", b"still here"))) == [b"still here"]


async def test_stop_iteration_fails_the_run(worker: Worker) -> None:
    assert failure(await worker.invoke(invocation("ends", "stop iteration"))).error.type in (
        "StopIteration",
        "RuntimeError",
    )
    assert failure(await worker.invoke(invocation("ends_async", "stop iteration"))).error.type == (
        "RuntimeError"
    )


async def test_an_exception_without_a_text_still_fails_the_run(worker: Worker) -> None:
    error = failure(await worker.invoke(invocation("ends", "unprintable"))).error

    assert error.type == "Unprintable"
    assert "__str__ raised RuntimeError" in error.message


async def test_a_body_that_is_not_utf8_fails_a_function_that_takes_str(worker: Worker) -> None:
    error = failure(await worker.invoke(invocation("ends", b"\xc7\xc7"))).error

    assert "not UTF-8 at byte 0" in error.message


async def test_a_delay_that_cannot_be_fails_the_run_where_it_was_raised(worker: Worker) -> None:
    error = failure(await worker.invoke(invocation("ends", "never"))).error

    assert (error.type, error.message) == (
        "Later",
        "the function raised Later with a delay of inf s, which is not from 0 to 7 days",
    )
    assert error.place.startswith("functions/ends/__init__.py:")


async def test_a_marked_later_postpones(worker: Worker) -> None:
    assert outcome(await worker.invoke(invocation("ends", "later"))) == Postponed(delay_s=90.0)


async def test_an_exception_derived_from_a_marked_reject_rejects(worker: Worker) -> None:
    ran = await worker.invoke(invocation("ends", "reject"))

    assert outcome(ran) == Rejected(reason="no such order")


@pytest.mark.parametrize("what", ["generator", "coroutine"])
async def test_code_that_never_ran_is_a_failure(worker: Worker, what: str) -> None:
    assert what in failure(await worker.invoke(invocation("ends", what))).error.message


async def test_a_value_without_a_return_binding_is_dropped(worker: Worker) -> None:
    assert outcome(await worker.invoke(invocation("ends", "value"))) == Succeeded()


async def test_an_async_function_over_its_time_is_cancelled(worker: Worker) -> None:
    ran = await worker.invoke(invocation("forever", timeout_s=0.05))

    assert outcome(ran) == TimedOut(after_s=0.05)
    assert worker.running == 0


async def test_one_that_swallows_the_cancellation_has_timed_out_all_the_same(
    worker: Worker,
) -> None:
    ran = await worker.invoke(invocation("forever", "stubborn", timeout_s=0.05))

    assert outcome(ran) == TimedOut(after_s=0.05)


async def test_a_result_of_megabytes_arrives_whole(worker: Worker) -> None:
    bodies = returned(await worker.invoke(invocation("big", "200")))

    assert len(bodies) == 200
    assert set(bodies) == {b"x" * 50_000}


async def test_many_runs_at_once_get_their_own_answers(worker: Worker) -> None:
    bodies = [str(number) for number in range(300)]

    runs = [
        worker.invoke(invocation("echo_async" if int(body) % 2 else "echo", body))
        for body in bodies
    ]
    ran = await asyncio.gather(*runs)

    assert [returned(one) for one in ran] == [[body.encode()] for body in bodies]


async def test_several_messages_at_once_fail_each_of_them(worker: Worker) -> None:
    (one,) = invocation("echo").messages

    ran = await worker.invoke(replace(invocation("echo"), messages=(one, one)))

    texts = [end.error.message for end in ran.outcomes if isinstance(end, Failed)]
    assert texts == ["echo takes one message at a time"] * 2


async def test_what_still_runs_when_the_grace_is_over_was_interrupted(worker: Worker) -> None:
    run = asyncio.create_task(worker.invoke(invocation("forever")))
    await until(lambda: worker.running > 0)

    await worker.stop(0.05)

    assert outcome(await run) == Interrupted()


async def test_a_stopped_worker_interrupts_what_comes_later(worker: Worker) -> None:
    await worker.stop(0.0)
    await worker.stop(0.0)

    assert outcome(await worker.invoke(invocation("echo"))) == Interrupted()
