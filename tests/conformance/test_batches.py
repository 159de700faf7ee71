"""Functions that take lists: the run is one, and each message has its own lease, count and end."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import azure.functions as func
import pytest

from qtrigger.assembly import function_spec
from qtrigger.batches import Batch
from qtrigger.errors import AccessDenied
from qtrigger.events import (
    InvocationFinished,
    InvocationStarted,
    MessageHandedBack,
    MessagePoisoned,
    StillRunning,
)
from qtrigger.invocation import Failed, Invocation, Ran, WorkerLost
from qtrigger.project.model import QueueOptions, QueueOutput
from qtrigger.tries import TriesOfAll
from qtrigger.workers.inline import InlineWorker
from tests.unit.harness import PLAIN, Bench, output

FULL = replace(PLAIN, batch_size=32, visibility_timeout_s=20.0)
TRIGGER = {"type": "queueTrigger", "direction": "in", "name": "msgs", "cardinality": "many"}
Messages = list[func.QueueMessage]


class Later(Exception):
    __qtrigger__ = "later"
    delay = 90


class Reject(Exception):
    __qtrigger__ = "reject"
    reason = "no order of ours"


class PartOf(Exception):
    def __init__(self, failed_ids: Any) -> None:
        super().__init__("some of it failed")
        self.failed_ids = failed_ids


class Lists(Bench):
    """A function of the test's that takes lists, called as a worker calls it.

    `lost` are bodies that end the worker under every run on one of them.
    """

    def __init__(
        self,
        main: Callable[..., Any],
        *,
        options: QueueOptions = FULL,
        outputs: tuple[QueueOutput, ...] = (),
        lost: tuple[bytes, ...] = (),
        beside: Bench | None = None,
        tries: TriesOfAll | None = None,
    ) -> None:
        super().__init__(options=options, many=True, outputs=outputs, beside=beside, tries=tries)
        self.lost = lost
        out = [{"type": "queue", "direction": "out", "name": each.name} for each in outputs]
        self.spec = replace(function_spec(self.function), bindings=(TRIGGER, *out))
        self.worker = InlineWorker({"charge": main}, clock=self.clock, root=Path(__file__).parent)

    async def start(self, *texts: str) -> None:
        assert not (await self.worker.start([self.spec])).failures
        await super().start(*texts)

    @property
    def lists(self) -> list[list[bytes]]:
        """The bodies of each run's messages."""
        return [[each.body for each in one.messages] for one in self.invocations]

    def finished(self) -> dict[str, InvocationFinished]:
        """The last end of each message, by its id."""
        return {event.message_id: event for event in self.probe.of(InvocationFinished)}

    def dispositions(self) -> list[str]:
        return [event.disposition for event in self.probe.of(InvocationFinished)]

    def error(self) -> str:
        """The text of the first failure."""
        failures = [event.outcome for event in self.probe.of(InvocationFinished)]
        return next(each.error.message for each in failures if isinstance(each, Failed))

    def times_visible(self) -> list[tuple[str, float]]:
        """The texts on the queue, and in how many seconds each may be received again."""
        now = self.clock.utcnow()
        return [
            (each.text, (each.next_visible - now).total_seconds())
            for each in self.service.peek_all("orders")
        ]

    async def _run(self, invocation: Invocation) -> Ran:
        self.invocations.append(invocation)
        bodies = [each.body for each in invocation.messages]
        if set(bodies) & set(self.lost):
            lost = WorkerLost(how="signal 11", alone=True)
            return Ran(outcomes=(lost,) * len(bodies), duration_s=0.1)
        return await self.worker.invoke(invocation)


def ids_of(messages: Messages, *bodies: bytes) -> list[str]:
    return [str(each.id) for each in messages if each.get_body() in bodies]


def texts(count: int) -> list[str]:
    return [str(number) for number in range(count)]


async def processed(bench: Lists, *bodies: str) -> None:
    """Have those messages run once, and no more than that."""
    await bench.start(*bodies)
    await bench.clock.advance(1.0)
    await bench.stop()


