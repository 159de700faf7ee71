"""From requests that a credential may not make to the state of the listener that makes them.

Owns which answers say that a right is missing, and which that it is there. Knows no message.
"""

from __future__ import annotations

import contextlib

from qtrigger.errors import AccessDenied, LeaseLostError, QueueError
from qtrigger.queue_state import QueueState
from qtrigger.queues.account import Account, Sas
from qtrigger.queues.client import QueueClient
from qtrigger.queues.rights import MAKE, grant, operation_of
from qtrigger.queues.sas import shortcoming


class Refusals:
    """A `RequestWatcher` over what one function's messages need of a queue, polls apart."""

    def __init__(self, queue: str, state: QueueState) -> None:
        self._queue = queue
        self._state = state

    def answered(self, verb: str) -> None:
        """See `RequestWatcher`."""
        self._state.granted(self._name(verb))
        if verb == "send":
            # The queue is there: somebody else has made it, and nobody need create it.
            self._state.granted(self._name("create"))

    def failed(self, verb: str, error: QueueError) -> None:
        """See `RequestWatcher`."""
        if isinstance(error, AccessDenied):
            needed = grant(operation_of(verb))
            hint = f"It takes {needed}; until then such messages wait for their leases to end."
            self._state.refused(self._name(verb), error, hint)
        elif isinstance(error, LeaseLostError):
            # It was too late, and allowed.
            self._state.granted(self._name(verb))

    def _name(self, verb: str) -> str:
        return f"{verb} {self._queue}"


class Foresight:
    """Finds at a first failed try what else would show at the last one alone.

    A poison queue is made when it is first needed. Where a SAS rules that out and the queue is
    not there, the listener is degraded from now on; other credentials do not tell.
    """

    def __init__(self, poison: QueueClient, account: Account, refusals: Refusals) -> None:
        credential = account.credential
        self._short = shortcoming(credential.token, MAKE) if isinstance(credential, Sas) else ""
        self._poison = poison
        self._refusals = refusals

    async def look(self) -> None:
        """Look once, where there is reason to. Raises nothing: it is no part of any message."""
        short, self._short = self._short, ""
        if not short:
            return
        with contextlib.suppress(QueueError):
            if not await self._poison.exists():
                text = f"{self._poison.address} does not exist, and the SAS {short}"
                self._refusals.failed("create", AccessDenied(text))
