"""Brings a local queue service when the project wants one and none answers.

Owns when an emulator is started and stopped; what it is and where it comes from is the queues'
business.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from qtrigger.cli import wiring
from qtrigger.clock import Clock
from qtrigger.events import EmulatorReady, EventSink
from qtrigger.project.model import Project
from qtrigger.queues.account import EMULATOR_PORT, Account

if TYPE_CHECKING:
    from qtrigger.queues.azurite import Emulator


Choice = Literal["auto", "azurite", "builtin", "none"]


class LocalEmulator:
    """At most one emulator for each port, started on demand; `choice` none starts nothing."""

    def __init__(
        self, root: Path, choice: Choice, environment: str, clock: Clock, sink: EventSink
    ) -> None:
        self._root = root
        self._choice = choice
        self._development = environment.casefold() == "development"
        self._clock = clock
        self._sink = sink
        self._running: dict[int, Emulator] = {}

    async def ensure(self, project: Project) -> None:
        """See that something answers wherever the project's functions use an emulator.

        Raises EmulatorError when nothing can be brought up.
        """
        if self._choice == "none" or not self._development:
            return
        from qtrigger.cli.progress import waiting
        from qtrigger.queues.azurite import ensure_emulator

        for port in sorted(_ports(project) - self._running.keys()):
            emulator = await ensure_emulator(
                self._root,
                port,
                choice=self._choice,
                progress=wiring.note,
                clock=self._clock,
                waiting=partial(waiting, clock=self._clock),
            )
            self._running[port] = emulator
            self._sink.emit(
                EmulatorReady(
                    description=emulator.description, port=emulator.port, started=emulator.started
                )
            )

    async def stop(self) -> None:
        """Stop what was started here; one that was running before is left alone."""
        for emulator in self._running.values():
            await emulator.stop()
        self._running.clear()


def _ports(project: Project) -> set[int]:
    accounts: list[Account | None] = []
    for function in project.functions:
        if not function.disabled:
            accounts.append(function.trigger.account)
            accounts.extend(output.account for output in function.outputs)
    return {
        urlsplit(account.endpoint).port or EMULATOR_PORT
        for account in accounts
        if account is not None and account.emulator
    }