async def test_of_32_with_a_bad_one_and_an_undecodable_one_30_are_deleted() -> None:
    def main(msgs: Messages) -> list[str]:
        return ids_of(msgs, b"bad")

    base64 = replace(FULL, message_encoding="base64")
    bench = Lists(main, options=base64)

    await processed(bench, *["Z29vZA=="] * 20, "YmFk", *["Z29vZA=="] * 10, "no base64!")

    assert [len(each) for each in bench.lists] == [31]
    assert bench.service.requests["delete"] == 31
    assert bench.times_visible() == [("YmFk", 19.0)]
    assert bench.left("orders-poison") == ["no base64!"]
    assert bench.dispositions().count("acked") == 30
    (poisoned,) = bench.probe.of(MessagePoisoned)
    assert poisoned.reason == "undecodable"


async def test_a_function_gets_up_to_batch_size_messages_and_one_is_a_list_too() -> None:
    seen: list[int] = []

    def main(msgs: Messages) -> None:
        seen.append(len(msgs))

    bench = Lists(main, options=replace(FULL, batch_size=4))

    await processed(bench, *texts(9))

    assert sorted(seen) == [1, 4, 4]
    assert bench.left() == []


@pytest.mark.parametrize("given", [list, tuple, set, frozenset])
async def test_only_the_ids_that_are_returned_come_back(given: Callable[..., Any]) -> None:
    bench = Lists(lambda msgs: given(ids_of(msgs, b"1", b"3")))

    await processed(bench, *texts(5))

    assert bench.times_visible() == [("1", 19.0), ("3", 19.0)]
    assert bench.error() == "the function names this message as failed"


async def test_the_messages_themselves_may_be_returned() -> None:
    bench = Lists(lambda msgs: msgs[1:2])

    await processed(bench, *texts(3))

    assert bench.left() == ["1"]


async def test_an_object_with_failed_ids_may_be_returned() -> None:
    bench = Lists(lambda msgs: PartOf(ids_of(msgs, b"2")))

    await processed(bench, *texts(3))

    assert bench.left() == ["2"]


@pytest.mark.parametrize("nothing", [None, [], set()])
async def test_who_names_nobody_has_succeeded_with_all(nothing: Any) -> None:
    bench = Lists(lambda msgs: nothing)

    await processed(bench, *texts(3))

    assert (bench.left(), bench.dispositions()) == ([], ["acked"] * 3)


async def test_who_raises_has_failed_with_all() -> None:
    def main(msgs: Messages) -> None:
        raise ValueError("no")

    bench = Lists(main)

    await processed(bench, *texts(3))

    assert (bench.left(), bench.error()) == (texts(3), "no")
    assert bench.service.requests["delete"] == 0


async def test_only_the_ids_that_an_exception_names_come_back_with_its_error() -> None:
    def main(msgs: Messages) -> None:
        raise PartOf(ids_of(msgs, b"0"))

    bench = Lists(main)

    await processed(bench, *texts(3))

    assert (bench.left(), bench.error()) == (["0"], "some of it failed")


@pytest.mark.parametrize("given", [[], None, 7])
async def test_an_exception_that_names_nobody_fails_all(given: Any) -> None:
    def main(msgs: Messages) -> None:
        raise PartOf(given)

    bench = Lists(main)

    await processed(bench, *texts(3))

    assert bench.left() == texts(3)


SLIPS: Sequence[tuple[Any, str]] = [
    (["nobody"], "it names 'nobody' as failed, which is no id of its messages"),
    ([7], "it names a value of type int as failed"),
    ("0", "returned a str"),
    ({"0": "failed"}, "returned a dict"),
    (True, "returned a bool"),
    ((each for each in "a"), "returned a generator"),
]


@pytest.mark.parametrize(("returned", "words"), SLIPS, ids=[words for _, words in SLIPS])
async def test_a_slip_in_what_is_returned_deletes_nothing_and_is_told(
    returned: Any, words: str
) -> None:
    bench = Lists(lambda msgs: returned)

    await processed(bench, *texts(3))

    assert bench.left() == texts(3)
    assert words in bench.error()


