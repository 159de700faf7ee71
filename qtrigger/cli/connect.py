"""Goes on to the project's queues: which answer, which are there, and what is refused.

Owns which queues a project uses and what for, and what is worth a finding. Takes no message and
changes none: a right that only a change would prove is told as not tried.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from qtrigger.clock import Clock
from qtrigger.errors import AccessDenied, QueueUnavailable
from qtrigger.project.model import (
    FunctionDefinition,
    Problem,
    Project,
    QueueOutput,
    QueueTrigger,
    Severity,
)
from qtrigger.queues import rights, wire
from qtrigger.queues.account import Account, Identity, Sas
from qtrigger.queues.look import Inspected, Look, look_at_each
from qtrigger.queues.sas import lacks
from qtrigger.queues.wire import Operation

# For all queues of one account, tokens and all; accounts are asked side by side.
ACCOUNT_LIMIT_S: Final = 8.0
REQUEST_LIMIT_S: Final = 4.0

TRIGGER, POISON, OUTPUT = "trigger", "poison queue", "output"
_NEEDS: Final = {
    TRIGGER: rights.TAKE,
    POISON: rights.WRITE,
    OUTPUT: rights.WRITE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What a function has a queue for, and where its file says so."""

    role: str
    function: str
    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A queue of the project; `look` is None for one whose name only a message can tell."""

    name: str
    account: Account
    uses: tuple[Use, ...]
    look: Look | None = None

    @property
    def state(self) -> str:
        """`ok`, `missing`, `refused`, `unreachable`, or `unknown` when nobody looked."""
        if self.look is None:
            return "unknown"
        if self.look.failure:
            return "unreachable"
        if self.look.refused:
            return "refused"
        return "ok" if self.look.exists else "missing"

    @property
    def not_tried(self) -> tuple[Operation, ...]:
        """What its uses need and only a change would prove; a key or a SAS tells by itself."""
        if not isinstance(self.account.credential, Identity):
            return ()
        needs = [need for use in self.uses for need in _NEEDS[use.role]]
        if self.state == "missing" and {use.role for use in self.uses} != {TRIGGER}:
            needs.append(wire.CREATE_QUEUE)
        return tuple(dict.fromkeys(needs))


async def look_at(
    project: Project, open_service: Callable[[Account], Inspected], clock: Clock
) -> list[Queue]:
    """Look at each queue of the functions that are not disabled, once."""
    of_account: dict[Account, list[Queue]] = {}
    for queue in _queues(project):
        of_account.setdefault(queue.account, []).append(queue)
    looked = await asyncio.gather(
        *(_look_at_account(queues, open_service, clock) for queues in of_account.values())
    )
    return [queue for queues in looked for queue in queues]


def problems(queues: Sequence[Queue]) -> list[Problem]:
    """What is wrong with the queues; an account that does not answer is told once."""
    found: list[Problem] = []
    silent: set[Account] = set()
    for queue in queues:
        if queue.look and queue.look.failure:
            if queue.account not in silent:
                silent.add(queue.account)
                found.append(_problem(queue, str(queue.look.failure), _silence_hint(queue.account)))
            continue
        found += [_problem(queue, str(denial)) for denial in (queue.look or Look()).refused]
        found += _if_missing(queue)
    return found


def _queues(project: Project) -> list[Queue]:
    uses: dict[tuple[Account, str], list[Use]] = {}
    for function in project.functions:
        for account, queue, use in _uses(function) if not function.disabled else ():
            uses.setdefault((account, queue), []).append(use)
    return [
        Queue(name=name, account=account, uses=tuple(of_it))
        for (account, name), of_it in uses.items()
    ]


def _uses(function: FunctionDefinition) -> Iterator[tuple[Account, str, Use]]:
    trigger = function.trigger
    yield trigger.account, trigger.queue, _use(TRIGGER, function, trigger)
    if poison := function.poison_queue:
        yield trigger.account, poison, _use(POISON, function, trigger)
    for output in function.outputs:
        if output.account is not None:
            yield output.account, output.queue, _use(OUTPUT, function, output)


def _use(role: str, function: FunctionDefinition, binding: QueueTrigger | QueueOutput) -> Use:
    return Use(
        role=role,
        function=function.name,
        file=function.source,
        line=binding.line,
        column=binding.column,
    )


async def _look_at_account(
    queues: Sequence[Queue], open_service: Callable[[Account], Inspected], clock: Clock
) -> list[Queue]:
    account = queues[0].account
    names = [queue.name for queue in queues if "{" not in queue.name]
    looks: dict[str, Look] = {}
    try:
        service = open_service(account)
    except AccessDenied as error:
        looks = dict.fromkeys(names, Look(refused=(error,)))
    else:
        looks = await _looks(names, service, account, clock)
    return [replace(queue, look=looks.get(queue.name)) for queue in queues]


async def _looks(
    names: Sequence[str], service: Inspected, account: Account, clock: Clock
) -> dict[str, Look]:
    try:
        async with clock.timeout(ACCOUNT_LIMIT_S):
            return await look_at_each(names, service) if names else {}
    except TimeoutError:
        who = account.endpoint
        if isinstance(account.credential, Identity):
            who = f"the issuer of tokens for the {account.authentication}, or {who},"
        text = f"{who} did not answer within {ACCOUNT_LIMIT_S:g} s"
        return dict.fromkeys(names, Look(failure=QueueUnavailable(text)))
    finally:
        await service.close()


def _if_missing(queue: Queue) -> Iterator[Problem]:
    if queue.state != "missing":
        return
    missing = f"there is no queue {queue.name!r} in account {queue.account.name}"
    roles = {use.role for use in queue.uses}
    if TRIGGER in roles:
        hint = f"qtrigger send {queue.name} TEXT makes it"
        yield _problem(
            queue, f"{missing}; the function waits for it", hint, severity=Severity.WARNING
        )
    if roles - {TRIGGER} and _cannot_create(queue.account):
        needed = wire.CREATE_QUEUE.permission
        hint = f"make the queue, or a SAS with the permission {needed}"
        yield _problem(
            queue, f"{missing}, and the SAS may not create it", hint, severity=Severity.WARNING
        )


def _cannot_create(account: Account) -> bool:
    credential = account.credential
    return isinstance(credential, Sas) and lacks(credential.token, wire.CREATE_QUEUE)


def _silence_hint(account: Account) -> str:
    return "qtrigger start brings an emulator of its own" if account.emulator else ""


def _problem(
    queue: Queue, message: str, hint: str = "", *, severity: Severity = Severity.ERROR
) -> Problem:
    use = queue.uses[0]
    return Problem(
        severity=severity,
        message=message,
        file=use.file,
        line=use.line,
        column=use.column,
        function=use.function,
        hint=hint,
    )
