"""From a message's body to the value of a parameter that takes JSON.

Owns which annotations of the trigger's parameter mean that, and what is said of a body that does
not fit. `shapes` knows the types inside.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Callable
from typing import Any

from . import models
from .message import InputError
from .shapes import Shapes, is_record, shown
from .unfit import Unfit

BodyReader = Callable[[bytes], Any]
"""Reads a body. Raises InputError, or what a class of the user's raises when it is made."""


def body_reader(annotation: Any, parameter: str) -> BodyReader | None:
    """What reads the body for that annotation, None when it does not mean JSON.

    Raises Shapeless for one that means it and holds a type that cannot be read, and NameError for
    one with a name that cannot be resolved.
    """
    origin = typing.get_origin(annotation)
    if not (annotation in (dict, list) or origin in (dict, list) or is_record(annotation)):
        return None
    name = shown(annotation)
    if models.is_model(annotation):
        read: BodyReader = models.body_reader(annotation)
    else:
        of_value = Shapes().reader(annotation, f'parameter "{parameter}"')

        def read(body: bytes) -> Any:
            return of_value(_parsed(body, name))

    def fitted(body: bytes) -> Any:
        try:
            return read(body)
        except Unfit as unfit:
            what = f"does not fit {name}, which the function takes: {unfit}"
        except RecursionError:
            what = f"is nested too deeply to be read as {name}, which the function takes"
        raise InputError(f"the message's body {what}")

    return fitted


def _parsed(body: bytes, name: str) -> Any:
    """The body's JSON value; a byte order mark does no harm."""
    if not body.strip():
        raise _no_json("it is empty", name)
    try:
        return json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise _no_json(f"it is not UTF-8 at byte {error.start}", name) from None
    except json.JSONDecodeError as error:
        what = f"{error.msg.rstrip(': ')} at line {error.lineno}, column {error.colno}"
        raise _no_json(what, name) from None
    except ValueError as error:  # a number of thousands of digits, or a constant
        raise _no_json(str(error), name) from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"it holds {name}, which is no number of JSON")


def _no_json(why: str, name: str) -> InputError:
    return InputError(f"the message's body is not JSON, and the function takes {name}: {why}")