async def test_an_unknown_id_in_an_exception_deletes_nothing_and_is_told() -> None:
    def main(msgs: Messages) -> None:
        raise PartOf([*ids_of(msgs, b"0"), "nobody"])

    bench = Lists(main)

    await processed(bench, *texts(3))

    assert bench.left() == texts(3)
    assert bench.error().startswith("some of it failed; all are taken to have failed: it names")


async def test_bodies_are_no_ids() -> None:
    def main(msgs: list[str]) -> list[str]:
        return ["1"]

    bench = Lists(main)

    await processed(bench, *texts(3))

    assert bench.left() == texts(3)


async def test_elements_may_be_what_a_single_parameter_may_be() -> None:
    seen: list[Any] = []

    def main(
        msgs: list[dict[str, int]], dequeue_count: list[int], queue_trigger: list[str]
    ) -> list[Any]:
        seen.extend([msgs, dequeue_count, queue_trigger])
        return [msgs[1]]

    bench = Lists(main)

    await processed(bench, '{"a": 1}', '{"a": 2}')

    assert seen == [[{"a": 1}, {"a": 2}], [1, 1], ['{"a": 1}', '{"a": 2}']]
    assert bench.left() == ['{"a": 2}']


async def test_a_body_that_cannot_be_read_fails_alone() -> None:
    seen: list[Any] = []

    def main(msgs: list[dict[str, int]], dequeue_count: list[int]) -> None:
        seen.append((msgs, dequeue_count))

    bench = Lists(main)

    await processed(bench, "{}", "no JSON", '{"a": 1}')

    assert seen == [([{}, {"a": 1}], [1, 1])]
    assert bench.left() == ["no JSON"]
    assert "is not JSON" in bench.error()


async def test_a_function_is_not_called_with_nothing() -> None:
    seen: list[Any] = []
    bench = Lists(_takes_dicts(seen))

    await processed(bench, "no JSON", "none either")

    assert (seen, bench.left()) == ([], ["no JSON", "none either"])


def _takes_dicts(seen: list[Any]) -> Callable[..., None]:
    def main(msgs: list[dict[str, int]]) -> None:
        seen.append(msgs)

    return main


async def test_each_message_has_its_own_count_and_goes_to_poison_by_itself() -> None:
    twice = replace(FULL, max_dequeue_count=2, visibility_timeout_s=0.0)
    bench = Lists(_fails_what_begins_with_a_1, options=twice)
    await bench.start("10", "11", "2")

    await bench.clock.advance(30.0)
    await bench.stop()

    assert (bench.left(), sorted(bench.left("orders-poison"))) == ([], ["10", "11"])
    assert {event.dequeue_count for event in bench.probe.of(MessagePoisoned)} == {2}


def _fails_what_begins_with_a_1(msgs: Messages) -> list[str]:
    return [str(each.id) for each in msgs if each.get_body().startswith(b"1")]


async def test_what_has_used_up_its_tries_is_not_in_the_list() -> None:
    once = replace(FULL, max_dequeue_count=1)
    bench = Lists(lambda msgs: None, options=once)
    await bench.queue.create()
    await bench.queue.send("old")
    await bench.queue.receive(1, 1.0)
    await bench.clock.advance(2.0)

    await processed(bench, "new")

    assert (bench.lists, bench.left("orders-poison")) == ([[b"new"]], ["old"])


async def test_a_message_that_waits_long_for_its_refusal_keeps_no_other_waiting() -> None:
    once = replace(FULL, max_dequeue_count=1, message_encoding="base64")
    bench = Lists(lambda msgs: None, options=once)
    bench.service.slow("send", 100.0, queue="orders-poison")
    await bench.queue.create()
    await bench.queue.send("no base64!")
    await bench.queue.send("Z29vZA==")

    await bench.start()
    await bench.clock.advance(1.0)

    assert bench.lists == [[b"good"]]
    await bench.stop()


