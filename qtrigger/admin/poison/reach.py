"""Which poison queues can be asked about, and how they are spoken to.

Owns that no other queue can be named. A name that is none of the live project's is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from qtrigger.admin.route import Refusal
from qtrigger.clock import Clock
from qtrigger.journal import JournalFile
from qtrigger.poison.queues import PoisonQueue, poison_queues
from qtrigger.project.model import Project
from qtrigger.queues.account import Account
from qtrigger.queues.client import WholeQueue
from qtrigger.queues.services import QueueServices


class Clients:
    """Clients of queues, over connections that are no host's."""

    def __init__(self, services: QueueServices) -> None:
        self._services = services

    def named(self, account: Account, name: str) -> WholeQueue:
        """See `qtrigger.poison.queues.Clients`."""
        return cast("WholeQueue", self._services.of(account).queue(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The parts of a process from which poison queues are reached.

    `project` gives that of the live host, None before there is one. `plain` takes what is secret
    out of a text.
    """

    project: Callable[[], Project | None]
    clients: Clients
    journal: JournalFile
    clock: Clock
    plain: Callable[[str], str]

    @property
    def loaded(self) -> Project:
        """The live project. Raises Refusal (503) before there is one."""
        project = self.project()
        if project is None:
            raise Refusal(503, "the host is starting; try again in a moment")
        return project

    @property
    def queues(self) -> Sequence[PoisonQueue]:
        """The poison queues of the project's functions."""
        return poison_queues(self.loaded, self.journal)

    def key(self, queue: PoisonQueue) -> str:
        """What it is called here: by its name, with its account where two have one of that name."""
        return _key(queue, self.queues)

    def queue(self, key: str) -> PoisonQueue:
        """One of them. Raises Refusal (404), also for a name that two accounts have."""
        queues = self.queues
        for each in queues:
            if _key(each, queues) == key:
                return each
        raise Refusal(404, "no function of this project has a poison queue that is called so here")


def _key(queue: PoisonQueue, queues: Sequence[PoisonQueue]) -> str:
    twins = sum(each.name == queue.name for each in queues)
    return queue.name if twins == 1 else f"{queue.name}@{queue.account.name}"
