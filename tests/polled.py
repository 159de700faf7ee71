"""`python -m tests.polled PROJECT …`: `qtrigger start` whose project is looked at by polling.

A stand-in for the watching of files, so that reloads are tested with real projects and processes,
whatever finds the changes.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from qtrigger.cli import loop, wiring
from qtrigger.cli.start import StartOptions, run_host
from qtrigger.telemetry.sinks import FanOut, Tally

LOOK_S = 0.01
QUIET_S = 0.1
WATCHED = (".py", ".json", ".txt")

Stamps = Mapping[str, tuple[int, int]]


class Polled:
    """A `ChangeSource` that compares the times and sizes of all files of a small project."""

    def __init__(self, root: Path, sign: Callable[[], None]) -> None:
        self._root = root
        self._sign = sign
        self._told = self._look()

    async def changed(self) -> frozenset[str]:
        """See `ChangeSource`."""
        seen, quiet_s = self._look(), 0.0
        while seen == self._told or quiet_s < QUIET_S:
            await asyncio.sleep(LOOK_S)
            before, seen = seen, self._look()
            if seen != before:
                self._sign()
            quiet_s = quiet_s + LOOK_S if seen == before else 0.0
        names = seen.keys() | self._told.keys()
        changed = frozenset(name for name in names if seen.get(name) != self._told.get(name))
        self._told = seen
        return changed

    async def close(self) -> None:
        """See `ChangeSource`."""

    def _look(self) -> Stamps:
        found = {}
        for folder, _, names in os.walk(self._root):
            for name in names:
                file = Path(folder, name)
                if file.suffix in WATCHED and name != "notes.txt" and "__pycache__" not in folder:
                    try:
                        stat = file.stat()
                    except OSError:
                        continue
                    shown = file.relative_to(self._root).as_posix()
                    found[shown] = (stat.st_mtime_ns, stat.st_size)
        return found


def main() -> int:
    """Run a host as `qtrigger start PROJECT` does."""
    parser = argparse.ArgumentParser()
    parser.add_argument("project", type=Path)
    parser.add_argument("--log-format", default="plain")
    parser.add_argument("--log-level", default="info")
    parser.add_argument("--workers", type=int)
    given = parser.parse_args()
    options = StartOptions(
        root=given.project.resolve(),
        environment="Development",
        functions=(),
        workers=given.workers,
        shutdown_timeout=None,
        exit_when_idle=None,
        emulator="none",
        state=None,
    )
    tally = Tally()
    with wiring.open_sink(given.log_format, given.log_level) as sink:

        def opened(sign: Callable[[], None]) -> Polled:
            return Polled(options.root, sign)

        return loop.run(run_host(options, FanOut(tally, sink), tally, opened))


if __name__ == "__main__":
    sys.exit(main())
