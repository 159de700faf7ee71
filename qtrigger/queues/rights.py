"""Which rights a function's bindings need, and what grants them.

Owns the knowledge of what is asked of which queue; `wire` says what each operation takes, `sas`
what a signature allows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from qtrigger.queues import wire
from qtrigger.queues.wire import Operation

# A trigger's own queue: looked for, then taken from; a failed message needs an update.
LOOK: Final = (wire.GET_PROPERTIES,)
TAKE: Final = (wire.GET_MESSAGES, wire.DELETE_MESSAGE, wire.UPDATE_MESSAGE)
# A poison queue and an output; either is made when it is missing.
WRITE: Final = (wire.PUT_MESSAGE,)
MAKE: Final = (wire.CREATE_QUEUE,)

_BY_VERB: Final[Mapping[str, Operation]] = {
    "receive": wire.GET_MESSAGES,
    "update": wire.UPDATE_MESSAGE,
    "delete": wire.DELETE_MESSAGE,
    "send": wire.PUT_MESSAGE,
    "create": wire.CREATE_QUEUE,
    "exists": wire.GET_PROPERTIES,
    "approximate_count": wire.GET_PROPERTIES,
    "peek": wire.PEEK_MESSAGES,
    "clear": wire.CLEAR_MESSAGES,
}


def operation_of(verb: str) -> Operation:
    """The operation behind a method of `QueueClient` and its kin."""
    return _BY_VERB[verb]


def grant(operation: Operation) -> str:
    """What allows the operation, in words: the least permission, the least role."""
    return f"the permission {operation.permission} in a SAS, or the role {operation.role!r}"
