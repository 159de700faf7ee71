"""Which trace each run under way belongs to, for the lines that are written meanwhile."""

from __future__ import annotations

from qtrigger.trace_context import TraceContext


class OpenTraces:
    """By the invocation's id; empty where nothing is traced."""

    def __init__(self) -> None:
        self._open: dict[str, TraceContext] = {}

    def begin(self, invocation_id: str, context: TraceContext) -> None:
        """A run has begun."""
        self._open[invocation_id] = context

    def end(self, invocation_id: str) -> None:
        """It has ended, and so have its lines."""
        self._open.pop(invocation_id, None)

    def of(self, invocation_id: object) -> TraceContext | None:
        """The trace of a run, None where there is none or it has ended."""
        return self._open.get(invocation_id) if isinstance(invocation_id, str) else None
