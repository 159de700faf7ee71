"""What a source of changes promises to whoever acts on them; and the source that has none.

Owns the promise alone. It must not know how changes are found, nor what becomes of them.
"""

from __future__ import annotations

import asyncio
from typing import Protocol


class ChangeSource(Protocol):
    """Tells which files of one project have changed."""

    async def changed(self) -> frozenset[str]:
        """Wait until files differ from before and were quiet for a spell; their paths.

        Paths are relative to the project, with `/`. Cancelling loses nothing: the next call
        tells what this one would have told. Each change is told once.
        """
        ...

    async def close(self) -> None:
        """Stop watching; may be called twice."""
        ...


class NoChanges:
    """A `ChangeSource` that never has any: for a host that is told not to watch."""

    async def changed(self) -> frozenset[str]:
        """Wait forever; it ends by being cancelled."""
        await asyncio.get_running_loop().create_future()
        return frozenset()  # pragma: no cover - the future has no end

    async def close(self) -> None:
        """Nothing is held."""
