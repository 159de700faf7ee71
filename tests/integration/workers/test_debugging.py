"""A debugger may attach to a worker, and to the one after it once the port is free."""

from __future__ import annotations

import logging
import socket
import sys
import types

import pytest

from qtrigger.workers.python import debugging
from tests.integration.workers.support import until


class Debugger(types.ModuleType):
    """Stands where debugpy would, which is the project's own."""

    def __init__(self) -> None:
        super().__init__("debugpy")
        self.listening: list[tuple[str, int]] = []

    def listen(self, address: tuple[str, int]) -> None:
        self.listening.append(address)


@pytest.fixture
def debugger(monkeypatch: pytest.MonkeyPatch) -> Debugger:
    there = Debugger()
    monkeypatch.setitem(sys.modules, "debugpy", there)
    return there


def test_without_a_port_nothing_listens(debugger: Debugger) -> None:
    debugging.listen({}, "python", lambda _level, text: pytest.fail(text))

    assert debugger.listening == []


async def test_a_debugger_attaches_at_once_or_when_the_worker_before_has_ended(
    debugger: Debugger,
) -> None:
    said: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as before:
        port = before.getsockname()[1]
        debugging.listen({debugging.PORT: str(port)}, "python", lambda _, text: said.append(text))
        assert (debugger.listening, len(said)) == ([], 1)

    await until(lambda: len(said) == 2)

    assert debugger.listening == [("127.0.0.1", port)]
    assert f"can attach at 127.0.0.1:{port}" in said[1]


def test_a_debugger_that_is_not_there_is_told_with_the_cure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[tuple[int, str]] = []
    monkeypatch.setitem(sys.modules, "debugpy", None)

    debugging.listen({debugging.PORT: "5678"}, "/x/python", lambda *each: said.append(each))

    ((level, text),) = said
    assert level == logging.ERROR
    assert "/x/python -m pip install debugpy" in text
