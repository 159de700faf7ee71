"""Who is told of the poisoned messages of a function, made from its options.

Owns which teller belongs to which option.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from qtrigger.clock import Clock
from qtrigger.notices import OpenTellers, Teller
from qtrigger.project.model import FunctionDefinition
from qtrigger.tell_program import ProgramTeller


def opener(root: Path, environment: Mapping[str, str], clock: Clock) -> OpenTellers:
    """Return what makes the tellers of a function of the project in `root`."""

    def open_tellers(function: FunctionDefinition) -> Sequence[Teller]:
        wanted, tellers = function.own.on_poison, list[Teller]()
        if wanted and wanted.command:
            tellers.append(
                ProgramTeller(wanted.command, folder=root, environment=environment, clock=clock)
            )
        if wanted and wanted.url:
            # It brings aiohttp, which would cost every other start a third of its time.
            from qtrigger.tell_url import UrlTeller  # noqa: PLC0415

            tellers.append(UrlTeller(wanted.url, clock))
        return tellers

    return open_tellers
