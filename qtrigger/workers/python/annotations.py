"""What outputs and return values may be annotated with.

Owns the list of Azure's types for them and its wording. It knows annotations by what they are
called, so that it needs no `azure.functions`.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Mapping
from typing import Any

from .shapes import shown

# How a value is turned into messages: as the reference does for Out[str] and Out[bytes], or as
# it does for everything else.
GENERIC, QUEUE = "generic", "queue"


class SignatureError(Exception):
    """The parameters and the bindings do not fit each other."""


def is_queue_message(kind: Any) -> bool:
    """Whether a class is `azure.functions.QueueMessage`, or derived from it."""
    return isinstance(kind, type) and any(
        base.__name__ == "QueueMessage" and base.__module__.startswith("azure.functions")
        for base in kind.__mro__
    )


def is_out(annotation: Any) -> bool:
    """Whether an annotation is `azure.functions.Out`, with or without its type."""
    origin = typing.get_origin(annotation) or annotation
    return getattr(origin, "__name__", "") == "Out"


def converter(name: str, hints: Mapping[str, Any], exact: bool) -> str:  # noqa: FBT001
    """How the values of that output are turned into messages. Raises SignatureError."""
    if name not in hints:
        return QUEUE
    annotation = hints[name]
    if not is_out(annotation):
        raise SignatureError(
            f'binding "{name}" has direction "out", so its parameter must be annotated '
            f"func.Out[...], not {shown(annotation)}"
        )
    arguments = typing.get_args(annotation)
    if len(arguments) != 1:
        raise SignatureError(
            f'parameter "{name}": an Out annotation needs exactly one type, as in func.Out[str]'
        )
    if arguments[0] is str or arguments[0] is bytes:
        return GENERIC
    if not (exact or _is_message_type(arguments[0]) or _is_message_list(arguments[0])):
        raise SignatureError(
            f'type of binding "{name}" in function.json, "queue", does not match its Python '
            f'annotation "{shown(annotation)}": it can be str, bytes, func.QueueMessage or a list '
            "of these"
        )
    return QUEUE


def _is_message_type(kind: Any) -> bool:
    return kind is str or kind is bytes or is_queue_message(kind)


def _is_message_list(kind: Any) -> bool:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if not isinstance(origin, type) or issubclass(origin, tuple) or not arguments:
        return False
    if not issubclass(origin, Iterable):
        return False
    members = [m for a in arguments for m in (typing.get_args(a) or (a,))]
    return all(_is_message_type(member) or member is object for member in members)


def check_return(hints: Mapping[str, Any], exact: bool) -> None:  # noqa: FBT001
    """Hold the return annotation against the `$return` binding. Raises SignatureError."""
    if "return" not in hints:
        return
    annotation = hints["return"]
    if is_out(annotation):
        raise SignatureError("the return annotation must be the type itself, not func.Out")
    if exact or _is_message_type(annotation):
        return
    if not isinstance(annotation, type) or typing.get_origin(annotation) is not None:
        raise SignatureError(f"the return annotation {shown(annotation)} is not a type")
    raise SignatureError(
        f'the return annotation "{shown(annotation)}" does not match the type of the $return '
        'binding, "queue": it can be str, bytes, func.QueueMessage, or left out'
    )
