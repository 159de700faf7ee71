"""A function's parameters held against its bindings.

Owns the checks of the v1 model and their wording, and yields the plan by which a function is
called. It knows annotations by what they are called, so that it needs no `azure.functions`.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

RETURN = "$return"

# How a value is turned into messages: as the reference does for Out[str] and Out[bytes], or as
# it does for everything else.
GENERIC, QUEUE = "generic", "queue"


class SignatureError(Exception):
    """The parameters and the bindings do not fit each other."""


@dataclass(frozen=True)
class Plan:
    """How to call a function, and what its results mean.

    `trigger` is the parameter for the message, `takes` what it gets: `message`, `str` or `bytes`.
    `outs` maps output parameters to their converter; `returns` says whether there is a `$return`
    binding; `mode` is `azure` or `exact`.
    """

    name: str
    function: Callable[..., Any]
    directory: str
    trigger: str
    takes: str
    has_context: bool
    outs: Mapping[str, str]
    returns: bool
    mode: str
    is_async: bool


def plan(
    *,
    name: str,
    function: Callable[..., Any],
    directory: str,
    bindings: Sequence[Mapping[str, Any]],
    mode: str,
) -> Plan:
    """Check everything and say how to call it. Raises SignatureError, or NameError for an
    annotation that cannot be resolved.
    """  # noqa: D205
    by_name = {str(binding.get("name", "")): binding for binding in bindings}
    parameters = _parameters(name, function, by_name)
    hints = typing.get_type_hints(function)
    _check_directions(by_name)
    trigger = _trigger(by_name)
    outs = {key: b for key, b in by_name.items() if _direction(b) == "out" and key != RETURN}
    if "context" in parameters and "context" not in by_name:
        _check_context(hints)
    exact = mode == "exact"
    if RETURN in by_name:
        _check_return(hints, exact)
    return Plan(
        name=name,
        function=function,
        directory=directory,
        trigger=trigger,
        takes=_takes(trigger, hints),
        has_context="context" in parameters and "context" not in by_name,
        outs={key: _converter(key, hints, exact) for key in outs},
        returns=RETURN in by_name,
        mode=mode,
        is_async=inspect.iscoroutinefunction(function),
    )


def is_queue_message(kind: Any) -> bool:
    """Whether a class is `azure.functions.QueueMessage`, or derived from it."""
    return isinstance(kind, type) and any(
        base.__name__ == "QueueMessage" and base.__module__.startswith("azure.functions")
        for base in kind.__mro__
    )


def _parameters(
    name: str, function: Callable[..., Any], by_name: Mapping[str, Any]
) -> typing.AbstractSet[str]:
    parameters = set(inspect.signature(function).parameters)
    declared = set(by_name) - {RETURN}
    surplus = parameters - declared - {"context"}
    if surplus:
        raise SignatureError(
            f"{name}: the function has parameters that no binding in function.json names: "
            f"{_names(surplus)}"
        )
    missing = declared - parameters
    if missing:
        raise SignatureError(
            f"{name}: function.json has bindings for which the function has no parameter: "
            f"{_names(missing)}"
        )
    return parameters


def _names(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names))


def _direction(binding: Mapping[str, Any]) -> str:
    return str(binding.get("direction", "in")).lower()


def _check_directions(by_name: Mapping[str, Mapping[str, Any]]) -> None:
    for name, binding in by_name.items():
        direction, kind = _direction(binding), str(binding.get("type", "")).lower()
        if direction == "inout":
            raise SignatureError(f'binding "{name}": direction "inout" is not supported')
        if name == RETURN and direction != "out":
            raise SignatureError('binding "$return": its direction must be "out"')
        if kind not in ("queuetrigger", "queue") or (kind == "queue") != (direction == "out"):
            raise SignatureError(
                f'binding "{name}": type "{binding.get("type", "")}" with direction "{direction}" '
                "does not run here; a function has a queueTrigger and may have queue outputs"
            )


def _trigger(by_name: Mapping[str, Mapping[str, Any]]) -> str:
    triggers = [name for name, binding in by_name.items() if _direction(binding) == "in"]
    if len(triggers) != 1:
        raise SignatureError(f"a function needs one queueTrigger, not {len(triggers)}")
    return triggers[0]


def _check_context(hints: Mapping[str, Any]) -> None:
    annotation = hints.get("context")
    if annotation is not None and getattr(annotation, "__name__", "") != "Context":
        raise SignatureError(
            f'the "context" parameter must be annotated azure.functions.Context, not '
            f"{shown(annotation)}"
        )


def _takes(trigger: str, hints: Mapping[str, Any]) -> str:
    if trigger not in hints or is_queue_message(hints[trigger]):
        return "message"
    annotation = hints[trigger]
    if annotation is str or annotation is bytes:
        return str(annotation.__name__)
    if is_out(annotation):
        raise SignatureError(
            f'binding "{trigger}" has direction "in", but the annotation of its parameter is Out'
        )
    raise SignatureError(
        f'type of binding "{trigger}" in function.json, "queueTrigger", does not match its Python '
        f'annotation "{shown(annotation)}": it can be func.QueueMessage, str or bytes'
    )


def is_out(annotation: Any) -> bool:
    """Whether an annotation is `azure.functions.Out`, with or without its type."""
    origin = typing.get_origin(annotation) or annotation
    return getattr(origin, "__name__", "") == "Out"


def _converter(name: str, hints: Mapping[str, Any], exact: bool) -> str:  # noqa: FBT001
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


def _check_return(hints: Mapping[str, Any], exact: bool) -> None:  # noqa: FBT001
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


def shown(annotation: Any) -> str:
    """An annotation as a person would write it."""
    if isinstance(annotation, type) and typing.get_origin(annotation) is None:
        return annotation.__name__
    return str(annotation).replace("typing.", "")
