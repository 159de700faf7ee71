"""What became of loading functions, over all the workers of a pool.

Owns when a function whose import brings workers down is left out, and that each failure to load is
told once, however many workers find it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from qtrigger.events import EventSink, FunctionLoadFailed
from qtrigger.workers.pooled import LoadCrash
from qtrigger.workers.worker import FunctionSpec, Loaded, LoadFailure

# How often an import may bring its worker down before the function counts as unable to load.
LOAD_TRIES = 4


class Crashers:
    """The functions that one seat's workers are to come up without."""

    def __init__(self) -> None:
        self._tries: dict[str, int] = {}
        self.left_out: dict[str, LoadFailure] = {}

    def others(self, functions: Iterable[FunctionSpec]) -> list[FunctionSpec]:
        """Those that a worker should load."""
        return [function for function in functions if function.name not in self.left_out]

    def note(self, crash: LoadCrash) -> int:
        """An import has crashed a worker; returns how often now, 0 when it is left out."""
        tries = self._tries[crash.function] = self._tries.get(crash.function, 0) + 1
        if crash.again and tries < LOAD_TRIES:
            return tries
        self.left_out[crash.function] = crash.failure
        return 0

    def came_up(self, loaded: Loaded) -> Loaded:
        """A worker has come up: what it has loaded, with those counted that it went without."""
        self._tries.clear()
        return replace(loaded, failures={**loaded.failures, **self.left_out})


class LoadNews:
    """Tells failures to load. One that is over, and comes back, is news again."""

    def __init__(self, events: EventSink) -> None:
        self._events = events
        self._told: set[str] = set()

    def tell(self, loaded: Loaded) -> None:
        """What one of the workers has loaded."""
        news = [name for name in loaded.failures if name not in self._told]
        self._told = set(loaded.failures)
        for name in news:
            failure = loaded.failures[name]
            self._events.emit(
                FunctionLoadFailed(
                    function=name,
                    place=failure.place,
                    message=failure.message,
                    traceback=failure.traceback,
                    hint=failure.hint,
                )
            )
