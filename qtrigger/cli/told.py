"""What a person has been told of a project's faults, so that a reload says only what is new.

Owns which faults have been said and still hold, and holds back those that a reload finds until it
is certain that it is carried out.
"""

from __future__ import annotations

from collections.abc import Sequence

from qtrigger.cli import wiring
from qtrigger.events import Event, EventSink, FunctionLoadFailed
from qtrigger.project.model import Problem, Severity


class Told:
    """The faults that were said, and hold as far as anybody knows."""

    def __init__(self) -> None:
        self.said: set[Problem | FunctionLoadFailed] = set()


class News:
    """Where the events of a project's loading go: to `sink`, its faults once `tell` is called."""

    def __init__(self, sink: EventSink, told: Told) -> None:
        self._sink = sink
        self._told = told
        self._held: list[FunctionLoadFailed] | None = []

    def emit(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, FunctionLoadFailed):
            if self._held is not None:
                self._held.append(event)
                return
            self._told.said.add(event)
        self._sink.emit(event)

    def wants(self, kind: type[Event]) -> bool:
        """See `EventSink`."""
        return self._sink.wants(kind)

    def of_errors(self, problems: Sequence[Problem]) -> bool:
        """Whether there is an error, among those or what was loaded, that was not said before."""
        errors = [each for each in problems if each.severity is Severity.ERROR]
        return not self._told.said.issuperset([*errors, *(self._held or ())])

    def tell(self, problems: Sequence[Problem]) -> None:
        """Say what is new; what comes from here on is said at once."""
        held, self._held = self._held or [], None
        before, self._told.said = self._told.said, {*problems, *held}
        wiring.tell_findings([each for each in problems if each not in before], self._sink)
        for event in held:
            if event not in before:
                self._sink.emit(event)
