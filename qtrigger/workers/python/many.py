"""What the parameters of a function with cardinality `many` are annotated with: lists.

Owns the step from such an annotation to that of one element, which is read as the parameter of a
function for single messages is.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Mapping
from typing import Any

from .annotations import SignatureError
from .shapes import shown


def is_many(trigger: Mapping[str, Any]) -> bool:
    """Whether that binding gives its function a list of messages."""
    return str(trigger.get("cardinality", "")).lower() == "many"


def of_elements(names: Iterable[str], hints: Mapping[str, Any]) -> dict[str, Any]:
    """The hints with those names' replaced by the ones of an element, left out where unknown.

    Raises SignatureError for an annotation that is none of a list.
    """
    result = dict(hints)
    for name in names:
        if name not in hints:
            continue
        annotation = hints[name]
        origin, arguments = typing.get_origin(annotation) or annotation, typing.get_args(annotation)
        if not isinstance(origin, type) or not issubclass(list, origin):
            raise SignatureError(
                f'parameter "{name}" is annotated {shown(annotation)}, and cardinality "many" '
                "gives it a list: annotate it list[…], such as list[func.QueueMessage], or not at "
                "all"
            )
        if arguments:
            result[name] = arguments[0]
        else:
            del result[name]
    return result
