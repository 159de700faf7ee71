"""The poison queues of a project, and what is known of a message in one.

Owns whose message a poisoned one was: the text itself does not say, so the journal is asked, and
else the only function that uses the queue.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from qtrigger.journal import FailedTry, JournalFile, PoisonCopy
from qtrigger.poison.body import Body, body_of
from qtrigger.project.model import FunctionDefinition, Project
from qtrigger.queues.account import Account
from qtrigger.queues.client import QueueClient, QueueMessage, WholeQueue


class Clients(Protocol):
    """Clients of queues in several accounts."""

    def named(self, account: Account, name: str) -> WholeQueue:
        """The client of a queue of an account; no request is made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoisonQueue:
    """A poison queue, and the functions whose messages go there (more than one: shared)."""

    name: str
    account: Account
    encoding: str
    functions: tuple[FunctionDefinition, ...]
    journal: JournalFile = field(repr=False)

    @property
    def sources(self) -> tuple[str, ...]:
        """The queues that its messages came from, as far as the project says."""
        return tuple(dict.fromkeys(each.trigger.queue for each in self.functions))

    def copy_of(self, message: QueueMessage) -> PoisonCopy | None:
        """Which message this one is the copy of; None where the journal does not know."""
        return self.journal.copy_of(message.id)

    def last_try(self, message: QueueMessage) -> FailedTry | None:
        """Why it was poisoned; None where the journal does not know."""
        return next(iter(reversed(self.journal.tries_of(message.id))), None)

    def function_of(self, message: QueueMessage) -> str:
        """Whose message it was; "" where that is not known."""
        if len(self.functions) == 1:
            return self.functions[0].name
        copy = self.copy_of(message)
        return copy.function if copy else ""

    def source_of(self, message: QueueMessage) -> str | None:
        """The queue that it came from; None where that is not known."""
        if len(self.sources) == 1:
            return self.sources[0]
        copy = self.copy_of(message)
        return copy.queue if copy and copy.queue != self.name else None

    def encoding_of(self, message: QueueMessage) -> str:
        """What its function decodes it by."""
        if len({each.options.message_encoding for each in self.functions}) < 2:
            return self.encoding
        name = self.function_of(message)
        return next(
            (each.options.message_encoding for each in self.functions if each.name == name),
            self.encoding,
        )

    def body_of(self, message: QueueMessage) -> Body:
        """Its body, decoded as its function does."""
        return body_of(message.text, self.encoding_of(message))


def poison_queues(project: Project, journal: JournalFile) -> list[PoisonQueue]:
    """Those that a project's functions have, each once."""
    functions: dict[tuple[Account, str], list[FunctionDefinition]] = {}
    for each in project.functions:
        if each.poison_queue:
            functions.setdefault((each.trigger.account, each.poison_queue), []).append(each)
    return [
        PoisonQueue(
            name=name,
            account=account,
            encoding=those[0].options.message_encoding,
            functions=tuple(those),
            journal=journal,
        )
        for (account, name), those in functions.items()
    ]


def error_type(tried: FailedTry | None) -> str:
    """The error's type, or what ended the try without one; "" where nothing is known."""
    return "" if tried is None else tried.error_type or tried.outcome


def error_words(tried: FailedTry | None) -> str:
    """`ValueError: no such customer`, or what ended the try without an error; "-" if unknown."""
    if tried is None:
        return "-"
    if not tried.error_type:
        return tried.outcome.replace("_", " ")
    first = next(iter(tried.error_message.splitlines()), "")
    return f"{tried.error_type}: {first}" if first else tried.error_type


def tries_words(tries: Sequence[FailedTry]) -> str:
    """How often it was tried, as far as the journal knows."""
    return str(tries[-1].dequeue_count) if tries else "-"


def route_of(
    queue: PoisonQueue, target: str | None, clients: Clients
) -> Callable[[QueueMessage], QueueClient | None]:
    """Where a message goes back to: `target`, else the queue it came from, None if not known."""

    def route(message: QueueMessage) -> QueueClient | None:
        name = target or queue.source_of(message)
        return None if name is None else clients.named(queue.account, name)

    return route
