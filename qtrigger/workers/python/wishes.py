"""What a function asks for by raising: to get the message later, or to have it rejected.

Owns which exceptions ask, and how they are read. Classes are known by a mark, so that a project
needs no package of ours to raise them; by a name alone they would not be safe, since a project that
comes from Azure may have an exception of that name, and means a failure.
"""

from __future__ import annotations

from typing import Any

from .failures import MAX_TEXT, message_of
from .times import TimeRefused, delay

MARK = "__qtrigger__"
KINDS = {"Later": "later", "Reject": "reject"}


class WishRefused(Exception):
    """An exception asks for something that cannot be done; says what."""


def wish_of(error: BaseException) -> dict[str, Any] | None:
    """The end that an exception asks for, None for any other. Raises WishRefused."""
    kind = next((wish for cls in type(error).__mro__ if (wish := _marked(cls))), "")
    if kind == "later":
        return {"end": "later", "delay": _delay(error)}
    if kind == "reject":
        return {"end": "reject", "reason": _reason(error)[:MAX_TEXT]}
    return None


def _marked(cls: type) -> str:
    kind, mark = KINDS.get(cls.__name__, ""), vars(cls).get(MARK)
    return kind if isinstance(mark, str) and mark == kind else ""


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
