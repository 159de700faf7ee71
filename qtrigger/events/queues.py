"""What a host sees of its queues and of the accounts that they are in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PollFinished:
    """One request for messages was answered."""

    function: str
    queue: str
    found: int
    took_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStateChanged:
    """A listener's view of its queue changed; see `queue_state` for the words of `state`.

    Told once for each change, never once for each poll; `next_try_s` is the wait before the next.
    """

    function: str
    queue: str
    state: str
    message: str
    hint: str
    next_try_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesHidden:
    """At a start, about `count` messages were hidden from this host, and none was visible.

    Who holds them cannot be known; what a killed host of this project left comes back within
    `lease_s` seconds.
    """

    function: str
    queue: str
    count: int
    lease_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerOpened:
    """A function has failed too often in a row: no message is asked for, for `pause_s` seconds.

    `failures` in a row came from so many different `messages`; the last one's error is `error`.
    `probe` when it was open before, and the one message that was tried has failed as well.
    """

    function: str
    queue: str
    failures: int
    messages: int
    error_type: str
    error: str
    pause_s: float
    probe: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerClosed:
    """Messages are asked for again as ever, after `failures` in a row within `lasted_s` seconds.

    `cause` is probe (a message has succeeded) or hand (somebody resumed the function).
    """

    function: str
    queue: str
    cause: str
    failures: int
    lasted_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ThrottlingBegan:
    """A storage account begins to answer that it is busy; `message` is the first such answer."""

    account: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThrottlingEnded:
    """It has been quiet for a while: `busy` of `requests` were answered so, for `lasted_s`."""

    account: str
    busy: int
    requests: int
    lasted_s: float
