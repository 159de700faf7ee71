"""What the pages are made of: the parts of a running host that they look at.

Owns the narrow shapes in which the dashboard needs them, so that it knows no supervisor and no
other routes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from qtrigger.admin.dashboard.recent import Recent
from qtrigger.clock import Clock
from qtrigger.project.model import Project

Document = Mapping[str, Any]


class Stands(Protocol):
    """How the host stands."""

    async def document(self, *, queues: bool) -> Document:
        """See `Standing`."""


class PoisonSeen(Protocol):
    """What stands in the poison queues, in the shapes of `/api/poison`. Each raises Refusal."""

    async def queues(self) -> Document:
        """All poison queues of the project."""

    async def messages(self, queue: str, query: Mapping[str, str]) -> Document:
        """What stands in one."""

    async def message(self, queue: str, message_id: str) -> Document:
        """One message, with its body and its tries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The parts. `project` is that of the live host, None before there is one.

    `plain` takes what is secret out of a text; `poison` is None where nobody can tell of it.
    """

    standing: Stands
    project: Callable[[], Project | None]
    recent: Recent
    clock: Clock
    plain: Callable[[str], str] = str
    poison: PoisonSeen | None = None
