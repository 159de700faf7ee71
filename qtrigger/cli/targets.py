"""Which queue a person means, by its own name or by a function's, and how it is spoken to.

Owns what a project's queues are for, and each one's account and encoding. Makes no request.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

import click

from qtrigger.cli import unread, wiring
from qtrigger.errors import ProjectError
from qtrigger.project.model import FunctionDefinition, Project
from qtrigger.queues.account import Account

TRIGGER, POISON, OUTPUT = "trigger", "poison", "output"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One queue: what it is to the project, and how it is spoken to.

    `functions` are those it triggers, or whose poisoned messages go there, or that write to it,
    as `role` says; () and "" for a queue that the project does not name.
    """

    name: str
    account: Account
    encoding: str
    role: str = ""
    functions: tuple[FunctionDefinition, ...] = ()


def queues_of(project: Project) -> list[Target]:
    """The queues that a project's functions name, each once: triggers, poison queues, outputs.

    Outputs whose names only a message can tell are left out.
    """
    uses: dict[tuple[Account, str], list[tuple[str, FunctionDefinition]]] = {}
    for role in (TRIGGER, POISON, OUTPUT):
        for function in project.functions:
            for account, name in _named(role, function):
                uses.setdefault((account, name), []).append((role, function))
    return [
        Target(
            name=name,
            account=account,
            encoding=_encoding(of_it[0], project),
            role=of_it[0][0],
            functions=tuple(function for role, function in of_it if role == of_it[0][0]),
        )
        for (account, name), of_it in uses.items()
    ]


def find(project: Project, text: str, connection: str | None = None) -> Target:
    """The queue that `text` means: a queue's name, else that of the function's queue.

    A queue that the project does not name is in the account of `connection`, or in that of
    AzureWebJobsStorage. Raises UsageError for what cannot be a queue's name, and ProjectError for
    a connection that cannot be used, or a name that may be that of a function with errors.
    """
    known = [each for each in queues_of(project) if connection is None]
    lowered = text.lower()
    if found := next((each for each in known if each.name == lowered), None):
        return found
    for each in known:
        if each.role == TRIGGER and any(one.name.casefold() == lowered for one in each.functions):
            wiring.note(f"note: {text} is a function here; its queue is {each.name}")
            return each
    if connection is None:
        connection = unread.connection_of(project, lowered)
    name = queue_name(text)
    twin = next((each for each in queues_of(project) if each.name == name), None)
    return Target(
        name=name,
        account=account_of(project, connection),
        encoding=twin.encoding if twin else project.host.queues.message_encoding,
    )


def note_nobody_listens(project: Project, queue: str) -> None:
    """Say so when a name looks like a slip of the pen; sending elsewhere is no error."""
    queues = [each.trigger.queue for each in project.functions]
    if near := difflib.get_close_matches(queue, queues, n=1, cutoff=0.75):
        wiring.note(f"note: no function here listens to {queue}; did you mean {near[0]}?")


def queue_name(text: str) -> str:
    """The name as the service takes it. Raises UsageError with the rule for names."""
    from qtrigger.project.queue_names import RULE, QueueNameError, checked

    try:
        return checked(text)
    except QueueNameError as error:
        raise click.UsageError(f"the queue name {text!r} {error}. Allowed are {RULE}.") from error


def account_of(project: Project, connection: str | None) -> Account:
    """The account that a connection's name means. Raises ProjectError."""
    from qtrigger.project import connections
    from qtrigger.project.findings import Findings
    from qtrigger.project.settings import layered

    settings = layered(project.settings, (), Findings())
    try:
        return connections.resolve(connection or "", settings).account
    except connections.ConnectionUnusable as error:
        raise ProjectError(f"{error}. {error.hint}".rstrip()) from error


def _named(role: str, function: FunctionDefinition) -> Iterator[tuple[Account, str]]:
    match role:
        case "trigger":
            yield function.trigger.account, function.trigger.queue
        case "poison":
            if function.poison_queue:
                yield function.trigger.account, function.poison_queue
        case _:
            for output in function.outputs:
                if output.account is not None and "{" not in output.queue:
                    yield output.account, output.queue


def _encoding(use: tuple[str, FunctionDefinition], project: Project) -> str:
    role, function = use
    return (project.host.queues if role == OUTPUT else function.options).message_encoding
