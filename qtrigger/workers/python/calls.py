"""One run of one function: arguments in, an end out.

Owns what a run may end with and how user code's exceptions are read. It does not know how runs
are scheduled, nor sockets: a test or an in-process worker uses it alone.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from typing import Any

from .annotations import QUEUE
from .context import Context, Out
from .failures import Describer
from .message import Message, queue_message, queue_message_class
from .outputs import Item, OutputError, items_of
from .signature import RETURN, Plan
from .wishes import Wishes, WishRefused

Notice = Callable[[str, str], None]
"""Told a kind and a text about something a person should know of this function."""


class Call:
    """A run under way; `plain` or `awaited` runs it to its end.

    An end is what goes over the wire: a header and the blobs of its output items. `context` may be
    None for a function that takes none.
    """

    def __init__(
        self,
        plan: Plan,
        message: Message,
        context: Context | None,
        describer: Describer,
        notice: Notice,
        wishes: Wishes,
    ) -> None:
        self._plan = plan
        self._message = message
        self._context = context
        self._describer = describer
        self._notice = notice
        self._wishes = wishes
        self._outs = {name: Out() for name in plan.outs}
        self.started: float | None = None

    def plain(self) -> tuple[dict[str, Any], list[bytes]]:
        """Call a plain function."""
        self.started = time.monotonic()
        try:
            returned = self._plan.function(**self._arguments())
            return self._finish(returned)
        except BaseException as error:  # noqa: BLE001 - whatever user code raises is its failure
            return self._failed(error), []

    async def awaited(self) -> tuple[dict[str, Any], list[bytes]]:
        """Call an async function. A cancellation is an end like any other."""
        self.started = time.monotonic()
        try:
            returned = await self._plan.function(**self._arguments())
            return self._finish(returned)
        except BaseException as error:  # noqa: BLE001 - whatever user code raises is its failure
            return self._failed(error), []

    def ends(self, end: dict[str, Any]) -> list[dict[str, Any]]:
        """That end of the run as one for each of its messages."""
        return [end]

    def _arguments(self) -> dict[str, Any]:
        arguments: dict[str, Any] = {self._plan.trigger: self._argument(self._message)}
        if self._plan.has_context:
            arguments["context"] = self._context
        for name, known in self._plan.properties.items():
            arguments[name] = known.of(self._message)
        if self._outs:
            arguments.update(self._outs)
        return arguments

    def _argument(self, message: Message) -> Any:
        if self._plan.read is not None:
            return self._plan.read(message.body)
        if self._plan.takes == "bytes":
            return message.body
        if self._plan.takes == "str":
            return message.text
        return queue_message(message, self._plan.message_class or queue_message_class())

    def _finish(self, returned: Any) -> tuple[dict[str, Any], list[bytes]]:
        if self._wishes.swallowed.noted:
            self._tell_swallowed(None)
        if returned is not None:
            self._check_returned(returned)
        written = [(name, out.get(), self._plan.outs[name]) for name, out in self._outs.items()]
        if self._plan.returns:
            written.append((RETURN, returned, QUEUE))
        if not written:
            return {"end": "ok"}, []
        outputs: list[dict[str, Any]] = []
        blobs: list[bytes] = []
        for binding, value, converter in written:
            items = items_of(
                value, binding=binding, converter=converter, mode=self._plan.mode, warn=self._notice
            )
            if items:
                outputs.append({"binding": binding, "items": [_item_header(i) for i in items]})
                blobs.extend(item.body for item in items)
        return {"end": "ok", "outputs": outputs}, blobs

    def _check_returned(self, returned: Any) -> None:
        if inspect.iscoroutine(returned):
            returned.close()
            raise OutputError(
                "the function returned a coroutine that nobody awaited: declare it with async def"
            )
        if inspect.isasyncgen(returned) or inspect.isawaitable(returned):
            raise OutputError(
                f"the function returned a {type(returned).__name__}, which is no value"
            )
        if self._plan.returns:
            return
        if inspect.isgenerator(returned):
            raise OutputError(
                "the function is a generator and has no $return binding: its code never ran"
            )
        self._notice(
            "return-dropped",
            f"the function returned a {type(returned).__name__}, which was dropped: it has no "
            "$return binding. On Azure this fails the invocation.",
        )

    def _failed(self, error: BaseException) -> dict[str, Any]:
        refused = ""
        try:
            wish = self._wishes.of(error, self._notice)
        except WishRefused as refusal:
            wish, refused = None, str(refusal)
        except BaseException:  # noqa: BLE001 - the user's attributes may raise anything
            wish = None
        if self._wishes.swallowed.noted:
            self._tell_swallowed(error, silent=wish is not None)
        if wish is not None:
            return wish
        detail = self._describer.detail(error)
        if refused:
            detail["message"] = refused
        if not detail["place"]:
            detail["place"] = self._describer.defined_at(self._plan.function)
        return {"end": "failed", **detail}

    def _tell_swallowed(self, ended_by: BaseException | None, *, silent: bool = False) -> None:
        name = self._wishes.swallowed.end(ended_by)
        if name and not silent:
            self._notice(
                f"swallowed-{name}",
                f"the function raised {name} and swallowed it, by `except Exception` perhaps, so "
                "that its run ended otherwise: let it pass, or derive it from BaseException",
            )


def _item_header(item: Item) -> Any:
    if item.delay_s is None and item.ttl_s is None:
        return len(item.body)
    return [len(item.body), item.delay_s, item.ttl_s]
