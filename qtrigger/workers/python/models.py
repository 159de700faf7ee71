"""Pydantic models, for projects that have pydantic.

Owns how one is told from other classes and how its complaints are put. Only a class of the user's
that is one brings pydantic in. Its own text shows the values it was given, so
what is said here is made from its parts.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from typing import Any

from .unfit import Unfit, step_text

MAX_TOLD = 3
MAX_TEXT = 200


def is_model(kind: Any) -> bool:
    """Whether a class is a model or a dataclass of pydantic, of its version 2."""
    if "__is_pydantic_dataclass__" in vars(kind):
        return True
    return hasattr(kind, "model_validate_json") and any(
        base.__name__ == "BaseModel" and _is_pydantics(base) for base in kind.__mro__
    )


def body_reader(kind: Any) -> Callable[[bytes], Any]:
    """What reads a whole body. It raises Unfit, or what the user's validators raise."""
    read = _reader(kind)
    return lambda body: checked(read, body)


def value_reader(kind: Any) -> Callable[[Any], Any]:
    """What reads a value inside a body, by the rules that pydantic has for JSON."""
    read = _reader(kind)
    return lambda value: checked(read, json.dumps(value))


def _reader(kind: Any) -> Callable[[Any], Any]:
    if hasattr(kind, "model_validate_json"):
        read: Callable[[Any], Any] = kind.model_validate_json
    else:  # a class of its own is there, so pydantic is
        read = importlib.import_module("pydantic").TypeAdapter(kind).validate_json
    return read


def checked(make: Callable[[Any], Any], given: Any) -> Any:
    """`make(given)`, with pydantic's complaints as Unfit."""
    try:
        return make(given)
    except Exception as error:
        if type(error).__name__ != "ValidationError" or not _is_pydantics(type(error)):
            raise
        raise Unfit(_told(error)) from None


def _is_pydantics(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in ("pydantic", "pydantic_core")


def _told(error: Any) -> str:
    """The first complaints: where and what, without the values."""
    complaints = error.errors(include_url=False)
    texts = []
    for complaint in complaints[:MAX_TOLD]:
        where = "".join(step_text(step) for step in complaint["loc"]).lstrip(".")
        text = _words(complaint)[:MAX_TEXT]
        texts.append(f"{where}: {text}" if where else text)
    left = len(complaints) - MAX_TOLD
    return "; ".join(texts) + (f"; and {left} more" if left > 0 else "")


def _words(complaint: Any) -> str:
    """Pydantic's own, but for the one kind of complaint that holds the value."""
    if complaint["type"] == "union_tag_invalid":
        known = complaint["ctx"]
        return f"the value of {known['discriminator']} is none of {known['expected_tags']}"
    return str(complaint["msg"])
