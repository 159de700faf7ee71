"""Tells at a start what nobody can take just now: messages that are hidden from this host.

Owns the question and when its answer can be trusted: only while nothing is visible is every
message that is not ours a hidden one. Takes nothing, and is silent where it cannot tell.
"""

from __future__ import annotations

import contextlib
from typing import cast

from qtrigger.errors import QueueError
from qtrigger.events import EventSink, MessagesHidden
from qtrigger.listener import Listener
from qtrigger.queue_state import OK
from qtrigger.queues.client import QueueInspector

TRIES = 3


async def tell_hidden(listener: Listener, lease_s: float, sink: EventSink) -> None:
    """After the listener's first poll, say how many messages others hold, if there are any."""
    await listener.polled.wait()
    if listener.state != OK:
        return
    queue = cast("QueueInspector", listener.queue)  # every queue client is one
    with contextlib.suppress(QueueError):
        for _ in range(TRIES):
            # What is just being deleted may or may not be in the count.
            await listener.calm()
            ours = listener.unsettled
            if await queue.peek(1):
                return
            hidden = await queue.approximate_count() - ours
            if listener.running == listener.unsettled == ours:
                break
        else:
            return  # messages came and went all the time
        if hidden > 0:
            sink.emit(
                MessagesHidden(
                    function=listener.function,
                    queue=listener.queue.name,
                    count=hidden,
                    lease_s=lease_s,
                )
            )
