"""The poison queues of a project, and what is known of a message in one.

Owns which of them a name means, and whose message a poisoned one was: the text itself does not say,
so the journal is asked, and else the only function that uses the queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import click

from qtrigger.cli import bodies, targets
from qtrigger.journal import FailedTry, JournalFile, PoisonCopy
from qtrigger.project.model import FunctionDefinition, Project
from qtrigger.project.queue_names import POISON_SUFFIX
from qtrigger.queues.account import Account
from qtrigger.queues.client import QueueMessage


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

    def body_of(self, message: QueueMessage) -> bodies.Body:
        """Its body, decoded as its function does."""
        return bodies.body_of(message.text, self.encoding_of(message))


def find(
    project: Project, journal: JournalFile, name: str | None, connection: str | None = None
) -> list[PoisonQueue]:
    """The poison queues that a name means: its own, its queue's or its function's; None: all.

    With a connection's name, or ending in -poison, a queue that the project does not name will do.
    Raises UsageError for a name that means none.
    """
    known = _of(project, journal)
    if name is None:
        if not known:
            raise click.UsageError("no function of the project has a poison queue; name a queue")
        return known
    lowered = name.lower()
    if connection is None:
        for found in (
            [each for each in known if each.name == lowered],
            [each for each in known if lowered in each.sources],
            [each for each in known if any(f.name.casefold() == lowered for f in each.functions)],
        ):
            if found:
                return found
        if not lowered.endswith(POISON_SUFFIX):
            names = [*(f.name for each in known for f in each.functions), *(q.name for q in known)]
            there = ", ".join(dict.fromkeys(names)) or "none"
            raise click.UsageError(f"no function or poison queue is called {name!r}; {there}")
    twin = next((each for each in known if each.name == lowered), None)
    return [
        PoisonQueue(
            name=targets.queue_name(name),
            account=targets.account_of(project, connection),
            encoding=twin.encoding if twin else project.host.queues.message_encoding,
            functions=twin.functions if twin else (),
            journal=journal,
        )
    ]


def _of(project: Project, journal: JournalFile) -> list[PoisonQueue]:
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
