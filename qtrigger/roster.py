"""The listeners of a host, which come and go while it lives.

Owns which listeners there are, and what a project loaded anew means for each: one whose function is
as before goes on with all it knows, one whose function is broken is held, and the others make room
for new ones. It reads no files and starts no workers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from qtrigger.assembly import within
from qtrigger.background import begin
from qtrigger.listener import UNLOADED, Listener
from qtrigger.project.model import FunctionDefinition
from qtrigger.retrying import Run
from qtrigger.workers.succession import Runner, Succession, Tie

Make = Callable[[FunctionDefinition, Run], Listener]
"""Puts the listener of a function together, whose runs go there; it does not poll yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """A listener, the function that it was made for, and that one in the room that there was."""

    function: FunctionDefinition
    within: FunctionDefinition
    listener: Listener
    runner: Runner

    def is_for(self, function: FunctionDefinition | None, at_once: Mapping[str, int]) -> bool:
        """Whether nothing has changed for it."""
        name = self.function.name
        return function == self.function and self.within == within(function, at_once.get(name))

    @property
    def held(self) -> bool:
        return UNLOADED in self.listener.paused

    def hold(self) -> Sequence[Tie]:
        """Ask for nothing more; what it has in hand stays with the workers that there are."""
        self.listener.pause(UNLOADED)
        return [self._quiet] if self.runner.stay() else []

    def release(self) -> None:
        """Go on, at once, with the newest workers."""
        self.runner.follow()
        if not self.listener.resume(UNLOADED):
            self.listener.wake()

    async def _quiet(self) -> None:
        """Wait until it has nothing in hand, or has gone on with other workers."""
        waits = [
            asyncio.ensure_future(each) for each in (self.listener.quiet(), self.runner.moved_on())
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()


class Roster:
    """The listeners of one host, on the workers of `succession`.

    `forget` is called with each listener that has ended before the host does.
    """

    def __init__(
        self, make: Make, succession: Succession, *, forget: Callable[[Listener], None]
    ) -> None:
        self._make = make
        self._succession = succession
        self._forget = forget
        self._members: dict[str, _Member] = {}
        self._leaving: set[Listener] = set()
        self._stranded = 0
        self.polling: set[asyncio.Task[None]] = set()

    @property
    def listeners(self) -> tuple[Listener, ...]:
        """Those of the project's functions."""
        return tuple(member.listener for member in self._members.values())

    @property
    def all(self) -> tuple[Listener, ...]:
        """Those too whose last messages are on their way."""
        return (*self.listeners, *self._leaving)

    @property
    def stranded(self) -> int:
        """Messages that could not be handed back, also of listeners that are gone."""
        return self._stranded + sum(listener.stranded for listener in self.all)

    def add(self, functions: Sequence[FunctionDefinition], at_once: Mapping[str, int]) -> None:
        """Make the listeners of functions that can run; they do not poll yet."""
        for function in functions:
            runner = Runner(self._succession)
            narrowed = within(function, at_once.get(function.name))
            self._members[function.name] = _Member(
                function=function,
                within=narrowed,
                listener=self._make(narrowed, runner.invoke),
                runner=runner,
            )

    def poll(self, listeners: Sequence[Listener]) -> None:
        """Begin to poll."""
        for listener in listeners:
            task = asyncio.ensure_future(listener.run())
            task.set_name(f"listener {listener.function}")
            self.polling.add(task)

    def renew(
        self,
        functions: Sequence[FunctionDefinition],
        broken: AbstractSet[str],
        at_once: Mapping[str, int],
    ) -> list[Tie]:
        """Become the listeners of these functions, but for the `broken` ones; new ones poll.

        To be called before newer workers take over. Returns what the present workers must wait for:
        until listeners that are not to run there have no messages left.
        """
        wanted = {each.name: each for each in functions if each.name not in broken}
        ties: list[Tie] = []
        for name, member in list(self._members.items()):
            if name in broken:
                ties.extend(member.hold())
            elif member.is_for(wanted.get(name), at_once):
                del wanted[name]
                member.release()
            else:
                del self._members[name]
                ties.extend(self._see_off(member))
        before = self.listeners
        self.add(list(wanted.values()), at_once)
        self.poll([each for each in self.listeners if each not in before])
        return ties

    def unable(self, functions: AbstractSet[str]) -> list[Listener]:
        """Ask for messages of all functions but these; returns the listeners that go on."""
        resumed = []
        for member in self._members.values():
            if member.function.name in functions:
                member.listener.pause(UNLOADED)
            elif member.held:
                member.release()
                resumed.append(member.listener)
        return resumed

    def _see_off(self, member: _Member) -> Sequence[Tie]:
        listener = member.listener
        stays = member.runner.stay()
        listener.stop_polling()
        self._leaving.add(listener)
        end = begin(self._end(listener), name=f"end of the listener {listener.function}")

        async def gone() -> None:
            await asyncio.wait([end])

        return [gone] if stays else []

    async def _end(self, listener: Listener) -> None:
        await listener.quiet()
        self._stranded += listener.stranded
        self._leaving.discard(listener)
        self._forget(listener)
