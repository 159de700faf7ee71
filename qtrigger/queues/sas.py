"""What a shared access signature says about itself.

Owns the reading of its permissions, services and resource types; whether it is genuine is for the
service to say. What a stored access policy may grant stands in no SAS, and is left open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qs

from qtrigger.queues import wire
from qtrigger.queues.wire import Operation

# An account SAS names the resource types that it is for: service, container (a queue), object.
_ON_QUEUES: Final = (wire.GET_PROPERTIES, wire.CREATE_QUEUE)
_ON_SERVICE: Final = (wire.LIST_QUEUES,)
_ALSO_BY: Final = {wire.CREATE_QUEUE: "w"}


def lacks(token: str, operation: Operation) -> bool:
    """Whether the SAS rules the operation out; false where its text leaves that open."""
    fields = parse_qs(token.strip().lstrip("?"))
    of_account = "ss" in fields
    if of_account and ("q" not in fields["ss"][0] or _type(operation) not in _text(fields, "srt")):
        return True
    if not of_account and (operation in _ON_SERVICE or operation is wire.CREATE_QUEUE):
        return "sp" in fields
    if "sp" not in fields:
        return False
    wanted = operation.permission[0] + _ALSO_BY.get(operation, "")
    return not set(wanted) & set(fields["sp"][0])


def shortcoming(token: str, operations: Sequence[Operation]) -> str:
    """What the SAS is short of for the operations, completing "the SAS …"; "" when of nothing."""
    missing = [operation for operation in operations if lacks(token, operation)]
    if not missing:
        return ""
    fields = parse_qs(token.strip().lstrip("?"))
    if "ss" in fields and "q" not in fields["ss"][0]:
        return "is not for the queue service (ss=q)"
    types = {_type(operation) for operation in missing} - set(_text(fields, "srt"))
    if "ss" in fields and types:
        return f"is not for this type of resource (srt={''.join(sorted(types))})"
    names = list(dict.fromkeys(operation.permission for operation in missing))
    return f"lacks the permission{'s' if len(names) > 1 else ''} {' and '.join(names)}"


def _type(operation: Operation) -> str:
    if operation in _ON_SERVICE:
        return "s"
    return "c" if operation in _ON_QUEUES else "o"


def _text(fields: dict[str, list[str]], key: str) -> str:
    return fields.get(key, [""])[0]