@pytest.mark.parametrize(("asks", "left"), [(Later, 89.0), (Reject, None)])
async def test_what_a_run_asks_for_by_raising_goes_for_all_of_its_messages(
    asks: type[Exception], left: float | None
) -> None:
    def main(msgs: Messages) -> None:
        raise asks

    bench = Lists(main)

    await processed(bench, *texts(2))

    visible = [] if left is None else [(text, left) for text in texts(2)]
    assert bench.times_visible() == visible
    assert sorted(bench.left("orders-poison")) == ([] if left else texts(2))


async def test_outputs_are_written_once_and_before_any_message_is_deleted() -> None:
    def main(msgs: Messages, done: func.Out[str]) -> list[str]:
        done.set(str(len(msgs)))
        return ids_of(msgs, b"0")

    bench = Lists(main, outputs=(output("done", "done"),))
    bench.service.make("done")

    await processed(bench, *texts(3))

    assert (bench.left("done"), bench.left()) == (["3"], ["0"])
    verbs = bench.service.order("send", "delete")[3:]
    assert verbs == [("send", "done"), ("delete", "orders"), ("delete", "orders")]


async def test_outputs_that_cannot_be_written_fail_all() -> None:
    def main(msgs: Messages, done: func.Out[str]) -> None:
        done.set("x")

    bench = Lists(main, outputs=(output("done", "done"),))
    bench.service.fail("send", AccessDenied("no", status=403), queue="done", times=None)

    await processed(bench, *texts(3))

    assert bench.left() == texts(3)
    assert "output 'done'" in bench.error()


async def test_what_an_exception_leaves_succeeded_has_its_outputs_written() -> None:
    def main(msgs: Messages, done: func.Out[str]) -> None:
        done.set("two")
        raise PartOf(ids_of(msgs, b"0"))

    bench = Lists(main, outputs=(output("done", "done"),))

    await processed(bench, *texts(3))

    assert (bench.left("done"), bench.left()) == (["two"], ["0"])


async def test_a_run_of_which_nothing_succeeded_writes_nothing() -> None:
    def main(msgs: Messages, done: func.Out[str]) -> list[str]:
        done.set("x")
        return [str(each.id) for each in msgs]

    bench = Lists(main, outputs=(output("done", "done"),))

    await processed(bench, *texts(3))

    assert (bench.left("done"), bench.left()) == ([], texts(3))


async def test_with_a_return_binding_the_value_is_the_output_and_failures_are_raised() -> None:
    def main(msgs: Messages) -> str:
        if any(each.get_body() == b"bad" for each in msgs):
            raise PartOf(ids_of(msgs, b"bad"))
        return "done"

    out = output("$return", "done")
    bench = Lists(main, outputs=(out,), options=replace(FULL, batch_size=2))

    await processed(bench, "a", "b", "c", "bad")

    assert (len(bench.left("done")), bench.left()) == (1, ["bad"])


async def test_a_workers_end_under_several_is_no_try_and_each_runs_alone_next() -> None:
    """With one try a message, the innocent would be poison for their neighbour's deed."""
    once = replace(FULL, max_dequeue_count=1, visibility_timeout_s=0.0)
    bench = Lists(lambda msgs: None, options=once, lost=(b"1",))
    await bench.start(*texts(4))

    await bench.clock.advance(10.0)
    await bench.stop()

    assert bench.lists[0] == [b"0", b"1", b"2", b"3"]
    assert sorted(bench.lists[1:]) == [[b"0"], [b"1"], [b"2"], [b"3"]]
    assert [each.alone for each in bench.invocations] == [False] + [True] * 4
    assert (bench.left(), bench.left("orders-poison")) == ([], ["1"])


async def test_one_run_has_one_id_and_each_message_a_start_and_an_end() -> None:
    bench = Lists(lambda msgs: None)

    await processed(bench, *texts(3))

    (run,) = bench.invocations
    assert (run.timeout_s, run.max_dequeue_count) == (1800.0, 5)
    starts, ends = bench.probe.of(InvocationStarted), bench.probe.of(InvocationFinished)
    assert [each.invocation_id for each in starts] == [run.id] * 3
    assert [each.invocation_id for each in ends] == [run.id] * 3
    assert len({each.message_id for each in ends}) == 3


