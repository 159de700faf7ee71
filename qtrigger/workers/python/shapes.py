"""From a type to what reads a JSON value of that type.

Owns which types a value inside a message's JSON can have, and what is said of a value that does not
fit: what was expected, what kind of value was found and where, never the value itself. It knows no
messages and no bytes.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, Union

from . import models
from .plain import PLAIN, Reader, anything, literal, whole
from .unfit import Unfit, found, wrong

_WRAPPERS = ("Required", "NotRequired", "ReadOnly")
_UNIONS = (Union, getattr(types, "UnionType", Union))


class Shapeless(Exception):
    """A type is none that a JSON value can be read as; the text says where and why."""


class Shapes:
    """The readers of one annotation, by type: a type may hold itself."""

    def __init__(self) -> None:
        self._readers: dict[Any, Reader] = {}

    def reader(self, kind: Any, where: str) -> Reader:
        """What reads a value of type `kind`, which stands at `where` in the user's types.

        Raises Shapeless, or NameError for an annotation that cannot be resolved.
        """
        kind = _bare(kind)
        origin, arguments = typing.get_origin(kind) or kind, typing.get_args(kind)
        if kind in PLAIN:
            return PLAIN[kind]
        if origin is dict:
            return self._dict(arguments, where)
        if origin is list:
            return self._list(arguments, where)
        if origin in _UNIONS:
            return self._union(arguments, where)
        if origin is typing.Literal:
            return literal(arguments)
        if is_record(kind):
            return self._record(kind)
        raise Shapeless(
            f"{where} is of type {shown(kind)}; values of JSON are read as str, int, float, bool, "
            "None, Any, dict, list, Optional, Union, Literal, dataclasses, TypedDicts and pydantic "
            "models"
        )

    def _dict(self, arguments: tuple[Any, ...], where: str) -> Reader:
        key, of_value = (_bare(arguments[0]), arguments[1]) if arguments else (str, Any)
        if key not in (str, Any, object):
            raise Shapeless(f"{where} has keys of type {shown(key)}; in JSON they are str")
        each = self.reader(of_value, where)

        def read(value: Any) -> dict[str, Any]:
            if not isinstance(value, dict):
                raise wrong("an object", value)
            result = {}
            for name, member in value.items():
                try:
                    result[name] = each(member)
                except Unfit as unfit:
                    raise unfit.inside(name, declared=False) from None
            return result

        return read if each is not anything else whole(dict, "an object")

    def _list(self, arguments: tuple[Any, ...], where: str) -> Reader:
        each = self.reader(arguments[0] if arguments else Any, where)

        def read(value: Any) -> list[Any]:
            if not isinstance(value, list):
                raise wrong("an array", value)
            result = []
            for index, item in enumerate(value):
                try:
                    result.append(each(item))
                except Unfit as unfit:
                    raise unfit.inside(index) from None
            return result

        return read if each is not anything else whole(list, "an array")

    def _union(self, arguments: tuple[Any, ...], where: str) -> Reader:
        readers = [self.reader(argument, where) for argument in arguments]
        optional = type(None) in arguments

        def read(value: Any) -> Any:
            if value is None and optional:
                return None
            unfits = []
            for kind, reader in zip(arguments, readers):  # noqa: B905 - Python 3.9 has no strict
                if kind is type(None):
                    continue
                try:
                    return reader(value)
                except Unfit as unfit:
                    unfits.append(unfit)
            if len(unfits) == 1:
                raise unfits[0]
            expected = " or ".join(shown(kind) for kind in arguments)
            raise Unfit(f"{expected} was expected, and the {found(value)} there is none of these")

        return read

    def _record(self, kind: Any) -> Reader:
        """A record is known before its members are, which may hold it."""
        if models.is_model(kind):
            return models.value_reader(kind)
        if kind in self._readers:
            # It holds itself: the reader is not made yet.
            def later(value: Any) -> Any:
                return self._readers[kind](value)

            return later
        self._readers[kind] = anything
        made = self._typed_dict(kind) if is_typed_dict(kind) else self._dataclass(kind)
        self._readers[kind] = made
        return made

    def _dataclass(self, kind: Any) -> Reader:
        hints = typing.get_type_hints(kind)
        fields = [field for field in dataclasses.fields(kind) if field.init]
        names = {field.name for field in fields}
        for name, parameter in inspect.signature(kind).parameters.items():
            named = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
            if named and name not in names and parameter.default is parameter.empty:
                raise Shapeless(f"{kind.__name__} is made with {name}, which is none of its fields")
        readers = {
            field.name: self.reader(hints[field.name], f'field "{field.name}" of {kind.__name__}')
            for field in fields
        }
        needed = [
            field.name
            for field in fields
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        ]

        def read(value: Any) -> Any:
            return models.checked(lambda known: kind(**known), _members(value, readers, needed))

        return read

    def _typed_dict(self, kind: Any) -> Reader:
        readers: dict[str, Reader] = {}
        needed = set(kind.__required_keys__)
        for name, hint in typing.get_type_hints(kind, include_extras=True).items():
            # Required and NotRequired in a text are seen here alone, and not by the class itself.
            wrapper, inner = _wrapper(hint)
            needed |= {name} if "Required" in wrapper else set()
            needed -= {name} if "NotRequired" in wrapper else set()
            readers[name] = self.reader(inner, f'key "{name}" of {kind.__name__}')

        def read(value: Any) -> Any:
            known = _members(value, readers, sorted(needed))
            return {**value, **known}

        return read


def is_record(kind: Any) -> bool:
    """Whether a JSON object becomes one of these: a dataclass, a TypedDict, a pydantic model."""
    return isinstance(kind, type) and (
        dataclasses.is_dataclass(kind) or is_typed_dict(kind) or models.is_model(kind)
    )


def is_typed_dict(kind: Any) -> bool:
    """Whether it is a TypedDict, of `typing` or of `typing_extensions`."""
    return isinstance(kind, type) and issubclass(kind, dict) and hasattr(kind, "__required_keys__")


def shown(kind: Any) -> str:
    """A type as a person would write it."""
    if kind is type(None):
        return "None"
    if isinstance(kind, type) and typing.get_origin(kind) is None:
        return kind.__name__
    return str(kind).replace("typing.", "")


def _bare(kind: Any) -> Any:
    """The type below a NewType, an Annotated and its like."""
    while True:
        if hasattr(kind, "__supertype__"):
            kind = kind.__supertype__
        elif hasattr(kind, "__metadata__"):
            kind = kind.__origin__
        else:
            return type(None) if kind is None else kind


def _wrapper(kind: Any) -> tuple[list[str], Any]:
    """What a TypedDict's key is marked with, and its type below that."""
    marks: list[str] = []
    kind = _bare(kind)
    while (name := getattr(typing.get_origin(kind), "_name", None)) in _WRAPPERS:
        marks.append(str(name))
        kind = _bare(typing.get_args(kind)[0])
    return marks, kind


def _members(value: Any, readers: Mapping[str, Reader], needed: Iterable[str]) -> dict[str, Any]:
    """The members that the type knows; others are left where they are."""
    if not isinstance(value, dict):
        raise wrong("an object", value)
    for name in needed:
        if name not in value:
            raise Unfit(f'the key "{name}" is missing')
    known = {}
    for name, reader in readers.items():
        if name in value:
            try:
                known[name] = reader(value[name])
            except Unfit as unfit:
                raise unfit.inside(name) from None
    return known
