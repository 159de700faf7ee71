"""Pausing and resuming a function over HTTP: what `qtrigger pause` and `resume` do.

Owns what a pause over HTTP says of itself. It is written into the same file, so that it outlives
the host and other hosts of the project heed it too.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from qtrigger.admin.faces import Faces
from qtrigger.admin.route import Answer, Asked, Refusal, Right, Route, as_json
from qtrigger.errors import ProjectError
from qtrigger.pauses import Pause, writable

# Ten years, as of the command.
LONGEST_S: Final = 10 * 365 * 86_400.0
LONGEST_REASON: Final = 500


class PauseRoutes:
    """Pauses and resumes functions."""

    def __init__(self, faces: Faces) -> None:
        self._faces = faces

    def routes(self) -> Sequence[Route]:
        """What is answered where."""
        deeds = {"pause": self._pause, "resume": self._resume}
        return [
            Route(
                method="POST",
                path=f"/api/functions/{{name}}/{word}",
                right=Right.ACT,
                answer=answer,
                action=f"function.{word}",
            )
            for word, answer in deeds.items()
        ]

    async def _pause(self, asked: Asked) -> Answer:
        name, content = self._name(asked), asked.json()
        span, reason = _span(content.get("for_s")), content.get("reason") or ""
        if not isinstance(reason, str) or len(reason) > LONGEST_REASON:
            raise Refusal(400, f'"reason" is a text of at most {LONGEST_REASON} characters')
        now = self._faces.clock.utcnow().replace(microsecond=0)
        until = None if span is None else self._faces.clock.utcnow() + span
        plain = writable(" ".join(reason.split()))
        pause = Pause(
            function=name, since=now, until=until, reason=plain, by=f"{asked.who} over HTTP"
        )
        try:
            await self._faces.pauses.pause(pause, self._faces.clock)
        except ProjectError as error:
            raise Refusal(500, str(error)) from error
        return as_json({"function": name, "paused": pause.in_words()})

    async def _resume(self, asked: Asked) -> Answer:
        name = self._name(asked)
        try:
            ended = await self._faces.pauses.resume(name, self._faces.clock)
        except ProjectError as error:
            raise Refusal(500, str(error)) from error
        return as_json({"function": name, "was_paused": ended.in_words() if ended else None})

    def _name(self, asked: Asked) -> str:
        """The function's name as the project has it. Raises Refusal."""
        project, name = self._faces.live.required().project, asked.parts["name"]
        known = [*(each.name for each in project.functions), *project.failed]
        found = next((each for each in known if each.casefold() == name.casefold()), None)
        if found is None:
            raise Refusal(404, f"there is no function {name!r} in this project")
        return found


def _span(given: object) -> timedelta | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise Refusal(400, '"for_s" is a number of seconds, or is not there')
    if not 0 < given <= LONGEST_S:
        raise Refusal(400, '"for_s" is over 0, and ten years at most')
    return timedelta(seconds=given)
