"""Which poison queues of a project a name means."""

from __future__ import annotations

import click

from qtrigger.cli import targets, unread
from qtrigger.journal import JournalFile
from qtrigger.poison.queues import PoisonQueue, error_words, poison_queues, tries_words
from qtrigger.project.model import Project
from qtrigger.project.queue_names import POISON_SUFFIX

__all__ = ["PoisonQueue", "error_words", "find", "tries_words"]


def find(
    project: Project, journal: JournalFile, name: str | None, connection: str | None = None
) -> list[PoisonQueue]:
    """The poison queues that a name means: its own, its queue's or its function's; None: all.

    With a connection's name, or ending in -poison, a queue that the project does not name will do.
    Raises UsageError for a name that means none, and ProjectError where that is not known.
    """
    known = poison_queues(project, journal)
    if name is None:
        if not known:
            unread.check_found(project)
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
            unread.check_found(project)
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
