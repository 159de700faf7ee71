"""The tutorial, run from top to bottom as it stands: its commands, its files, what it shows."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.docs.blocks import DOCS, Block, blocks
from tests.docs.transcripts import fits, transcript
from tests.e2e.reader import Reader, emulators_account, free_port, move_emulator
from tests.e2e.terminal import INTERRUPT, Terminal, on_terminal

PAGE = DOCS / "tutorial" / "ten-minutes.md"
COLUMNS = 100
# The package is built and installed by tests of its own.
INSTALL = "pipx install ."
# The key stands in the text; this block is what follows it.
STOPS = "…  stopping  Ctrl-C"


class Follower:
    """Somebody who follows the page, with a host in one terminal and commands in another."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._reader = Reader(folder, home=folder)
        self._reader.environ["QTRIGGER_START_EMULATOR"] = "builtin"
        self._stack = stack
        self._host: Terminal | None = None
        self._seen = 0

    def follow(self, block: Block) -> None:
        """Do what a block says, and see that what it shows is so."""
        if block.path:
            (self._reader.root / block.path).write_text(block.text, "utf-8")
        elif block.language == "console":
            for command, shown in transcript(block.text):
                self._type(command, shown)
        elif block.language == "text":
            self._see(block.text)

    def _type(self, command: str, shown: str) -> None:
        if command == INSTALL:
            return
        if command == "qtrigger start":
            on = on_terminal(self._reader, {"NO_COLOR": "1"}, COLUMNS)
            self._host = self._stack.enter_context(on)
            return
        ended = self._reader.run(command)
        assert ended.returncode == 0, ended.stderr
        said = ended.stdout.rstrip("\n")
        assert fits(shown).fullmatch(said), f"$ {command}\n{said}"
        if command.startswith("qtrigger init"):
            made = self._reader.root / command.rsplit(maxsplit=1)[-1]
            move_emulator(made / "local.settings.json", emulators_account(free_port()))

    def _see(self, text: str) -> None:
        assert self._host is not None
        if text.startswith(STOPS):
            self._host.press(INTERRUPT)
        for line in text.splitlines():
            # The terminal wraps what is longer than a line, and ends lines in its own way.
            self._seen = self._host.wait_for_match(fits(line), self._seen)


def test_the_tutorial_works_to_the_letter(tmp_path: Path) -> None:
    with ExitStack() as stack:
        follower = Follower(tmp_path, stack)
        for block in blocks(PAGE):
            follower.follow(block)


@pytest.mark.parametrize("said", ["moved 2", "moved 1\nleft 1"])
def test_what_is_not_shown_does_not_fit(said: str) -> None:
    assert not fits("moved 1").fullmatch(said)
