"""What the service answers when it does not do as asked, by what that means for a message."""

from __future__ import annotations

from qtrigger.errors import (
    AccessDenied,
    LeaseLostError,
    QueueError,
    QueueMissing,
    QueueRejected,
    QueueUnavailable,
)

# They pass by themselves.
PASSING: list[QueueError] = [
    QueueMissing("gone", status=404, code="QueueNotFound"),
    QueueMissing("going", status=409, code="QueueBeingDeleted"),
    QueueUnavailable("broken", status=500, code="InternalError"),
    QueueUnavailable("late", status=500, code="OperationTimedOut"),
    QueueUnavailable("busy", status=503, code="ServerBusy"),
    QueueUnavailable("no such name", code="NameNotKnown"),
    QueueUnavailable("no answer", code="TimedOut"),
    QueueUnavailable("refused", code="CannotConnect"),
]
# A person must mend these.
LASTING: list[QueueError] = [
    QueueRejected("bad", status=400, code="InvalidQueryParameterValue"),
    AccessDenied("who", status=401, code="NoAuthenticationInformation"),
    AccessDenied("no", status=403, code="AuthorizationPermissionMismatch"),
    QueueRejected("disabled", status=409, code="QueueDisabled"),
]
# The message is not ours any more.
GONE: list[QueueError] = [
    LeaseLostError("taken", status=400, code="PopReceiptMismatch"),
    LeaseLostError("gone", status=404, code="MessageNotFound"),
    QueueMissing("no queue", status=404, code="QueueNotFound"),
    QueueMissing("going", status=409, code="QueueBeingDeleted"),
]
BUSY = QueueUnavailable("busy", status=503, code="ServerBusy")


def name_of(error: object) -> str:
    return f"{error.status}-{error.code}" if isinstance(error, QueueError) else str(error)
