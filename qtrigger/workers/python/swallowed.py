"""Exceptions that a function raised to ask for something, and that never reached us.

Owns how they are noticed: the classes that ask note each instance for the run that made it, and at
that run's end one that was raised has a traceback. Where no such class is used nothing is done.
"""

from __future__ import annotations

from typing import Any

from .context import NOWHERE, SCOPE

# Runs whose background tasks go on and on making such exceptions after their end.
MOST_RUNS = 1000


class Swallowed:
    """Those of the runs under way; `noted` is empty where nobody asked for anything."""

    def __init__(self) -> None:
        # By invocation: the last instance, and the name of one that was raised before it.
        self.noted: dict[str, tuple[BaseException, str]] = {}

    def watch(self, cls: type) -> None:
        """Note the instances of a class and of those derived from it."""
        before = vars(cls).get("__new__")
        if isinstance(before, _Noting):
            if before.noting is self:
                return
            before = before.before
        if isinstance(before, staticmethod):
            before = before.__func__
        if issubclass(cls, OSError):
            return  # how it reads its arguments depends on who has a __new__
        try:
            cls.__new__ = _Noting(self, cls, before)  # type: ignore[method-assign]
        except (AttributeError, TypeError):
            return  # its metaclass will not have it

    def note(self, error: object) -> None:
        """An exception that asks was made."""
        scope = SCOPE.get()
        if scope is NOWHERE or not isinstance(error, BaseException):
            return
        last, raised = self.noted.get(scope.invocation_id, (None, ""))
        if last is not None and last.__traceback__ is not None:
            raised = type(last).__name__
        elif len(self.noted) >= MOST_RUNS and last is None:
            self.noted.pop(next(iter(self.noted)), None)
        self.noted[scope.invocation_id] = (error, raised)

    def end(self, taken: BaseException | None) -> str:
        """The run of the calling code has ended: which exception it swallowed, "" for none.

        `taken` is the one that ended it, if one did, and that one is not swallowed.
        """
        last, raised = self.noted.pop(SCOPE.get().invocation_id, (None, ""))
        if last is not None and last is not taken and last.__traceback__ is not None:
            return type(last).__name__
        return raised


class _Noting:
    """A class's `__new__`, with a note of each instance."""

    def __init__(self, noting: Swallowed, cls: type, before: Any) -> None:
        self.noting = noting
        self.before = before
        self._cls = cls

    def __call__(self, cls: type[Any], *args: Any, **kwargs: Any) -> Any:
        make = self.before or super(self._cls, cls).__new__  # type: ignore[arg-type]
        made = make(cls, *args, **kwargs)
        self.noting.note(made)
        return made
