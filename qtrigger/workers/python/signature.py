"""A function's parameters held against its bindings.

Owns the checks of the v1 model and their wording, and yields the plan by which a function is
called. It knows annotations by what they are called, so that it needs no `azure.functions`.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .annotations import SignatureError, check_return, converter, is_out, is_queue_message
from .inputs import BodyReader, body_reader
from .many import is_many, of_elements
from .message import NAMES, Property, property_named
from .shapes import Shapeless, shown

RETURN = "$return"


@dataclass(frozen=True)
class Plan:
    """How to call a function, and what its results mean.

    `trigger` is the parameter for the message, `takes` what it gets: `message`, `str`, `bytes` or
    `json`, which `read` makes from the body; `properties` are the parameters named after what is
    known of the message, and `message_class` makes what `message` takes, None where nobody has
    imported it yet. `outs` maps output parameters to their converter; `returns` says whether
    there is a `$return` binding; `mode` is `azure` or `exact`, `encoding` the `messageEncoding` of
    the function's messages. With `many` the message's parameter and the properties get lists, of
    which all this says how an element is made.
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
    read: BodyReader | None = None
    properties: Mapping[str, Property] = field(default_factory=dict)
    message_class: Callable[..., Any] | None = None
    many: bool = False
    encoding: str = "base64"


def plan(
    *,
    name: str,
    function: Callable[..., Any],
    directory: str,
    bindings: Sequence[Mapping[str, Any]],
    mode: str,
    encoding: str = "base64",
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
        check_return(hints, exact)
    named = parameters - set(by_name) - {"context"}
    many = is_many(by_name[trigger])
    if many:
        hints = of_elements({trigger, *named}, hints)
    takes, read = _takes(trigger, hints)
    return Plan(
        name=name,
        function=function,
        directory=directory,
        trigger=trigger,
        takes=takes,
        read=read,
        properties=_properties(named, hints),
        has_context="context" in parameters and "context" not in by_name,
        outs={key: converter(key, hints, exact) for key in outs},
        returns=RETURN in by_name,
        mode=mode,
        encoding=encoding,
        is_async=inspect.iscoroutinefunction(function),
        many=many,
    )


def _parameters(
    name: str, function: Callable[..., Any], by_name: Mapping[str, Any]
) -> typing.AbstractSet[str]:
    parameters = inspect.signature(function).parameters
    declared = set(by_name) - {RETURN}
    surplus = {
        each for each, parameter in parameters.items() if not _is_known(each, parameter, declared)
    }
    if surplus:
        raise SignatureError(
            f"{name}: the function has parameters that no binding in function.json names: "
            f"{_names(surplus)}. Without a binding there can be context and what is known of the "
            f"message: {', '.join(NAMES)}"
        )
    missing = declared - set(parameters)
    if missing:
        raise SignatureError(
            f"{name}: function.json has bindings for which the function has no parameter: "
            f"{_names(missing)}"
        )
    return set(parameters)


def _is_known(name: str, parameter: inspect.Parameter, declared: typing.AbstractSet[str]) -> bool:
    if name in declared or name == "context":
        return True
    gathers = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return not gathers and property_named(name) is not None


def _properties(names: Iterable[str], hints: Mapping[str, Any]) -> dict[str, Property]:
    """What the parameters without a binding get; their annotations must say just that, or none."""
    properties: dict[str, Property] = {}
    for name in names:
        known = property_named(name)
        if known is None:
            continue
        annotation = hints.get(name, known.kind)
        if annotation is not known.kind:
            raise SignatureError(
                f'parameter "{name}" has no binding, so it takes what is known of the message: it '
                f"must be annotated {known.kind.__name__}, not {shown(annotation)}"
            )
        properties[name] = known
    return properties


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


def _takes(trigger: str, hints: Mapping[str, Any]) -> tuple[str, BodyReader | None]:
    if trigger not in hints or is_queue_message(hints[trigger]):
        return "message", None
    annotation = hints[trigger]
    if annotation is str or annotation is bytes:
        return str(annotation.__name__), None
    if is_out(annotation):
        raise SignatureError(
            f'binding "{trigger}" has direction "in", but the annotation of its parameter is Out'
        )
    try:
        read = body_reader(annotation, trigger)
    except Shapeless as error:
        raise SignatureError(
            f'parameter "{trigger}" is annotated {shown(annotation)}, which is read from JSON; but '
            f"{error}"
        ) from None
    if read is not None:
        return "json", read
    raise SignatureError(
        f'type of binding "{trigger}" in function.json, "queueTrigger", does not match its Python '
        f'annotation "{shown(annotation)}": it can be func.QueueMessage, str or bytes, and for a '
        "JSON body dict, list, a dataclass, a TypedDict or a pydantic model"
    )
