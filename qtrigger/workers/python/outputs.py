"""From what a function gives to the messages of an output.

Owns the rules of both modes. `azure` gives the product of the reference's two stages (its worker
and its host) byte for byte, surprises included; `exact` writes what the code gave. Sizes are not
checked here: the limit depends on how the queue's messages are encoded.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from . import azure_json
from .annotations import GENERIC, is_queue_message
from .models import is_model
from .times import TimeRefused, delay, time_to_live

Warn = Callable[[str, str], None]
"""Told a kind of surprise, once per kind and function is enough, and a text for a person."""


class Item(NamedTuple):
    """A message to write; `delay_s` and `ttl_s` None leave it to the service."""

    body: bytes
    delay_s: float | None = None
    ttl_s: float | None = None


class OutputError(Exception):
    """A value cannot be written to an output."""


def items_of(value: Any, *, binding: str, converter: str, mode: str, warn: Warn) -> list[Item]:
    """The messages for `value`, in order; none for None. Raises OutputError, or what a generator
    raises.
    """  # noqa: D205
    if value is None:
        return []
    where = "the return value" if binding == "$return" else f'output "{binding}"'
    if mode == "exact":
        return list(_exact(value, where))
    surprised = _Surprises(where, warn)
    if converter == GENERIC:
        return _azure_generic(value, where, surprised)
    return _azure_queue(value, where, surprised)


# --- exact --------------------------------------------------------------------------------------


_EXACT_KINDS = "str, bytes, func.QueueMessage, dict, a dataclass or a pydantic model"


def _exact(value: Any, where: str) -> Iterator[Item]:
    single = _exact_one(value, where)
    if single is not None:
        yield single
    elif isinstance(value, Iterable):
        for index, element in enumerate(value):
            if element is not None:
                yield _exact_element(element, f"item {index} of {where}")
    else:
        raise OutputError(_refusal(value, where, _EXACT_KINDS))


def _exact_element(element: Any, where: str) -> Item:
    item = _exact_one(element, where)
    if item is None:
        raise OutputError(_refusal(element, where, _EXACT_KINDS))
    return item


def _exact_one(value: Any, where: str) -> Item | None:
    if isinstance(value, str):
        return Item(_utf8(value, where))
    if isinstance(value, (bytes, bytearray, memoryview)):
        return Item(bytes(value))
    if is_queue_message(type(value)):
        return _with_times(value, value.get_body(), where)
    text = _exact_json(value, where)
    return None if text is None else Item(text)


def _exact_json(value: Any, where: str) -> bytes | None:
    """What is written as one JSON text, None for anything else."""
    if isinstance(value, dict):
        return _compact(value, where)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _compact(dataclasses.asdict(value), where)
    if hasattr(value, "model_dump_json") and is_model(type(value)):
        return _utf8(value.model_dump_json(), where)
    return None


def _compact(value: Any, where: str) -> bytes:
    try:
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise OutputError(f"{where} cannot be written as JSON: {error}") from error
    return _utf8(text, where)


# --- azure --------------------------------------------------------------------------------------


class _Surprises:
    """Says what was written where that is not what the code gave."""

    def __init__(self, where: str, warn: Warn) -> None:
        self._where = where
        self._warn = warn

    def __call__(self, kind: str, what: str) -> None:
        text = (
            f"{self._where}: {what}, as on Azure. With outputs set to exact in host.json the "
            "messages would be what the code gave."
        )
        self._warn(kind, text)


def _azure_queue(value: Any, where: str, surprised: _Surprises) -> list[Item]:
    if isinstance(value, str):
        return _host_string(value, where, surprised)
    if isinstance(value, bytes):
        return [Item(value)]
    if is_queue_message(type(value)):
        return [_document(value, where, surprised)]
    if isinstance(value, dict):
        surprised("dict-keys", f"a dict was written as its keys, {len(value)} messages")
    elif isinstance(value, bytearray) or _is_record(value) or not isinstance(value, Iterable):
        raise OutputError(_refusal(value, where, "str, bytes, func.QueueMessage or a list of them"))
    return [
        _azure_element(element, f"item {index} of {where}", surprised)
        for index, element in enumerate(value)
    ]


def _azure_element(element: Any, where: str, surprised: _Surprises) -> Item:
    if isinstance(element, str):
        return Item(_utf8(element, where))
    if is_queue_message(type(element)):
        return _document(element, where, surprised)
    raise OutputError(_refusal(element, where, "str or func.QueueMessage"))


def _azure_generic(value: Any, where: str, surprised: _Surprises) -> list[Item]:
    if isinstance(value, str):
        return _host_string(value, where, surprised)
    if isinstance(value, (bytes, bytearray)):
        return [Item(bytes(value))]
    if isinstance(value, (dict, list)):
        try:
            plain = json.loads(json.dumps(value))
        except (TypeError, ValueError) as error:
            raise OutputError(f"{where} cannot be written as JSON: {error}") from error
        return _host_json(plain, where, surprised)
    if isinstance(value, bool):
        surprised("bool-as-number", f"{value} was written as {int(value)}")
        return [Item(str(int(value)).encode())]
    if isinstance(value, int):
        return [Item(str(value).encode())]
    if isinstance(value, float):
        return [Item(azure_json.number_text(value).encode())]
    raise OutputError(_refusal(value, where, "str, bytes, dict, list or a number"))


def _host_string(text: str, where: str, surprised: _Surprises) -> list[Item]:
    if not azure_json.looks_like_json(text):
        return [Item(_utf8(text, where))]
    try:
        value = azure_json.parse(text)
    except (ValueError, RecursionError) as error:
        raise OutputError(
            f"{where} is text that looks like JSON and is not ({error}); such text cannot be "
            "written as str. Give it as bytes, or set outputs to exact in host.json"
        ) from error
    if isinstance(value, list):
        surprised("array-split", f"text that is a JSON array was split into {len(value)} messages")
        return [Item(_utf8(azure_json.message_text(element), where)) for element in value]
    written = azure_json.indented(value)
    if written != text:
        surprised("re-indented", "text that is a JSON object was written again, indented")
    return [Item(_utf8(written, where))]


def _host_json(value: Any, where: str, surprised: _Surprises) -> list[Item]:
    if isinstance(value, list):
        return [Item(_utf8(azure_json.message_text(element), where)) for element in value]
    surprised("re-indented", "a dict was written as indented JSON")
    return [Item(_utf8(azure_json.indented(value), where))]


def _document(message: Any, where: str, surprised: _Surprises) -> Item:
    try:
        body = message.get_body().decode("utf-8")
    except UnicodeDecodeError as error:
        raise OutputError(
            f"the body of the QueueMessage in {where} is not UTF-8: {error}"
        ) from error
    surprised(
        "message-document",
        'a func.QueueMessage was written as a JSON document with "id" and "body"',
    )
    written = azure_json.indented({"id": message.id, "body": body})
    return _with_times(message, _utf8(written, where), where)


# --- both ---------------------------------------------------------------------------------------


def _with_times(message: Any, body: bytes, where: str) -> Item:
    try:
        return Item(
            body,
            delay_s=delay(getattr(message, "delay", None)),
            ttl_s=time_to_live(getattr(message, "time_to_live", None)),
        )
    except TimeRefused as refused:
        raise OutputError(f"{where} has {refused}") from None


def _utf8(text: str, where: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise OutputError(f"{where} cannot be written as UTF-8: {error}") from error


def _refusal(value: Any, where: str, wanted: str) -> str:
    text = f"{where} is of type {type(value).__name__}, which cannot be written; it can be {wanted}"
    if _is_record(value):
        text += ". With outputs set to exact in host.json it is written as JSON"
    return text


def _is_record(value: Any) -> bool:
    """Whether it is a dataclass's or a model's; a model can be iterated, and means nothing so."""
    if isinstance(value, type):
        return False
    return dataclasses.is_dataclass(value) or is_model(type(value))