async def test_slots_count_messages_until_the_run_ends() -> None:
    done = asyncio.Event()

    async def main(msgs: Messages) -> None:
        await done.wait()

    bench = Lists(main, options=replace(FULL, batch_size=4, new_batch_threshold=2))
    await bench.start(*texts(9))
    await bench.clock.advance(5.0)

    assert (bench.listener.running, [len(each) for each in bench.lists]) == (4, [4])
    done.set()
    await bench.stop()


async def test_each_lease_is_renewed_while_the_list_runs_and_a_lost_one_drops_alone() -> None:
    done = asyncio.Event()

    async def main(msgs: Messages) -> None:
        await done.wait()

    bench = Lists(main)
    await bench.start(*texts(3))
    await bench.clock.advance(1.0)
    taken = next(each for each in bench.service.peek_all("orders") if each.text == "1")
    await bench.queue.delete(taken.id, taken.pop_receipt)
    await bench.clock.advance(700.0)
    done.set()
    await bench.stop()

    assert (bench.left(), sorted(bench.dispositions())) == ([], ["acked", "acked", "dropped"])


async def test_what_is_cut_short_by_a_stop_comes_back_message_by_message() -> None:
    async def main(msgs: Messages) -> None:
        await asyncio.Event().wait()

    bench = Lists(main)
    await bench.start(*texts(3))
    await bench.clock.advance(1.0)
    bench.listener.stop_polling()
    bench.listener.cancel()
    await bench.clock.run(bench.listener.settled())

    assert [left for _, left in bench.times_visible()] == [0.0] * 3
    assert bench.listener.stranded == 0
    assert bench.worker.running == 0


async def test_what_comes_after_a_stop_is_handed_back_and_runs_in_no_list() -> None:
    bench = Lists(lambda msgs: None)
    bench.service.slow("receive", 5.0)
    await bench.start(*texts(3))
    await bench.clock.advance(1.0)

    await bench.stop()

    assert (bench.lists, len(bench.probe.of(MessageHandedBack))) == ([], 3)
    assert [left for _, left in bench.times_visible()] == [0.0] * 3


async def test_a_long_run_is_told_of_one_of_its_messages() -> None:
    long = asyncio.Event()

    async def main(msgs: Messages) -> None:
        if msgs[0].get_body() == b"long":
            await long.wait()

    bench = Lists(main)
    await bench.start(*texts(96), "long", "long", "long")
    await bench.clock.advance(3600.0)
    long.set()
    await bench.stop()

    told = bench.probe.of(StillRunning)
    runs = [each.id for each in bench.invocations if each.messages[0].body == b"long"]
    assert {event.invocation_id for event in told} == set(runs)
    assert len({event.message_id for event in told}) == len(runs)


async def test_nothing_is_kept_of_batches_that_have_ended_nor_of_empty_answers() -> None:
    gc.collect()
    before = _batches()
    bench = Lists(_fails_what_begins_with_a_1, lost=(b"2",))
    await bench.start(*texts(4))
    await bench.clock.advance(3600.0)

    gc.collect()
    assert _batches() == before
    await bench.stop()


def _batches() -> int:
    return sum(isinstance(each, Batch) for each in gc.get_objects())


async def test_a_message_that_is_given_up_leaves_the_others_their_run() -> None:
    """Each awaits the shared run by itself, so that one way's end is no other's."""
    go, ran = asyncio.Event(), asyncio.Event()

    async def main(msgs: Messages) -> None:
        await go.wait()
        ran.set()

    bench = Lists(main)
    await bench.start(*texts(3))
    await bench.clock.advance(1.0)
    first = bench.invocations[0].messages[0].id
    (task,) = (each for each in asyncio.all_tasks() if each.get_name() == f"charge {first}")
    task.cancel()
    await bench.clock.advance(1.0)
    go.set()
    await bench.clock.advance(1.0)

    assert ran.is_set()
    assert bench.dispositions()[:2] == ["acked", "acked"]
    await bench.stop()
