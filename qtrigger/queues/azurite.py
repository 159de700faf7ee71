"""A local queue service without a manual step, by rungs.

Owns the choice: one already running is used and never stopped; else Azurite, the project's, the
machine's or our own copy; else the emulator built in. Entry: `ensure_emulator`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from qtrigger.clock import Clock
from qtrigger.errors import EmulatorError
from qtrigger.queues.account import EMULATOR_ACCOUNT, EMULATOR_KEY, Account, emulator_account
from qtrigger.queues.azurite_find import Azurite, Machine, find
from qtrigger.queues.azurite_install import Waiting, install, silently
from qtrigger.queues.azurite_process import (
    READY_TIMEOUT_S,
    AzuriteProcess,
    DataFolder,
    start_azurite,
)
from qtrigger.queues.probe import HOST, Found, Listening, probe

Choice = Literal["auto", "azurite", "builtin"]
Progress = Callable[[str], None]

DATA_FOLDER = ".azurite"

_LOOK_AGAIN_S = 0.1
# On a machine that is short of CPU time, an emulator at work can be quiet for longer than a look.
_PATIENCE_S = 30.0

_START = "qtrigger start --emulator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Emulator:
    """A queue service on loopback. `started` is False for one that was running before us."""

    description: str
    started: bool
    port: int
    ender: Callable[[], Awaitable[None]] | None = None

    async def stop(self) -> None:
        """End it, if it was we who started it. Within seven seconds; harmless twice."""
        if self.ender is not None:
            await self.ender()

    @property
    def account(self) -> Account:
        """The emulator's account at this port."""
        return emulator_account(self.port)

    @property
    def connection_string(self) -> str:
        """The same for other programs, where `UseDevelopmentStorage=true` has the wrong port."""
        return (
            f"DefaultEndpointsProtocol=http;AccountName={EMULATOR_ACCOUNT};"
            f"AccountKey={EMULATOR_KEY};QueueEndpoint={self.account.endpoint};"
        )


async def ensure_emulator(
    project_root: Path,
    port: int,
    *,
    choice: Choice = "auto",
    progress: Progress,
    clock: Clock,
    machine: Machine | None = None,
    waiting: Waiting = silently,
) -> Emulator:
    """See that a queue service answers on loopback's `port` (0: any free one).

    `progress` gets one line for what takes time or deserves a word, and `waiting` is open while an
    installation goes on. Raises EmulatorError when
    something else holds the port, when the chosen emulator cannot be had, or when it does not
    come up; the text says what to do.
    """
    if port and (running := await _running(port, progress, clock)):
        return running
    if choice != "builtin":
        machine = machine or Machine.here()
        try:
            azurite = find(project_root, machine) or await install(
                machine, progress, clock, waiting=waiting
            )
        except EmulatorError as error:
            if choice == "azurite":
                raise
            progress(f"{error}")
        else:
            return await _start(azurite, project_root, port, progress, clock)
    return await _start_builtin(port, progress, clock)


async def _running(port: int, progress: Progress, clock: Clock) -> Emulator | None:
    """What runs at `port` already, looked at once more where it gave no answer."""
    found = await probe(port, clock)
    if found.listening is Listening.SILENT:
        progress(f"port {port} is held and gives no answer yet; waiting up to {_PATIENCE_S:g} s")
        found = await probe(port, clock, answer_s=_PATIENCE_S)
    return _already_there(port, found)


def _already_there(port: int, found: Found) -> Emulator | None:
    match found.listening:
        case Listening.NOTHING:
            return None
        case Listening.QUEUE_SERVICE:
            name = found.server or "it gives no name"
            return Emulator(
                description=f"the emulator already running on {HOST}:{port} ({name})",
                started=False,
                port=port,
            )
        case Listening.SILENT:
            raise EmulatorError(
                f"port {port} of this machine is held by a program that gives no answer; if it is "
                f"an emulator, it hangs: stop it and start again, or give the connection another "
                f"port by a QueueEndpoint, or leave it alone with {_START} none"
            )
        case Listening.SOMETHING_ELSE:
            what = f"{found.server!r}" if found.server else "a program that is no queue service"
            raise EmulatorError(
                f"port {port} of this machine is held by {what}; stop it, or give the connection "
                f"another port by a QueueEndpoint, or leave it alone with {_START} none"
            )


async def _start(
    azurite: Azurite, project_root: Path, port: int, progress: Progress, clock: Clock
) -> Emulator:
    folder = DataFolder(project_root / DATA_FOLDER)
    try:
        claimed = folder.claim()
    except OSError as error:
        raise EmulatorError(f"cannot keep Azurite's data in {folder.path}: {error}") from error
    if not claimed:
        return await _share(folder, port, clock)
    try:
        process = await start_azurite(azurite, port, clock, data=folder.path)
    except EmulatorError as error:
        folder.release()
        # Another program may have taken the port between our look and the start.
        if port and (running := await _running(port, progress, clock)):
            return running
        raise EmulatorError(
            f"{error}. It is {azurite.main}, its log is {folder.path / 'azurite.log'}; "
            f"{_START} builtin does without Azurite"
        ) from error
    except BaseException:
        folder.release()
        raise
    folder.note(port=process.port)
    return Emulator(
        description=f"Azurite on {HOST}:{process.port}, data in {DATA_FOLDER}/",
        started=True,
        port=process.port,
        ender=_ending(process, folder),
    )


async def _share(folder: DataFolder, port: int, clock: Clock) -> Emulator:
    """Use the Azurite that another host of this project runs, or is just starting."""
    deadline = clock.monotonic() + READY_TIMEOUT_S
    while True:
        pid, theirs = folder.holder()
        wanted = port or theirs
        if wanted:
            found = await probe(wanted, clock)
            late = found.listening is Listening.SILENT and clock.monotonic() < deadline
            if not late and (running := _already_there(wanted, found)):
                return running
        if (port and theirs not in (0, port)) or clock.monotonic() >= deadline:
            raise EmulatorError(
                f"{folder.path} is in use by process {pid}, whose Azurite listens on port "
                f"{theirs}; give the connection that port by its QueueEndpoint, or stop that "
                f"process; {_START} builtin does without the folder"
            )
        await clock.sleep(_LOOK_AGAIN_S)


def _ending(process: AzuriteProcess, folder: DataFolder) -> Callable[[], Awaitable[None]]:
    async def end() -> None:
        try:
            await process.stop()
        finally:
            folder.release()

    return end


async def _start_builtin(port: int, progress: Progress, clock: Clock) -> Emulator:
    from qtrigger.queues.emulator.server import BuiltinEmulator  # noqa: PLC0415 - last resort

    emulator = BuiltinEmulator(clock)
    bound = await emulator.start(port)
    progress(
        "using the emulator built into qtrigger: it is not Microsoft's, and its queues end with it"
    )
    return Emulator(
        description=f"built-in emulator on {HOST}:{bound}, in memory",
        started=True,
        port=bound,
        ender=emulator.stop,
    )
