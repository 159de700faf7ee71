"""From requests that a credential may not make to the state of the listener that makes them.

Owns which answers say that a right is missing, and which that it is there. Knows no message.
"""

from __future__ import annotations

from qtrigger.errors import AccessDenied, LeaseLostError, QueueError
from qtrigger.queue_state import QueueState
from qtrigger.queues.rights import grant, operation_of


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
