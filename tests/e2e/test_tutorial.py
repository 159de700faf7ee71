"""The tutorial, run from top to bottom as it stands: its commands, its files, what it shows."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from qtrigger.queues.account import EMULATOR_ACCOUNT, EMULATOR_KEY
from tests.docs.blocks import DOCS, REPOSITORY, Block, blocks
from tests.docs.transcripts import fits, transcript
from tests.e2e.support import LIMIT_S
from tests.e2e.terminal import INTERRUPT, Terminal, on_terminal

PAGE = DOCS / "tutorial" / "ten-minutes.md"
COLUMNS = 100
# The package is built and installed by tests of its own.
INSTALL = "pipx install ."
# The key stands in the text; this block is what follows it.
STOPS = "…  stopping  Ctrl-C"


class Reader:
    """Somebody who follows the page, with a host in one terminal and commands in another."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        program = folder / "bin" / "qtrigger"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m qtrigger "$@"\n')
        program.chmod(0o755)
        self.root = folder
        self.environ = {
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "PYTHONPATH": str(REPOSITORY),
            "QTRIGGER_START_EMULATOR": "builtin",
        }
        self._stack = stack
        self._host: Terminal | None = None
        self._seen = 0

    def follow(self, block: Block) -> None:
        """Do what a block says, and see that what it shows is so."""
        if block.path:
            (self.root / block.path).write_text(block.text, "utf-8")
        elif block.language == "console":
            for command, shown in transcript(block.text):
                self._type(command, shown)
        elif block.language == "text":
            self._see(block.text)

    def _type(self, command: str, shown: str) -> None:
        if command == INSTALL:
            return
        if command.startswith("cd "):
            self.root /= command.removeprefix("cd ")
        elif command == "qtrigger start":
            self._host = self._stack.enter_context(on_terminal(self, {"NO_COLOR": "1"}, COLUMNS))
        else:
            said = self._run(command)
            assert fits(shown).fullmatch(said.rstrip("\n")), f"$ {command}\n{said}"
            if command.startswith("qtrigger init"):
                self._take_a_port(self.root / command.rsplit(maxsplit=1)[-1])

    def _see(self, text: str) -> None:
        assert self._host is not None
        if text.startswith(STOPS):
            self._host.press(INTERRUPT)
        for line in text.splitlines():
            # The terminal wraps what is longer than a line, and ends lines in its own way.
            self._seen = self._host.wait_for_match(fits(line), self._seen)

    def _run(self, command: str) -> str:
        ended = subprocess.run(
            ["bash", "-c", command],
            cwd=self.root,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def _take_a_port(self, project: Path) -> None:
        """Let the project's emulator be at a port of its own: another test may hold the usual."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        address = f"http://127.0.0.1:{port}/{EMULATOR_ACCOUNT}"
        text = f"AccountName={EMULATOR_ACCOUNT};AccountKey={EMULATOR_KEY};QueueEndpoint={address}"
        settings = project / "local.settings.json"
        settings.write_text(settings.read_text().replace("UseDevelopmentStorage=true", text))


def test_the_tutorial_works_to_the_letter(tmp_path: Path) -> None:
    with ExitStack() as stack:
        reader = Reader(tmp_path, stack)
        for block in blocks(PAGE):
            reader.follow(block)


@pytest.mark.parametrize("said", ["moved 2", "moved 1\nleft 1"])
def test_what_is_not_shown_does_not_fit(said: str) -> None:
    assert not fits("moved 1").fullmatch(said)
