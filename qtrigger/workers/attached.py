"""A worker process and the connection to it, which live and end together.

Owns starting both, and reading the two signs of their end, exit and closed connection, as one. It
does not know what the frames mean, nor what runs there.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from qtrigger.clock import Clock
from qtrigger.workers.deadlines import Deadlines
from qtrigger.workers.launch import launch
from qtrigger.workers.link import Link
from qtrigger.workers.memory import PeakMemory, peak_text
from qtrigger.workers.python.wire import Header
from qtrigger.workers.spawn import OnLine, Process


class Attached:
    """Not running before `start`, which is called once.

    `how` says how it ended, in words; known when `wait_over` returns.
    """

    def __init__(
        self,
        clock: Clock,
        deadlines: Deadlines,
        *,
        on_line: OnLine,
        on_frame: Callable[[Header, bytes], None],
    ) -> None:
        self._clock = clock
        self._lag_s = deadlines.last_frames_s
        self._on_line = on_line
        self._on_frame = on_frame
        self._broke = ""  # how it ended when it is not for the process itself to say
        self._broken = asyncio.Event()
        self._closed = asyncio.Event()
        self._process: Process | None = None
        self._link: Link | None = None
        self._peak: PeakMemory | None = None
        self.how = "not started"

    @property
    def started(self) -> bool:
        """Whether there is, or was, a process."""
        return self._process is not None

    @property
    def pid(self) -> int:
        """The process id, 0 before the start."""
        return self._process.pid if self._process is not None else 0

    @property
    def broken(self) -> bool:
        """Whether one of the signs of its end is there."""
        return self._broken.is_set()

    async def start(self, *, interpreter: Path, root: Path, env: Mapping[str, str]) -> None:
        """Bring it up; frames and lines come from here on. Raises WorkerStartError."""
        process = Process(self._clock, self._on_line, self._broken.set)
        ours = await launch(process, interpreter=interpreter, root=root, env=env)
        self._process = process
        _, self._link = await asyncio.get_running_loop().create_connection(
            lambda: Link(self._on_frame, self._on_closed), sock=ours
        )
        # The last step: what looks at it now and then is ended by `wait_over`, which comes next.
        self._peak = PeakMemory(self._clock, process.pid)

    def send(self, header: Mapping[str, Any], blob: bytes = b"") -> None:
        """Send a frame; without effect when nobody is there."""
        if self._link is not None:
            self._link.send(header, blob)

    def invoke(self, request: str, bodies: bytes) -> None:
        """Send a request for a run; without effect when nobody is there."""
        if self._link is not None:
            self._link.invoke(request, bodies)

    async def wait_over(self) -> None:
        """Wait until no frame will come any more; its process may have to be ended then."""
        assert self._process is not None
        await self._broken.wait()
        if self._process.has_exited:
            # What it wrote before its end is still on its way.
            await self._clock.wait(self._closed, self._lag_s)
        elif not self._broke and not await self._process.wait(self._lag_s):
            self._broke = "it closed its connection"
        self.how = self._broke or self._process.how
        peak = peak_text(*self._peak.end()) if self._peak is not None else "unknown"
        if self._process.was_killed and not self._broke:
            self.how += f", peak memory {peak}"

    async def wait_exit(self, timeout_s: float) -> None:
        """Wait until its process has ended by itself, at most `timeout_s` seconds."""
        if self._process is not None:
            await self._process.wait(timeout_s)

    async def end(self) -> None:
        """End its process for certain; see `Process.end`."""
        if self._process is not None:
            await self._process.end()

    def show_stacks(self) -> None:
        """Have the process write its threads' stacks to its standard error."""
        if self._process is not None:
            self._process.send_signal(signal.SIGUSR1)

    def close(self) -> None:
        """Close the connection."""
        if self._link is not None:
            self._link.close()

    def _on_closed(self, broke: str) -> None:
        self._broke = broke
        self._closed.set()
        self._broken.set()
