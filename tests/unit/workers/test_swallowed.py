"""An exception that asks for something, and that the function itself caught."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import pickle
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from qtrigger import ends
from qtrigger.clock import SystemClock
from qtrigger.invocation import Failed, Outcome, Postponed, Succeeded
from qtrigger.workers.inline import InlineWorker
from qtrigger.workers.worker import FunctionSpec
from tests.integration.workers.support import TRIGGER, invocation, outcome
from tests.unit.harness import definition


class Later(Exception):
    delay = 30


class Reject(Exception):
    def __init__(self, reason: str) -> None:
        self.reason = reason


class Unfit(Reject):
    def __init__(self) -> None:  # and never calls that of its base
        self.reason = "unfit"


Function = Callable[[str], None] | Callable[[str], Awaitable[None]]


async def told_of(function: Function, **trigger: str) -> tuple[Outcome, list[str]]:
    """How a run of the function ended, and the warnings about what it swallowed."""
    told: list[str] = []
    worker = InlineWorker(
        {"charge": function},
        clock=SystemClock(),
        root=Path(__file__).parent,
        notice=lambda _function, kind, text: told.append(text) if "swallowed" in kind else None,
    )
    made = definition("charge", "orders")
    spec = _spec(made.directory, trigger)
    assert (await worker.start([spec])).failures == {}
    return outcome(await worker.invoke(invocation("charge", "x"))), told


def _spec(directory: Path, trigger: Mapping[str, str]) -> FunctionSpec:
    return FunctionSpec(
        name="charge",
        directory=directory,
        script_file=directory / "__init__.py",
        entry_point="main",
        bindings=({**TRIGGER, **trigger},),
        concurrency=1,
    )


def swallow(error: BaseException) -> None:
    try:
        raise error  # noqa: TRY301 - just what the warning is about
    except Exception:  # noqa: BLE001
        pass


@pytest.mark.parametrize("made", [Later, lambda: Reject("old"), Unfit, lambda: ends.Later(1)])
async def test_a_plain_function_that_swallowed_what_it_raised_is_warned(
    made: Callable[[], Exception],
) -> None:
    def main(msg: str) -> None:
        swallow(made())

    ended, told = await told_of(main)

    assert ended == Succeeded()
    (text,) = told
    assert f"raised {type(made()).__name__} and swallowed it" in text
    assert "derive it from BaseException" in text


async def test_an_async_function_and_its_tasks_are_warned() -> None:
    async def part() -> None:
        await asyncio.sleep(0)
        swallow(Later())

    async def main(msg: str) -> None:
        await asyncio.gather(part(), part())

    assert len((await told_of(main))[1]) == 1


async def test_what_is_swallowed_in_a_thread_of_the_run_is_seen() -> None:
    async def main(msg: str) -> None:
        await asyncio.to_thread(swallow, Later())

    async def raises_there(msg: str) -> None:
        await asyncio.to_thread(lambda: swallow(Later()))

    assert len((await told_of(main))[1]) == 1
    assert len((await told_of(raises_there))[1]) == 1


def swallow_not() -> None:
    raise Later


async def test_a_run_that_raised_something_else_instead_is_warned() -> None:
    def main(msg: str) -> None:
        try:
            swallow_not()
        except Exception as error:
            raise ValueError("no") from error

    ended, told = await told_of(main)

    assert isinstance(ended, Failed)
    assert len(told) == 1


async def test_one_that_is_swallowed_before_others_are_made_is_not_forgotten() -> None:
    def main(msg: str) -> None:
        swallow(Later())
        Reject("only made")

    assert len((await told_of(main))[1]) == 1


async def test_one_that_was_only_made_is_no_surprise() -> None:
    def main(msg: str) -> None:
        Later()

    assert await told_of(main) == (Succeeded(), [])


async def test_one_that_is_let_pass_is_no_surprise() -> None:
    def main(msg: str) -> None:
        try:
            raise Later
        except ValueError:
            pass

    assert await told_of(main) == (Postponed(delay_s=30.0), [])


async def test_the_classes_stay_what_they_were() -> None:
    seen: list[Reject] = []

    def main(msg: str) -> None:
        seen.extend([Reject("old"), Unfit(), copy.copy(Reject("old"))])
        seen.append(pickle.loads(pickle.dumps(Reject("old"))))

    await told_of(main)
    await told_of(main)

    assert [each.reason for each in seen] == ["old", "unfit", "old", "old"] * 2
    assert Reject("x").args == ("x",)


@pytest.mark.parametrize("all_failed", [False, True])
async def test_in_a_list_it_is_told_of_whichever_messages_are_said_to_have_failed(
    all_failed: bool,
) -> None:
    def main(msg):  # type: ignore[no-untyped-def]
        with contextlib.suppress(Exception):
            raise Later
        return msg if all_failed else []

    ended, told = await told_of(main, cardinality="many")

    assert isinstance(ended, Failed if all_failed else Succeeded)
    assert len(told) == 1
    assert "raised Later and swallowed it" in told[0]
