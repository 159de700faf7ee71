"""What a message offers to binding expressions: its metadata and its body's properties.

Pure; the names are those that Azure gives to its queue trigger.
"""

from __future__ import annotations

import json
from typing import Any, Final

from qtrigger.invocation import TriggerMessage

METADATA: Final = (
    "QueueTrigger",
    "DequeueCount",
    "ExpirationTime",
    "Id",
    "InsertionTime",
    "NextVisibleTime",
    "PopReceipt",
)
"""What every message offers; `QueueTrigger` is its body as text."""


def binding_data(message: TriggerMessage) -> dict[str, Any]:
    """The names and values of one message.

    `QueueTrigger` is left out when the body is not UTF-8. The top-level properties of a body that
    is a JSON object come on top, whatever the case of their names: `id` replaces `Id`.
    """
    data: dict[str, Any] = {
        "DequeueCount": message.dequeue_count,
        "ExpirationTime": message.expires,
        "Id": message.id,
        "InsertionTime": message.inserted,
        "NextVisibleTime": message.next_visible,
        "PopReceipt": message.pop_receipt,
    }
    try:
        text = message.body.decode()
    except UnicodeDecodeError:
        return data
    data = {"QueueTrigger": text, **data}
    own = {name.casefold(): name for name in data}
    for name, value in _properties(text).items():
        if value is None:
            continue
        data.pop(own.get(name.casefold(), ""), None)
        own[name.casefold()] = name
        data[name] = _plain(value)
    return data


def _properties(text: str) -> dict[str, Any]:
    bare = text.strip()
    if not (bare.startswith("{") and bare.endswith("}")):
        return {}
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _plain(value: Any) -> Any:
    """Scalars as the text that .NET makes of them; objects keep their parts."""
    match value:
        case dict():
            return {name: _plain(part) for name, part in value.items() if part is not None}
        case list():
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case _:
            return str(value)
