"""Functions that take lists, in a real worker process."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from qtrigger.events import UserLog
from qtrigger.invocation import Failed, Interrupted, Invocation, Succeeded, TimedOut, WorkerLost
from tests.integration.workers.support import (
    RETURN,
    TRIGGER,
    Workshop,
    invocation,
    until,
    write_function,
)
from tests.integration.workers.test_decorated import HEAD, pool_of, write

MANY = {**TRIGGER, "cardinality": "many"}
OUT = {"name": "out", "type": "queue", "direction": "out"}

CODE = """
    import logging
    {prefix}def main(msg, context, out, dequeue_count):
        logging.info("%d of %d", len(msg), len(dequeue_count))
        out.set(context.invocation_id)
        return [each for each in msg if each.get_body() == b"bad"]
"""
WAITS = """
    import asyncio, os, time
    {prefix}def main(msg):
        if msg[0].get_body() == b"dies":
            os._exit(3)
        {wait}(60)
"""


def several(*bodies: bytes, function: str = "lists", timeout_s: float | None = None) -> Invocation:
    runs = [invocation(function, body, timeout_s=timeout_s) for body in bodies]
    return replace(runs[0], messages=tuple(each.messages[0] for each in runs))


@pytest.mark.parametrize("prefix", ["", "async "])
async def test_each_message_of_a_run_has_its_own_end(workshop: Workshop, prefix: str) -> None:
    code = CODE.format(prefix=prefix)
    spec = write_function(workshop.root, "lists", code, bindings=[MANY, OUT])
    worker = workshop.make()
    assert not (await worker.start([spec])).failures
    whole = several(b"bad", b"a", b"\x00\xff")

    ran = await worker.invoke(whole)

    failed, first, second = ran.outcomes
    assert isinstance(failed, Failed)
    assert failed.error.type == "FailedInBatch"
    assert failed.error.place.startswith("functions/lists/__init__.py:")
    assert isinstance(first, Succeeded)
    (written,) = first.outputs
    assert [item.body.decode() for item in written.items] == [whole.id]
    assert second == Succeeded()


@pytest.mark.parametrize(("count", "shown"), [(1, "message-"), (2, "")])
async def test_a_line_belongs_to_a_message_only_if_it_is_the_only_one(
    workshop: Workshop, count: int, shown: str
) -> None:
    code = CODE.format(prefix="")
    spec = write_function(workshop.root, "lists", code, bindings=[MANY, OUT])
    worker = workshop.make()
    await worker.start([spec])
    whole = several(*[b"a"] * count)

    await worker.invoke(whole)

    await until(lambda: bool(workshop.probe.of(UserLog)))
    (line,) = workshop.probe.of(UserLog)
    assert (line.message, line.invocation_id) == (f"{count} of {count}", whole.id)
    assert line.message_id.startswith(shown) if shown else line.message_id == ""


async def test_two_hundred_outputs_of_one_list_arrive_in_order(workshop: Workshop) -> None:
    code = "def main(msg): return [each.get_body().decode() for each in msg for _ in range(100)]"
    spec = write_function(workshop.root, "lists", code, bindings=[MANY, RETURN])
    worker = workshop.make()
    await worker.start([spec])

    first, second = (await worker.invoke(several(b"a", b"b"))).outcomes

    assert isinstance(first, Succeeded)
    assert [item.body for item in first.outputs[0].items] == [b"a"] * 100 + [b"b"] * 100
    assert second == Succeeded()


@pytest.mark.parametrize(
    ("prefix", "wait"), [("", "time.sleep"), ("async ", "await asyncio.sleep")]
)
async def test_a_list_over_its_time_has_timed_out_as_a_whole(
    workshop: Workshop, prefix: str, wait: str
) -> None:
    code = WAITS.format(prefix=prefix, wait=wait)
    spec = write_function(workshop.root, "lists", code, bindings=[MANY])
    worker = workshop.make()
    await worker.start([spec])

    ran = await worker.invoke(several(b"a", b"b", timeout_s=0.1))

    assert ran.outcomes == (TimedOut(after_s=0.1),) * 2


async def test_a_stop_interrupts_every_message_of_a_list(workshop: Workshop) -> None:
    code = WAITS.format(prefix="async ", wait="await asyncio.sleep")
    spec = write_function(workshop.root, "lists", code, bindings=[MANY])
    worker = workshop.make()
    await worker.start([spec])
    run = asyncio.create_task(worker.invoke(several(b"a", b"b")))
    await until(lambda: worker.running > 0)

    await worker.stop(0.05)

    assert (await run).outcomes == (Interrupted(),) * 2


async def test_a_worker_that_ends_under_a_list_loses_every_message(workshop: Workshop) -> None:
    code = WAITS.format(prefix="", wait="time.sleep")
    spec = write_function(workshop.root, "lists", code, bindings=[MANY])
    worker = workshop.make()
    await worker.start([spec])

    ran = await worker.invoke(several(b"dies", b"b"))

    assert ran.outcomes == (WorkerLost(how="exit code 3", alone=True),) * 2


@pytest.mark.parametrize("trigger", ["queue_trigger", "generic_trigger"])
@pytest.mark.parametrize("word", ['"many"', "func.Cardinality.MANY"])
async def test_a_decorator_may_ask_for_lists(tmp_path: Path, trigger: str, word: str) -> None:
    words = {
        "queue_trigger": 'arg_name="msgs", queue_name="orders", connection="Store"',
        "generic_trigger": 'arg_name="msgs", type="queueTrigger", queueName="orders"',
    }
    code = (
        f"{HEAD}@app.{trigger}({words[trigger]}, cardinality={word})\n"
        "def lists(msgs): return [len(msgs)]\n"
    )
    write(tmp_path, code)

    async with pool_of(tmp_path) as (pool, project, _):
        assert project.problems == ()
        assert project.functions[0].trigger.many
        ran = await pool.invoke(several(b"a", b"b"))

    errors = [each.error.message for each in ran.outcomes if isinstance(each, Failed)]
    assert errors == ["it names a value of type int as failed, which is no id of its messages"] * 2


async def test_threads_are_no_bound_on_the_messages_of_lists(tmp_path: Path) -> None:
    code = (
        f'{HEAD}@app.queue_trigger(arg_name="msgs", queue_name="orders", connection="Store", '
        'cardinality="many")\ndef lists(msgs): pass\n'
    )
    write(tmp_path, code)
    shop = Workshop(root=tmp_path, env={"PYTHON_THREADPOOL_THREAD_COUNT": "1"})
    try:
        spec = write_function(tmp_path, "lists", "def main(msg): pass", bindings=[MANY])
        single = write_function(tmp_path, "single", "def main(msg): pass")
        loaded = await shop.make().start([spec, single])
    finally:
        await shop.close()

    assert loaded.at_once == {"single": 1}


async def test_host_json_may_ask_for_lists_where_a_decorator_does_not(tmp_path: Path) -> None:
    code = (
        f'{HEAD}@app.queue_trigger(arg_name="msgs", queue_name="orders", connection="Store")\n'
        "def lists(msgs): return [msgs[1]]\n"
    )
    write(tmp_path, code)
    own = '{"functions": {"lists": {"cardinality": "many"}}}'
    (tmp_path / "host.json").write_text(f'{{"version": "2.0", "qtrigger": {own}}}')

    async with pool_of(tmp_path) as (pool, project, _):
        assert project.problems == ()
        ran = await pool.invoke(several(b"a", b"b"))

    first, second = ran.outcomes
    assert first == Succeeded()
    assert isinstance(second, Failed)
