"""Remarks on one function's options that only its messages show to be odd.

Owns their texts, and that each is made once: a remark is of use, and a hundred are noise.
"""

from __future__ import annotations

from qtrigger.events import EventSink, Finding

# A pause after failures that is longer than this was often meant to protect long runs.
LONG_PAUSE_S = 600.0


class Remarks:
    """Makes them for `function`, as warnings among the project's findings."""

    def __init__(self, function: str, sink: EventSink) -> None:
        self._function = function
        self._sink = sink
        self._made: set[str] = set()

    def pause(self, pause_s: float) -> None:
        """A try has failed, and the next one comes after `pause_s` seconds."""
        if pause_s <= LONG_PAUSE_S:
            return
        self._make(
            f"visibilityTimeout lets a failed message wait {pause_s / 60:g} min for its next try",
            "it is no time for runs: a message stays hidden as long as its function runs, "
            "by the lease (qtrigger.lease), which is renewed",
            of="visibilityTimeout",
        )

    def without_order(self, why: str) -> None:
        """A body has no value by which to order."""
        self._make(
            f"orderBy: a message's body {why}, so it runs without order",
            "so do others like it, which are not told; orderBy names a place that is in "
            "every body, such as $.customer.id",
            of="orderBy",
        )

    def _make(self, message: str, hint: str, *, of: str) -> None:
        if of in self._made:
            return
        self._made.add(of)
        self._sink.emit(
            Finding(
                function=self._function, place="", severity="warning", message=message, hint=hint
            )
        )
