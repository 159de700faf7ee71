"""What reads JSON values that hold no types of the user's.

Owns what counts as a string, a number, true or false, null, one of some values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .unfit import Unfit, wrong

Reader = Callable[[Any], Any]
"""From a JSON value to what user code gets. Raises Unfit, or what a class of the user's raises."""


def literal(choices: tuple[Any, ...]) -> Reader:
    """One of these values."""

    def read(value: Any) -> Any:
        for choice in choices:
            if type(choice) is type(value) and choice == value:
                return value
        raise Unfit(f"one of {', '.join(map(repr, choices))} was expected")

    return read


def anything(value: Any) -> Any:
    """Whatever there is, as it is."""
    return value


def whole(kind: type, expected: str) -> Reader:
    """A value of that kind as it is; `expected` says so in words."""

    def read(value: Any) -> Any:
        if not isinstance(value, kind):
            raise wrong(expected, value)
        return value

    return read


def _integer(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise wrong("a whole number", value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong("a number", value)
    try:
        return float(value)
    except OverflowError:
        raise Unfit("a number was expected that a float can hold") from None


PLAIN: dict[Any, Reader] = {
    Any: anything,
    object: anything,
    str: whole(str, "a string"),
    int: _integer,
    float: _number,
    bool: whole(bool, "true or false"),
    type(None): whole(type(None), "null"),
}
