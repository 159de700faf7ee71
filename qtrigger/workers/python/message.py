"""The message of a run, and which of its properties a parameter may be named after.

Owns the values as they came over the wire and what user code gets of them. It knows no bindings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

# Times go over the wire as whole numbers: exact up to the year 9999, and read only when asked for.
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)  # noqa: UP017 - Python 3.9 has no UTC
_MICROSECOND = timedelta(microseconds=1)


def microseconds(time: datetime) -> int:
    """A time that has a zone as whole microseconds since 1970 in UTC."""
    return (time - _EPOCH) // _MICROSECOND


class InputError(Exception):
    """A message's body is not what the function takes. The text never holds the body itself."""


class Message(NamedTuple):
    """The message as it came over the wire; times are as `microseconds` has them.

    `max_dequeue_count` is how many tries it has here, 0 when nobody knows.
    """

    id: str
    body: bytes
    dequeue_count: int
    inserted: int
    expires: int
    next_visible: int
    pop_receipt: str
    max_dequeue_count: int = 0

    @property
    def text(self) -> str:
        """The body as text. Raises InputError when it is not UTF-8."""
        try:
            return self.body.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"the message's body is not UTF-8 at byte {error.start}, and the function takes "
                "str; annotate the parameter bytes or func.QueueMessage to receive any body"
            ) from None

    @property
    def expiration_time(self) -> datetime:
        """When the service deletes it, with its zone; the year 9999 for never."""
        return _time(self.expires)

    @property
    def insertion_time(self) -> datetime:
        """When it was put on the queue, with its zone."""
        return _time(self.inserted)

    @property
    def time_next_visible(self) -> datetime:
        """When its lease would have ended at its receive, with its zone."""
        return _time(self.next_visible)


def _time(since_1970: int) -> datetime:
    return _EPOCH + since_1970 * _MICROSECOND


@dataclass(frozen=True)
class Property:
    """A property that a parameter may be named after; its type, and how to get it."""

    kind: type
    of: Callable[[Message], Any]


# The host's names for what it knows of a message, the library's name for one of them, and the limit
# of its tries, which is ours.
_PROPERTIES = {
    "id": Property(str, lambda message: message.id),
    "dequeue_count": Property(int, lambda message: message.dequeue_count),
    "max_dequeue_count": Property(int, lambda message: message.max_dequeue_count),
    "insertion_time": Property(datetime, lambda message: message.insertion_time),
    "expiration_time": Property(datetime, lambda message: message.expiration_time),
    "next_visible_time": Property(datetime, lambda message: message.time_next_visible),
    "time_next_visible": Property(datetime, lambda message: message.time_next_visible),
    "pop_receipt": Property(str, lambda message: message.pop_receipt),
    "queue_trigger": Property(str, lambda message: message.text),
}
NAMES = tuple(_PROPERTIES)
_BY_PLAIN_NAME = {name.replace("_", ""): each for name, each in _PROPERTIES.items()}


def property_named(parameter: str) -> Property | None:
    """The property that a parameter is named after: `dequeue_count`, `dequeueCount`."""
    return _BY_PLAIN_NAME.get(parameter.replace("_", "").lower())


def queue_message_class() -> Any:
    """The class with all properties, from the project's own packages. Raises ImportError."""
    from azure.functions.queue import QueueMessage  # noqa: PLC0415 - costs 80 ms and 20 MB

    return QueueMessage


def queue_message(message: Message, made_by: Callable[..., Any]) -> Any:
    """The object for a parameter that takes the message, of that class."""
    made = made_by(
        id=message.id,
        body=message.body,
        dequeue_count=message.dequeue_count,
        expiration_time=message.expiration_time,
        insertion_time=message.insertion_time,
        time_next_visible=message.time_next_visible,
        pop_receipt=message.pop_receipt,
    )
    # The library's class knows no such thing; one that takes no other attributes goes without.
    try:  # noqa: SIM105 - for every message
        made.max_dequeue_count = message.max_dequeue_count
    except AttributeError:
        pass
    return made
