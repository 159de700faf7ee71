"""One run of a function on several messages: each is read on its own, and has its own end.

Owns which messages a run names as failed. None is taken for done by a slip: what cannot be
understood fails all of them. It does not know how runs are scheduled.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from .calls import Call, Notice
from .context import Context
from .failures import Describer
from .message import Message
from .signature import Plan
from .wishes import Wishes

_TEXTS = (str, bytes, bytearray)
_MOST_SHOWN = 80
End = dict[str, Any]


class ReportError(Exception):
    """What a function says of its messages cannot be understood; all of them have failed."""


class BatchCall(Call):
    """A run under way; its end holds an `ends`, one for each message in order.

    The outputs are the run's, and stand in the end of the first message that succeeded.
    """

    def __init__(
        self,
        plan: Plan,
        messages: Sequence[Message],
        context: Context | None,
        describer: Describer,
        notice: Notice,
        wishes: Wishes,
    ) -> None:
        super().__init__(plan, messages[0], context, describer, notice, wishes)
        self._messages = messages
        # Of the messages that cannot be read, by their places; the function is not given them.
        self._unread: dict[int, End] = {}
        self._ids: list[str] = []
        self._items: list[Any] = []

    def ends(self, end: End) -> list[End]:
        """See `Call`: one that is no `batch` is that of each message."""
        if end["end"] == "batch":
            return list(end["ends"])
        return [end] * len(self._messages)

    def plain(self) -> tuple[End, list[bytes]]:
        """See `Call`."""
        self.started = time.monotonic()
        arguments = self._arguments()
        if not self._ids:
            return self._all({}), []
        try:
            return self._finish(self._plan.function(**arguments))
        except BaseException as error:  # noqa: BLE001 - whatever user code raises is its failure
            return self._raised(error)

    async def awaited(self) -> tuple[End, list[bytes]]:
        """See `Call`."""
        self.started = time.monotonic()
        arguments = self._arguments()
        if not self._ids:
            return self._all({}), []
        try:
            return self._finish(await self._plan.function(**arguments))
        except BaseException as error:  # noqa: BLE001 - whatever user code raises is its failure
            return self._raised(error)

    def _arguments(self) -> dict[str, Any]:
        """The arguments, of the messages that can be read; the ends of the others are noted."""
        known: dict[str, list[Any]] = {name: [] for name in self._plan.properties}
        for place, message in enumerate(self._messages):
            try:
                item = self._argument(message)
                values = [each.of(message) for each in self._plan.properties.values()]
            except BaseException as error:  # noqa: BLE001 - the user's classes may raise anything
                self._unread[place] = self._failed(error)
                continue
            self._ids.append(message.id)
            self._items.append(item)
            for each, value in zip(known.values(), values):  # noqa: B905 - Python 3.9
                each.append(value)
        # The function may change its list; what it names is looked up in ours.
        arguments = {self._plan.trigger: list(self._items), **known, **self._outs}
        if self._plan.has_context:
            arguments["context"] = self._context
        return arguments

    def _finish(self, returned: Any) -> tuple[End, list[bytes]]:
        if self._plan.returns:
            return self._ends_of(set(), *super()._finish(returned))
        failed = self._named_by(returned)
        if len(failed) < len(self._ids):
            return self._ends_of(failed, *super()._finish(None))
        # A run of which nothing succeeded writes nothing.
        if self._wishes.swallowed.noted:
            self._tell_swallowed(None)
        return self._ends_of(failed, {"end": "ok"}, [])

    def _named_by(self, returned: Any) -> set[str]:
        """The messages that a return value names as failed. Raises ReportError or OutputError."""
        if returned is None:
            return set()
        if inspect.isawaitable(returned) or inspect.isasyncgen(returned):
            self._check_returned(returned)
        given = attribute_of(returned, "failed_ids", "failed")
        if given is None and not is_list(returned, Collection):
            raise ReportError(
                f"the function returned a {type(returned).__name__}, so that nobody knows which of "
                "its messages failed: all are taken to have. With cardinality many it returns "
                "nothing, or a list of the ids of those that failed"
            )
        return self._named(returned if given is None else given)

    def _raised(self, error: BaseException) -> tuple[End, list[bytes]]:
        """All have failed, or those that the exception names in `failed_ids`."""
        end = self._failed(error)
        if end["end"] != "failed":
            return self._all(end), []
        try:
            given = attribute_of(error, "failed_ids")
            failed = set() if given is None else self._named(given)
            if not failed or len(failed) == len(self._ids):
                return self._all(end), []
            return self._ends_of(failed, *super()._finish(None), end)
        except ReportError as unclear:
            end["message"] = f"{end['message']}; all are taken to have failed: {unclear}"
            return self._all(end), []
        except BaseException as other:  # noqa: BLE001 - an output, or the user's attributes
            return self._all(self._failed(other)), []

    def _named(self, given: Any) -> set[str]:
        """The ids of what is given: ids, or what the function was given. Raises ReportError."""
        if not is_list(given, Iterable):
            raise ReportError(f"its failed ids are a {type(given).__name__}, and no list")
        failed: set[str] = set()
        for each in given:
            found = self._ids_of(each)
            if not found:
                shown = (
                    repr(each)
                    if isinstance(each, _TEXTS)
                    else f"a value of type {type(each).__name__}"
                )
                raise ReportError(
                    f"it names {shown[:_MOST_SHOWN]} as failed, which is no id of its messages"
                )
            failed.update(found)
        return failed

    def _ids_of(self, each: Any) -> list[str]:
        """A text is an id, never a body; a thing is found by being the one, else by its id."""
        if not isinstance(each, _TEXTS):
            pairs = zip(self._ids, self._items)  # noqa: B905 - Python 3.9
            if found := [key for key, item in pairs if item is each]:
                return found
            each = getattr(each, "id", None)
        return [each] if isinstance(each, str) and each in self._ids else []

    def _ends_of(
        self, failed: set[str], ok: End, blobs: list[bytes], end: End | None = None
    ) -> tuple[End, list[bytes]]:
        end = end or {
            "end": "failed",
            "type": "FailedInBatch",
            "message": "the function names this message as failed",
            "place": self._describer.defined_at(self._plan.function),
        }
        ends: list[End] = []
        for place, message in enumerate(self._messages):
            if place in self._unread:
                ends.append(self._unread[place])
            elif message.id in failed:
                ends.append(end)
            else:
                ends.append(ok)
                ok = {"end": "ok"}
        return {"end": "batch", "ends": ends}, blobs

    def _all(self, end: End) -> End:
        """That end for each message that the function was given."""
        places = range(len(self._messages))
        return {"end": "batch", "ends": [self._unread.get(place, end) for place in places]}


def is_list(value: Any, kind: Any) -> bool:
    """Whether a value is several, and neither a text nor something with keys."""
    return isinstance(value, kind) and not isinstance(value, (*_TEXTS, Mapping))


def attribute_of(value: Any, *names: str) -> Any:
    """The first of those attributes that is there and not None; a list has none of them."""
    found = (getattr(value, name, None) for name in names)
    return next((each for each in found if each is not None), None)
