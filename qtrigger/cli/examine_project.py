"""The doctor's look at a project: its interpreter, its files, its ports, queues and clocks.

Owns what of it is worth a warning, and the cures. Takes no message and changes nothing. How long
it may all take is for the caller, who cancels it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from qtrigger.cli import connect, installed
from qtrigger.cli.examined import Examined, State
from qtrigger.clock import Clock
from qtrigger.project.endpoints import is_local
from qtrigger.project.model import Problem, Project, Severity
from qtrigger.queues.account import EMULATOR_PORT, Account
from qtrigger.queues.look import Inspected
from qtrigger.queues.probe import Found, Listening, probe
from qtrigger.workers.interpreter import Interpreter

# Azure Storage refuses a signature that is older.
MOST_SKEW: Final = timedelta(minutes=15)
MUCH_SKEW: Final = timedelta(minutes=1)
WORKERS_NEED: Final = (3, 9)

# Asks a service's clock, by its endpoint.
Skew = Callable[[str], Awaitable[timedelta | None]]


def interpreter(chosen: Interpreter, root: Path, settings: Mapping[str, str]) -> Examined:
    """Whether the Python of the functions can be started, and has what their code imports."""
    asked = installed.ask(chosen, root, installed.worker_environment(settings))
    where = f"{chosen.path} ({chosen.why})"
    if asked.fault:
        return Examined(
            what="functions' Python",
            state=State.FAIL,
            found=f"{where}: {asked.fault}",
            cure="make the environment anew: python3 -m venv --clear .venv",
        )
    found = f"{asked.python}, {where}"
    if tuple(int(part) for part in asked.python.split(".")[:2]) < WORKERS_NEED:
        return Examined(
            what="functions' Python",
            state=State.FAIL,
            found=found,
            cure=f"functions need Python {'.'.join(map(str, WORKERS_NEED))} or newer",
        )
    if not asked.library:
        return Examined(
            what="functions' Python",
            state=State.WARN,
            found=f"{found}, without azure-functions",
            cure=f"{chosen.path} -m pip install azure-functions",
        )
    return Examined(what="functions' Python", found=f"{found}, azure-functions {asked.library}")


def findings(problems: Sequence[Problem]) -> Examined:
    """How many findings the project's files have; `qtrigger check` tells each."""
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    warnings = len(problems) - errors
    found = f"{errors} error{'' if errors == 1 else 's'}, "
    found += f"{warnings} warning{'' if warnings == 1 else 's'}"
    if not problems:
        return Examined(what="project", found=found)
    state = State.FAIL if errors else State.WARN
    return Examined(what="project", state=state, found=found, cure="qtrigger check says each")


def accounts(project: Project) -> tuple[Account, ...]:
    """The accounts of the functions that are not disabled."""
    found: dict[Account, None] = {}
    for function in project.functions:
        if not function.disabled:
            found[function.trigger.account] = None
            found.update({each.account: None for each in function.outputs if each.account})
    return tuple(found)


def emulator_ports(used: Sequence[Account]) -> dict[int, bool]:
    """Ports to look at, and whether the project needs what listens there."""
    ports = {
        urlsplit(account.endpoint).port or EMULATOR_PORT: True
        for account in used
        if account.emulator
    }
    return ports or {EMULATOR_PORT: False}


async def look_at_ports(ports: Iterable[int], clock: Clock, *, limit_s: float) -> dict[int, Found]:
    """What listens on each within `limit_s`."""

    async def look(port: int) -> Found:
        try:
            async with clock.timeout(limit_s):
                return await probe(port, clock)
        except TimeoutError:
            return Found(listening=Listening.SILENT)

    wanted = list(ports)
    return dict(zip(wanted, await asyncio.gather(*map(look, wanted)), strict=True))


def of_port(port: int, found: Found, holder: int, *, needed: bool) -> Examined:
    """What listens where an emulator would; `holder` is the host whose Azurite runs, 0 for none."""
    what = f"port {port}"
    match found.listening:
        case Listening.NOTHING:
            return Examined(what=what, found="free")
        case Listening.QUEUE_SERVICE:
            whose = f"of qtrigger, process {holder}" if holder else "not started by this project"
            return Examined(what=what, found=f"{found.server or 'a queue service'}, {whose}")
        case Listening.SILENT:
            return Examined(
                what=what,
                state=State.FAIL if needed else State.WARN,
                found="held by a program that gives no answer",
                cure="stop it and start again, or give the connection another port by a "
                "QueueEndpoint",
            )
        case Listening.SOMETHING_ELSE:
            return Examined(
                what=what,
                state=State.FAIL if needed else State.WARN,
                found=f"held by {found.server or 'a program that is no queue service'}",
                cure="stop it, or give the connection another port by a QueueEndpoint",
            )


async def connections(
    project: Project,
    on_ports: Mapping[int, Listening],
    open_service: Callable[[Account], Inspected],
    clock: Clock,
) -> list[Examined]:
    """Which accounts answer, and what is refused, as `qtrigger check --connect` sees it.

    An emulator whose port in `on_ports` is free is no failure, since `qtrigger start` brings it;
    where something else has its port, that is told already.
    """
    queues = await connect.look_at(project, open_service, clock)
    listening = {each.account: _emulators(each.account, on_ports) for each in queues}
    asked = [each for each in queues if listening[each.account] in (None, Listening.QUEUE_SERVICE)]
    result = [
        Examined(
            what="connection",
            state=State.FAIL if problem.severity is Severity.ERROR else State.WARN,
            found=problem.message,
            cure=problem.hint or "qtrigger check --connect says more",
        )
        for problem in connect.problems(asked)
    ]
    if Listening.NOTHING in listening.values():
        result.append(
            Examined(what="connection", found="the emulator does not run; qtrigger start brings it")
        )
    good = {each.account for each in asked if each.state in ("ok", "missing")}
    result += [
        Examined(what="connection", found=f"{each.name} answers ({each.authentication})")
        for each in sorted(good, key=lambda each: each.endpoint)
    ]
    return result


async def clocks(used: Sequence[Account], skew: Skew) -> list[Examined]:
    """Whether this machine's clock and the services' agree; local services share ours."""
    places = sorted({each.endpoint for each in used if not is_local(each.endpoint)})
    found = await asyncio.gather(*(skew(place) for place in places))
    return [
        _clock(place, apart)
        for place, apart in zip(places, found, strict=True)
        if apart is not None
    ]


def _clock(place: str, apart: timedelta) -> Examined:
    seconds = int(apart.total_seconds())
    where = urlsplit(place).hostname or place
    if abs(apart) <= timedelta(seconds=1):
        return Examined(what="clock", found=f"agrees with {where}")
    found = f"{abs(seconds)} s {'ahead of' if seconds > 0 else 'behind'} {where}"
    cure = "set the clock by NTP: timedatectl set-ntp true"
    if abs(apart) >= MOST_SKEW:
        return Examined(
            what="clock",
            state=State.FAIL,
            found=f"{found}, which refuses requests from 15 minutes on",
            cure=cure,
        )
    if abs(apart) > MUCH_SKEW:
        return Examined(what="clock", state=State.WARN, found=found, cure=cure)
    return Examined(what="clock", found=found)


def _emulators(account: Account, on_ports: Mapping[int, Listening]) -> Listening | None:
    """What listens where the account's emulator would; None for an account that is none."""
    port = urlsplit(account.endpoint).port or EMULATOR_PORT
    return on_ports.get(port) if account.emulator else None
