"""`qtrigger poison`: list, show, requeue, purge and export poisoned messages."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from qtrigger.cli import poison_filter
from qtrigger.cli.listing import format_option
from qtrigger.cli.poison_export import export
from qtrigger.cli.poison_filter import Filters
from qtrigger.cli.poison_moves import purge, requeue
from qtrigger.cli.poison_setting import Setting, shared_options

EPILOG = """\b
Examples:
  qtrigger poison list
  qtrigger poison show 8f3a21c0
  qtrigger poison requeue charge --older-than 1h --rate 50/s --yes
  qtrigger poison purge charge --contains '"test": true' --yes
  qtrigger poison export charge --out charge.jsonl
"""


@click.group(short_help="List, show, requeue, purge or export poisoned messages.", epilog=EPILOG)
def poison() -> None:
    """Look after messages whose tries were used up, in the poison queues of a project.

    NAME is a function, its queue, or the poison queue itself; without it, all poison queues of the
    project. ID may be the beginning of an id, as log lines have it, and that of the message before
    it was poisoned.
    """


@poison.command("list", short_help="List the first 32 messages of each poison queue.")
@click.argument("name", required=False)
@poison_filter.filter_options
@format_option
@shared_options
def list_(name: str | None, form: str, **flags: Any) -> None:
    """List poisoned messages of NAME, and why each failed; nothing is taken.

    A queue shows no more than its first 32 messages. Exit codes: 0 listed, 3 the project
    cannot be read, 4 the service cannot be
    reached or refuses.
    """
    from qtrigger.cli.poison_list import list_poisoned, peek_at

    setting = Setting(name, flags)
    peeked = asyncio.run(peek_at(setting.queues))
    list_poisoned(peeked, Filters.of(flags), setting.journal, form)
    setting.tell_journal()


@poison.command("show", short_help="Show one message: its body and each failed try.")
@click.argument("message_id", metavar="ID")
@format_option
@shared_options
def show(message_id: str, form: str, **flags: Any) -> None:
    """Show the body of the message ID, and every failed try with its traceback and log lines.

    Exit codes: 0 shown, 2 there is no such message, 3 the project cannot be read, 4 the
    service cannot be reached or refuses.
    """
    from qtrigger.cli.poison_list import peek_at, show_one

    setting = Setting(None, flags)
    peeked = asyncio.run(peek_at(setting.queues))
    show_one(peeked, message_id, setting.journal, form)
    setting.tell_journal()


for _command in (requeue, purge, export):
    poison.add_command(_command)
