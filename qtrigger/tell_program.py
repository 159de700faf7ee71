"""Tells a program: started for one notice, which it reads from its standard input.

Owns the program's process and what is said of its failure. No shell is between, and its output is
shown only when it fails.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from qtrigger.clock import Clock
from qtrigger.errors import WorkerStartError
from qtrigger.notices import DEADLINE_S, TellingError
from qtrigger.workers.spawn import Process, spawn

SHOWN_LINES: Final = 5
SHOWN_CHARACTERS: Final = 500
_BY_HAND: Final = "start it by hand with such an object on its standard input"


class ProgramTeller:
    """Starts `command` in `folder` for each notice, under the variables `environment`."""

    def __init__(
        self, command: Sequence[str], *, folder: Path, environment: Mapping[str, str], clock: Clock
    ) -> None:
        self._command = tuple(command)
        self._folder = folder
        self._environment = environment
        self._clock = clock

    @property
    def who(self) -> str:
        """See `Teller`."""
        return f"program {self._command[0]}"

    async def tell(self, document: str) -> None:
        """See `Teller`: the program ends with 0, and its whole group with it."""
        output: deque[str] = deque(maxlen=SHOWN_LINES)
        process = Process(self._clock, lambda _stream, line: output.append(line), lambda: None)
        try:
            await spawn(
                self._command,
                cwd=self._folder,
                env=self._environment,
                pass_fds=(),
                process=process,
                stdin=asyncio.subprocess.PIPE,
            )
        except WorkerStartError as error:
            hint = "onPoison.command is a program and its arguments; there is no shell"
            raise TellingError(str(error), hint) from None
        try:
            process.feed(document.encode())
            # The caller's deadline comes first.
            await process.wait(2 * DEADLINE_S)
        finally:
            await process.end()
        if process.how != "exit code 0":
            raise TellingError(f"it ended with {process.how}{_shown(output)}", _BY_HAND)


def _shown(output: Sequence[str]) -> str:
    text = " / ".join(line for line in output if line.strip())
    return f": {text[-SHOWN_CHARACTERS:]}" if text else ""
