"""A JSON value that is not what a type wants, and how that is said.

Owns the words. A value itself is never shown: bodies hold what must not stand in a log.
"""

from __future__ import annotations

from typing import Any

MAX_KEY = 40


class Unfit(Exception):
    """What is wrong with a value, and the steps to it from the top, the innermost last."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.steps: list[str] = []

    def inside(self, step: Any, *, declared: bool = True) -> Unfit:
        """The same, seen from the object or array around the value."""
        self.steps.insert(0, step_text(step, declared=declared))
        return self

    def __str__(self) -> str:
        where = "".join(self.steps).lstrip(".")
        return f"{where}: {self.args[0]}" if where else str(self.args[0])


def step_text(step: Any, *, declared: bool = True) -> str:
    """A step into an array (an int) or an object; a key that the body chose is cut when long."""
    if isinstance(step, int):
        return f"[{step}]"
    if declared and str(step).isidentifier():
        return f".{step}"
    key = str(step)
    return f'["{key if len(key) <= MAX_KEY else key[:MAX_KEY] + "…"}"]'


def wrong(expected: str, value: Any) -> Unfit:
    """The value is of another kind."""
    return Unfit(f"{expected} was expected, not {article(found(value))}")


def article(kind: str) -> str:
    """The kind of a value as it stands in a sentence."""
    if kind == "null":
        return kind
    return f"an {kind}" if kind[0] in "ao" else f"a {kind}"


def found(value: Any) -> str:
    """JSON's word for the kind of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, float):
        return "number with a fraction"
    if isinstance(value, int):
        return "number"
    return "array" if isinstance(value, list) else "object"
