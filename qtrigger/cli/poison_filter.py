"""Which poisoned messages a person means: by id, age, words in the body, error, number.

Owns the flags and what each of them takes. Ids may be short, and those of the originals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, TypeVar

import click

from qtrigger.cli.span import Span
from qtrigger.journal import JournalFile
from qtrigger.poison.wanted import Wanted
from qtrigger.queues.client import QueueMessage

F = TypeVar("F", bound=Callable[..., Any])

LEAST_PREFIX: Final = 4
WHOLE_ID: Final = 36

_OPTIONS: Final = (
    click.option(
        "--id",
        "ids",
        multiple=True,
        metavar="ID",
        help="The message with this id or beginning of an id; that of the original will do.",
    ),
    click.option("--older-than", type=Span(), metavar="TIME", help="Poisoned longer ago: 2h, 1d …"),
    click.option("--contains", metavar="TEXT", help="With this text in its body."),
    click.option(
        "--error",
        "errors",
        multiple=True,
        metavar="TYPE",
        help="Whose last try failed with this error, as the journal has it.",
    ),
    click.option("--limit", type=click.IntRange(1), metavar="N", help="No more than so many."),
)


def filter_options(function: F) -> F:
    """Add the flags; the verb passes them to `Filters.of`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a message must be like; everything that is said must hold."""

    ids: tuple[str, ...] = ()
    older_than: timedelta | None = None
    contains: str = ""
    errors: tuple[str, ...] = ()
    limit: int | None = None

    @classmethod
    def of(cls, flags: Mapping[str, Any]) -> Filters:
        """From what `filter_options` read."""
        return cls(
            ids=flags["ids"],
            older_than=flags["older_than"],
            contains=flags["contains"] or "",
            errors=flags["errors"],
            limit=flags["limit"],
        )

    @property
    def selects(self) -> bool:
        """Whether some messages may not be wanted; the number is not asked."""
        return bool(self.ids or self.older_than or self.contains or self.errors)

    def wanted(self, ids: frozenset[str]) -> Wanted:
        """What is wanted; `ids` are whole, see `whole_ids`."""
        return Wanted(
            ids=ids if self.ids else frozenset(),
            older_than=self.older_than,
            contains=self.contains,
            errors=self.errors,
        )


def whole_ids(
    given: Sequence[str], journal: JournalFile, seen: Sequence[QueueMessage]
) -> frozenset[str]:
    """The ids of messages that may stand in a poison queue, for ids that may be short.

    `seen` are the messages that a peek shows. Raises UsageError for a beginning that fits none or
    several.
    """
    return frozenset(each for text in given for each in _whole(text.lower(), journal, seen))


def _whole(text: str, journal: JournalFile, seen: Sequence[QueueMessage]) -> set[str]:
    if len(text) < LEAST_PREFIX:
        raise click.UsageError(f"--id {text}: give {LEAST_PREFIX} characters of it at least")
    found = {each.id for each in seen if each.id.startswith(text)}
    found |= set(journal.ids_like(text))
    # A message and its copy are one to whoever asks.
    copies = {each: journal.copy_of(each) for each in found}
    originals = {copy.message_id if copy else each for each, copy in copies.items()}
    if len(originals) > 1:
        some = ", ".join(sorted(found)[:4])
        raise click.UsageError(f"several ids begin with {text}: {some}; give more of it")
    if not originals:
        if len(text) >= WHOLE_ID:
            return {text}
        raise click.UsageError(
            f"no id that begins with {text} is known here: neither the first 32 messages nor the "
            "journal have it. Give the whole id."
        )
    return found | {copy.poison_id for each in originals for copy in journal.copies_of(each)}
