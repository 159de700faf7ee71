"""The error tree and the exit codes.

    QtriggerError
    ├── ProjectError          the project's files or settings cannot be used
    ├── QueueError            the queue service, classified once at the edge
    │   ├── QueueUnavailable      5xx, 429, 408, time-out, refused: try again later
    │   ├── QueueMissing          404 QueueNotFound, 409 QueueBeingDeleted
    │   ├── LeaseLostError        receipt replaced, or message gone
    │   ├── AccessDenied          401, 403
    │   ├── MessageTooLarge       over 64 KiB as encoded
    │   └── QueueRejected         any other 4xx: the request is wrong
    ├── WorkerError           a worker process
    │   └── WorkerStartError      it never became ready
    ├── EmulatorError         no queue service could be brought up
    └── PortTaken             another program listens where we were asked to

A user function's own failure is no exception here: it travels as an `Outcome`.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the process tells its caller; systemd does not restart on 2 and 3."""

    OK = 0
    BUG = 1
    USAGE = 2
    PROJECT = 3
    SERVICE = 4
    PARTLY = 5
    FAILED = 6


class QtriggerError(Exception):
    """Root of all errors raised on purpose; its text says what, where and what to do."""


class ProjectError(QtriggerError):
    """The project as a whole cannot be used."""


class QueueError(QtriggerError):
    """The queue service answered with an error, or not at all.

    `status` is the HTTP status (0: no answer). `code` is the service's own error code, or ours
    for a kind of silence (`CannotConnect`, `TimedOut`, `NoToken` …); "" when there is none.
    """

    def __init__(self, message: str, *, status: int = 0, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class QueueUnavailable(QueueError):
    """A passing fault of the service or the network. `retry_after_s` is the service's wish."""

    def __init__(
        self, message: str, *, status: int = 0, code: str = "", retry_after_s: float | None = None
    ) -> None:
        super().__init__(message, status=status, code=code)
        self.retry_after_s = retry_after_s

    @property
    def busy(self) -> bool:
        """Whether the service has too much to do: its limits are reached, or it was too slow."""
        return self.status in (429, 503) or self.code == "OperationTimedOut"


class QueueMissing(QueueError):
    """The queue does not exist, or is being deleted."""


class LeaseLostError(QueueError):
    """The pop receipt no longer holds the message, or the message is gone."""


class AccessDenied(QueueError):
    """The credential may not do this."""


class MessageTooLarge(QueueError):
    """The text is over the service's 64 KiB."""


class QueueRejected(QueueError):
    """The service refused the request as it stands; trying again will not help."""


class WorkerError(QtriggerError):
    """A worker process failed."""


class WorkerStartError(WorkerError):
    """A worker process never became ready."""


class EmulatorError(QtriggerError):
    """No local queue service could be brought up."""


class PortTaken(QtriggerError):
    """Another program listens at the port that was asked for."""


def exit_code(error: QtriggerError) -> ExitCode:
    """Return the exit code for an error that ended a verb."""
    match error:
        case ProjectError() | WorkerStartError():
            return ExitCode.PROJECT
        case QueueError() | EmulatorError() | PortTaken():
            return ExitCode.SERVICE
        case _:
            return ExitCode.BUG
