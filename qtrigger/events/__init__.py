"""What happens, as typed values sent to one sink.

Owns the vocabulary between the core and whatever listens (log lines, metrics, traces), by theme:
the host, its queues, their messages. The core builds and emits; it never knows who hears. An
event never holds a message body or a secret.
"""

from __future__ import annotations

from typing import Protocol

from qtrigger.events.host import (
    EmulatorReady,
    Finding,
    FunctionLoadFailed,
    FunctionPaused,
    FunctionResumed,
    FunctionState,
    Heartbeat,
    HostLog,
    HostReady,
    HostStarting,
    HostStopped,
    HostStopping,
    ProcessEnding,
    Reloaded,
    ReloadRejected,
    ReloadStarted,
    RequirementsChanged,
    StartFailed,
    WorkerAnswers,
    WorkerEnded,
    WorkerSilent,
    WorkerStarted,
)
from qtrigger.events.http import AdminAction, HttpListening, HttpRefused
from qtrigger.events.messages import (
    CheckpointNotKept,
    InvocationFinished,
    InvocationStarted,
    LeaseEnded,
    LeaseRenewed,
    MessageHandedBack,
    MessagePoisoned,
    RenewalFailed,
    RetryPending,
    SettlementFailed,
    StillRunning,
    UserLog,
)
from qtrigger.events.notices import NoticeFailed, NoticesDropped
from qtrigger.events.queues import (
    BreakerClosed,
    BreakerOpened,
    MessagesHidden,
    PollFinished,
    QueueStateChanged,
    ThrottlingBegan,
    ThrottlingEnded,
)

__all__ = [
    "AdminAction",
    "BreakerClosed",
    "BreakerOpened",
    "CheckpointNotKept",
    "EmulatorReady",
    "Event",
    "EventSink",
    "Finding",
    "FunctionLoadFailed",
    "FunctionPaused",
    "FunctionResumed",
    "FunctionState",
    "Heartbeat",
    "HostLog",
    "HostReady",
    "HostStarting",
    "HostStopped",
    "HostStopping",
    "HttpListening",
    "HttpRefused",
    "InvocationFinished",
    "InvocationStarted",
    "LeaseEnded",
    "LeaseRenewed",
    "MessageHandedBack",
    "MessagePoisoned",
    "MessagesHidden",
    "NoticeFailed",
    "NoticesDropped",
    "PollFinished",
    "ProcessEnding",
    "QueueStateChanged",
    "ReloadRejected",
    "ReloadStarted",
    "Reloaded",
    "RenewalFailed",
    "RequirementsChanged",
    "RetryPending",
    "SettlementFailed",
    "StartFailed",
    "StillRunning",
    "ThrottlingBegan",
    "ThrottlingEnded",
    "UserLog",
    "WorkerAnswers",
    "WorkerEnded",
    "WorkerSilent",
    "WorkerStarted",
]

Event = (
    Finding
    | HostStarting
    | EmulatorReady
    | HostReady
    | HostStopping
    | HostStopped
    | StartFailed
    | ProcessEnding
    | Heartbeat
    | ReloadRejected
    | ReloadStarted
    | Reloaded
    | RequirementsChanged
    | PollFinished
    | QueueStateChanged
    | MessagesHidden
    | BreakerOpened
    | BreakerClosed
    | ThrottlingBegan
    | ThrottlingEnded
    | InvocationStarted
    | StillRunning
    | InvocationFinished
    | RetryPending
    | MessagePoisoned
    | NoticeFailed
    | NoticesDropped
    | MessageHandedBack
    | LeaseRenewed
    | RenewalFailed
    | CheckpointNotKept
    | LeaseEnded
    | SettlementFailed
    | WorkerStarted
    | WorkerAnswers
    | WorkerEnded
    | WorkerSilent
    | FunctionLoadFailed
    | FunctionPaused
    | FunctionResumed
    | UserLog
    | HostLog
    | HttpListening
    | HttpRefused
    | AdminAction
)


class EventSink(Protocol):
    """Where events go. Never blocks, never raises."""

    def emit(self, event: Event) -> None:
        """Take one event."""

    def wants(self, kind: type[Event]) -> bool:
        """Whether events of that kind are of use; asked once, by those who would make many."""
