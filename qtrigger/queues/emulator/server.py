"""The life of the built-in emulator: a socket on loopback, and an end.

Owns start and stop; what is answered is `face`'s. Bound to 127.0.0.1 and nothing else, since it
asks for no key. What it holds is gone when it stops.
"""

from __future__ import annotations

from aiohttp import web

from qtrigger.clock import Clock
from qtrigger.errors import EmulatorError
from qtrigger.queues.account import EMULATOR_ACCOUNT
from qtrigger.queues.emulator.face import Face
from qtrigger.queues.memory import MemoryQueueService

HOST = "127.0.0.1"

# For requests under way at the stop; they take microseconds.
_SHUTDOWN_S = 1.0


class BuiltinEmulator:
    """Queues in this process's memory that other programs can reach too.

    `service` is the account behind it, for looking and for scripted faults.
    """

    def __init__(self, clock: Clock) -> None:
        self.service = MemoryQueueService(clock, account=EMULATOR_ACCOUNT)
        self._runner: web.AppRunner | None = None

    async def start(self, port: int) -> int:
        """Listen, and return the port (0 asks for a free one). Raises EmulatorError."""
        runner = web.AppRunner(
            Face(self.service).application(),
            handle_signals=False,
            access_log=None,
            shutdown_timeout=_SHUTDOWN_S,
        )
        await runner.setup()
        try:
            await web.TCPSite(runner, HOST, port).start()
        except OSError as error:
            await runner.cleanup()
            raise EmulatorError(
                f"the built-in queue emulator cannot listen on {HOST}:{port}: {error.strerror}"
            ) from error
        self._runner = runner
        bound: int = runner.addresses[0][1]
        return bound

    async def stop(self) -> None:
        """Stop listening; harmless when it does not."""
        if self._runner is not None:
            runner, self._runner = self._runner, None
            await runner.cleanup()
