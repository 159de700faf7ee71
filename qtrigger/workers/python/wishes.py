"""What a function asks for by raising: to get the message later, or to have it rejected.

Owns which exceptions ask, and how they are read. A class of the project's own is known by its name,
so that nothing of ours has to be imported or written to raise one; a class of an installed package
means what its package means by it. A mark on a class says either way that it is meant, or is not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from .failures import MAX_TEXT, Describer, message_of
from .swallowed import Swallowed
from .times import TimeRefused, delay

MARK = "__qtrigger__"
KINDS = {"Later": "later", "Reject": "reject"}
_OPTED_OUT = ("", None)
_ABSENT = object()


class WishRefused(Exception):
    """An exception asks for something that cannot be done; says what."""


class Wishes:
    """Reads the exceptions of a project's functions."""

    def __init__(self, describer: Describer) -> None:
        self._describer = describer
        self.swallowed = Swallowed()

    def watch_loaded(self) -> None:
        """Notice from now on when an exception that asks is raised and goes no further."""
        for cls in _every_exception(BaseException):
            if cls.__name__ in KINDS and self._meant_by(cls):
                self.swallowed.watch(cls)

    def of(self, error: BaseException, notice: Callable[[str, str], None]) -> dict[str, Any] | None:
        """The end that an exception asks for, None for any other. Raises WishRefused.

        `notice` is told of a rejection by name alone: whoever comes from Azure may mean a failure.
        """
        asks = self._asking(type(error))
        if asks is None:
            return None
        marked = MARK in vars(asks)
        kind = KINDS[asks.__name__]
        if kind == "later":
            if not marked and not _has_delay(error):
                return None
            self.swallowed.watch(asks)
            return {"end": "later", "delay": _delay(error)}
        self.swallowed.watch(asks)
        if not marked:
            notice("rejected-by-name", _by_name(asks))
        return {"end": "reject", "reason": _reason(error)[:MAX_TEXT]}

    def _asking(self, kind: type) -> type | None:
        """The class among an exception's that makes it ask, if one does."""
        for cls in kind.__mro__:
            if cls.__name__ in KINDS and self._meant_by(cls):
                return cls
            if MARK in vars(cls) and (cls.__name__ in KINDS or vars(cls)[MARK] in _OPTED_OUT):
                return None
        return None

    def _meant_by(self, cls: type) -> bool:
        """Whether a class of one of the names asks: by its mark or, without one, by being ours."""
        mark = vars(cls).get(MARK, _ABSENT)
        if mark is _ABSENT:
            return self._is_of_the_project(cls)
        return isinstance(mark, str) and mark == KINDS[cls.__name__]

    def _is_of_the_project(self, cls: type) -> bool:
        module = sys.modules.get(str(cls.__module__))
        file = getattr(module, "__file__", None)
        return isinstance(file, str) and self._describer.is_users(file)


def _every_exception(base: type) -> Iterator[type]:
    """Every class below `base` that there is now."""
    seen: set[type] = set()
    left = [base]
    while left:
        below: list[type] = type.__subclasses__(left.pop())
        for cls in below:
            if cls not in seen:
                seen.add(cls)
                left.append(cls)
                yield cls


def _by_name(cls: type) -> str:
    return (
        f"the message is rejected because the function raised {cls.__module__}.{cls.__name__}, an "
        f'exception of that name. If it is meant, {MARK} = "reject" in the class keeps this line '
        f'away; with {MARK} = "" it is a failure like any other, and the message is tried again'
    )


def _has_delay(error: BaseException) -> bool:
    try:
        return hasattr(error, "delay")
    except Exception:  # noqa: BLE001 - a property of the user's may raise anything
        return True


def _delay(error: BaseException) -> float:
    name = type(error).__name__
    try:
        seconds = delay(getattr(error, "delay", None))
    except TimeRefused as refused:
        raise WishRefused(f"the function raised {name} with {refused}") from None
    except Exception as broken:  # noqa: BLE001 - a property of the user's may raise anything
        what = f"its delay cannot be read: {type(broken).__name__}"
        raise WishRefused(f"the function raised {name}, and {what}") from None
    if seconds is None:
        raise WishRefused(f"the function raised {name} without a delay")
    return seconds


def _reason(error: BaseException) -> str:
    try:
        reason = getattr(error, "reason", None)
        text = None if reason is None else str(reason)
    except Exception as broken:  # noqa: BLE001 - the user's property or __str__ may raise anything
        return f"its reason cannot be shown: {type(broken).__name__}"
    if text is None:
        return message_of(error)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
