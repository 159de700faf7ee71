"""What is shown while work goes on that cannot say how far it is."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys

import pytest

from qtrigger.cli.progress import LINE_EVERY_S, waiting
from qtrigger.testing.clock import ManualClock

ON_A_TERMINAL = """
from qtrigger.cli.progress import waiting
from qtrigger.clock import SystemClock

with waiting("installing Azurite", SystemClock()) as tick:
    tick()
"""


async def test_elsewhere_than_on_a_terminal_the_time_is_a_line_every_ten_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = ManualClock()

    with waiting("installing Azurite", clock) as tick:
        for _ in range(25):
            tick()
            await clock.advance(1.0)

    assert capsys.readouterr().err == "installing Azurite … 10 s\ninstalling Azurite … 20 s\n"


async def test_what_is_quick_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    clock = ManualClock()

    with waiting("installing Azurite", clock) as tick:
        await clock.advance(LINE_EVERY_S - 0.1)
        tick()

    assert capsys.readouterr().err == ""


def test_on_a_terminal_it_is_named_with_the_time_and_gone_afterwards() -> None:
    ours, theirs = pty.openpty()
    environ = {**os.environ, "TERM": "xterm"}
    environ.pop("NO_COLOR", None)

    ended = subprocess.run(
        [sys.executable, "-c", ON_A_TERMINAL], stderr=theirs, env=environ, timeout=30, check=False
    )
    os.close(theirs)
    said = b""
    with contextlib.suppress(OSError):  # the other side is closed
        while more := os.read(ours, 65_536):
            said += more
    os.close(ours)

    assert ended.returncode == 0
    assert b"installing Azurite" in said
    assert b"0:00:00" in said
    assert said.rstrip().endswith(b"\x1b[2K")
