"""What the core needs of whoever traces runs; without one nothing is traced, at no cost.

Owns the protocol and what is known of a function when its runs are traced. Knows no library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol
from urllib.parse import urlsplit

from qtrigger.invocation import Trace, TriggerMessage
from qtrigger.project.model import FunctionDefinition, HostConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """Whose runs these are; `server` is the queue service's name, without a port or a path.

    Where it `adopts`, a run is a child of what sent its message; else it is linked to that.
    """

    function: str
    queue: str
    server: str
    adopts: bool = False


class Tracing(Protocol):
    """Makes traces."""

    def begin(
        self, traced: Traced, invocation_id: str, messages: Sequence[TriggerMessage]
    ) -> Trace:
        """A run on these messages is about to begin. Never raises and never waits."""


BeginTrace = Callable[[str, Sequence[TriggerMessage]], Trace]
"""The same for one function: an invocation's id and its messages."""


def of_function(
    tracing: Tracing | None, function: FunctionDefinition, config: HostConfig
) -> BeginTrace | None:
    """What begins the traces of a function's runs, None where nobody traces."""
    if tracing is None:
        return None
    trigger = function.trigger
    traced = Traced(
        function=function.name,
        queue=trigger.queue,
        server=urlsplit(trigger.account.endpoint).hostname or "",
        adopts=config.tracing.adopts,
    )
    return partial(tracing.begin, traced)
