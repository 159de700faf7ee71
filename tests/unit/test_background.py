"""A defect in a task that nobody awaits is told."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from qtrigger.background import begin
from qtrigger.testing.clock import settle


@pytest.fixture
async def told() -> list[dict[str, Any]]:
    contexts: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, told: contexts.append(told))
    return contexts


async def fails() -> None:
    raise RuntimeError("a defect")


async def waits() -> None:
    await asyncio.Event().wait()


async def test_a_defect_is_told_at_once_and_with_its_name(told: list[dict[str, Any]]) -> None:
    task = begin(fails(), name="end of worker 1")

    await settle()

    (context,) = told
    assert context["message"] == "end of worker 1: a defect"
    assert context["exception"] is task.exception()


async def test_a_cancellation_is_no_defect(told: list[dict[str, Any]]) -> None:
    task = begin(waits(), name="waits")

    task.cancel()
    await asyncio.wait([task])

    assert told == []
