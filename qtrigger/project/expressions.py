"""`{expression}` in an output's queue name: what it is made of, and its value for one message.

Owns the grammar and the built-in names. Pure: time, identifiers and message are passed in.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from qtrigger.errors import QtriggerError
from qtrigger.project import dotnet_dates, queue_names
from qtrigger.project.binding_data import METADATA

_PIECE: Final = re.compile(r"(?P<brace>\{\{|\}\})|\{(?P<inner>[^{}]*)\}|(?P<stray>[{}])")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_\-.]*", re.ASCII)
_RANDOM: Final = ("rand-guid", "sys.randguid")
_TIME: Final = ("datetime", "sys.utcnow")
_METHOD: Final = "sys.methodname"
_ALWAYS: Final = ("rand-guid", "DateTime", "sys.methodName")


class ExpressionError(QtriggerError):
    """A template is malformed, or a name in it has no value; the message names the expression."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """The inside of one pair of braces: dotted name, and format ("" when none)."""

    name: str
    format: str

    def __str__(self) -> str:
        return f"{{{self.name}:{self.format}}}" if self.format else f"{{{self.name}}}"


def parse(template: str) -> tuple[str | Expression, ...]:
    """Literal texts and expressions in order. Raises ExpressionError."""
    return tuple(_pieces(template))


def needing_message(template: str) -> Expression | None:
    """The first expression in it that has a value only for one message. Raises ExpressionError."""
    known = (*_RANDOM, *_TIME, _METHOD)
    pieces = (piece for piece in parse(template) if isinstance(piece, Expression))
    return next((piece for piece in pieces if piece.name.casefold() not in known), None)


def resolve(
    template: str,
    data: Mapping[str, Any],
    *,
    now: datetime,
    new_guid: Callable[[], uuid.UUID],
    function_name: str,
) -> str:
    """The template's text for one message; `data` as `binding_data` makes it.

    Names of the data come before the built-in ones. Raises ExpressionError naming the expression
    and what is on offer.
    """
    text = ""
    for piece in parse(template):
        if isinstance(piece, str):
            text += piece
            continue
        value = _lookup(piece, data)
        if value is None:
            value = _built_in(piece, now, new_guid, function_name)
        if value is None:
            raise ExpressionError(f"{piece} has no value for this message; {_offer(data)}")
        text += _as_text(piece, value)
    return text


def queue_name(
    template: str,
    data: Mapping[str, Any],
    *,
    now: datetime,
    new_guid: Callable[[], uuid.UUID],
    function_name: str,
) -> str:
    """The queue that a template names for one message, checked. Raises ExpressionError."""
    text = resolve(template, data, now=now, new_guid=new_guid, function_name=function_name)
    try:
        return queue_names.checked(text)
    except queue_names.QueueNameError as error:
        raise ExpressionError(
            f'"{template}" makes the queue name "{text[:80]}", which {error}'
        ) from None


def _pieces(template: str) -> Iterator[str | Expression]:
    end = 0
    for found in _PIECE.finditer(template):
        if found.start() > end:
            yield template[end : found.start()]
        end = found.end()
        if found["stray"]:
            raise ExpressionError(
                f'the "{found["stray"]}" at position {found.start() + 1} has no partner; '
                f"a literal one is doubled"
            )
        yield found["brace"][0] if found["brace"] else _expression(found["inner"])
    if end < len(template):
        yield template[end:]


def _expression(inner: str) -> Expression:
    name, _, form = inner.partition(":")
    name = name.strip()
    first = name.partition(".")[0]
    if not _NAME.fullmatch(name) or ("-" in first and first.casefold() != "rand-guid"):
        raise ExpressionError(
            f'"{{{inner}}}" is no expression; a name begins with a letter, and parts are '
            "separated by dots"
        )
    expression = Expression(name=name, format=form.strip())
    folded = name.casefold()
    if folded in _RANDOM and expression.format.upper() not in {"", "N", "D", "B", "P"}:
        raise ExpressionError(f"{expression} has an unknown format; N, D, B and P are known")
    return expression


def _lookup(expression: Expression, data: Mapping[str, Any]) -> Any:
    """The value from the message; None when the first name is not in it."""
    first, *rest = expression.name.split(".")
    value = _member(data, first)
    if value is None:
        return None
    for name in rest:
        value = _member(value, name) if isinstance(value, Mapping) else None
        if value is None:
            raise ExpressionError(f'{expression} has no value: there is no "{name}" in it')
    return value


def _member(data: Mapping[str, Any], name: str) -> Any:
    if name in data:
        return data[name]
    folded = name.casefold()
    return next((value for key, value in data.items() if key.casefold() == folded), None)


def _built_in(
    expression: Expression, now: datetime, new_guid: Callable[[], uuid.UUID], function_name: str
) -> Any:
    name = expression.name.casefold()
    if name in _RANDOM:
        return new_guid()
    if name in _TIME:
        return now
    return function_name if name == _METHOD else None


def _as_text(expression: Expression, value: Any) -> str:
    if isinstance(value, datetime):
        try:
            return dotnet_dates.format_date(value, expression.format)
        except ValueError as error:
            raise ExpressionError(f"{expression}: {error}") from None
    if isinstance(value, uuid.UUID):
        return _guid_text(value, expression.format.upper())
    if isinstance(value, (Mapping, list)):
        raise ExpressionError(f"{expression} is not one value but an object or array")
    return str(value)


def _guid_text(guid: uuid.UUID, form: str) -> str:
    match form:
        case "N":
            return guid.hex
        case "B":
            return f"{{{guid}}}"
        case "P":
            return f"({guid})"
        case _:
            return str(guid)


def _offer(data: Mapping[str, Any]) -> str:
    own = [name for name in data if name not in METADATA]
    body = ", ".join(own) or "nothing (only a JSON object has names, and null counts as missing)"
    always = ", ".join([*(name for name in data if name in METADATA), *_ALWAYS])
    return f"its body offers {body}; on offer besides are {always}"
