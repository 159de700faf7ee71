"""A project's folder as it was seen last, and the rules by which it is looked at.

Owns the looks and what an event is worth. When to look, and what is told, is `folder`'s.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from qtrigger.clock import Clock
from qtrigger.watching.aside import aside
from qtrigger.watching.facts import SOURCES, Facts
from qtrigger.watching.rules import IGNORE_FILE, Rules
from qtrigger.watching.snapshot import Snapshot, differing, take

# The project's folder is gone, as it is for a moment while another one takes its name.
GONE_S: Final = 1.0


class Sight:
    """The project in `root`: `now` is the last look, `facts` are what its files say of watching.

    `read` reads those; None when they say nothing. `polled` is what a look without events is
    compared with.
    """

    def __init__(self, root: Path, read: Callable[[], Facts | None], clock: Clock) -> None:
        self._root = root
        self._read = read
        self._clock = clock
        self.facts = Facts(rules=Rules())
        self.now = Snapshot()
        self.polled = Snapshot()

    @property
    def proof(self) -> Path:
        """The file that is made to see whether its event arrives; it is none of the project's."""
        return self._root / f".qtrigger-listens-{os.getpid()}"

    async def first(self) -> None:
        """Take note of the rules and of the files as they are, without reading all of them."""
        await self.read_rules()
        self.now = await self._look(read=False) or Snapshot()

    async def stamps(self) -> list[tuple[int, int, int] | None]:
        """What tells whether the files that the rules are read from were written."""
        return await aside(self._stamps)

    async def read_rules(self) -> None:
        """Take over what the project's files say of watching, if they can be read."""

        def read() -> Facts:
            found = self._read()
            return self.facts if found is None else found

        self.facts = await aside(read)

    async def look_until_there(self) -> Snapshot:
        """Look at the folder, once it is there, and return what was seen."""
        while (found := await self._look(read=True)) is None:
            await self._clock.sleep(GONE_S)
        return found

    async def _look(self, *, read: bool) -> Snapshot | None:
        now_ns = int(self._clock.utcnow().timestamp() * 1e9)
        rules, before = self.facts.rules, self.now
        return await aside(lambda: take(self._root, rules, before, now_ns=now_ns, read=read))

    def relevant(self, path: str) -> bool:
        """Whether an event is worth a look; called in a thread, on values that are replaced."""
        now, rules = self.now, self.facts.rules
        if path in now.linked or path in now.folders or path == str(self.proof):
            return True
        root = f"{self._root}/"
        if not path.startswith(root):
            return False
        inside = path.removeprefix(root)
        if os.path.isdir(path):  # noqa: PTH112
            return rules.enters(inside)
        whole = os.path.dirname(path) in now.whole  # noqa: PTH120
        return inside == IGNORE_FILE or rules.watches(inside, whole=whole)

    async def differing_from_last_poll(self) -> frozenset[str]:
        """Look at the folder; what differs from `polled`, which this look takes the place of."""
        found = await self._look(read=True)
        if found is None:
            return frozenset()
        before, self.polled = self.polled, found
        return differing(before, found)

    def _stamps(self) -> list[tuple[int, int, int] | None]:
        """What tells whether the files that the rules are read from were written."""
        stamps: list[tuple[int, int, int] | None] = []
        for name in SOURCES:
            try:
                info = (self._root / name).stat()
            except OSError:
                stamps.append(None)
            else:
                stamps.append((info.st_mtime_ns, info.st_ctime_ns, info.st_size))
        return stamps
