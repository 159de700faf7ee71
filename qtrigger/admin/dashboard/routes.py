"""Where the pages are found: the dashboard as routes.

Owns which paths there are and that all pages of one moment show the same figures.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from qtrigger.admin.dashboard.assets import Assets
from qtrigger.admin.dashboard.cells import Cells, Figures
from qtrigger.admin.dashboard.check_page import check_page, findings_of
from qtrigger.admin.dashboard.function_page import function_page
from qtrigger.admin.dashboard.layout import refused
from qtrigger.admin.dashboard.looking import Looking, View
from qtrigger.admin.dashboard.overview import overview
from qtrigger.admin.dashboard.poison_page import poison_page
from qtrigger.admin.dashboard.run import run_object
from qtrigger.admin.dashboard.runs import matching
from qtrigger.admin.dashboard.seen import Seen
from qtrigger.admin.dashboard.viewers import Viewers
from qtrigger.admin.route import Answer, Asked, Refusal, Right, Route, Stream, as_json
from qtrigger.project.model import Problem

MOST_RUNS: Final = 200


class Dashboard:
    """The pages of one process, over one host and the next."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self.looking = Looking(seen)
        self._figures = Figures(seen.recent)
        self._viewers = Viewers(self.looking, self._figures)
        self._assets = Assets()

    def close(self) -> None:
        """Let all viewers go."""
        self._viewers.close()

    def routes(self) -> Sequence[Route]:
        """What is answered where."""
        return (
            self._page("/", self._overview),
            self._page("/f/{name}", self._function),
            self._page("/poison", self._poison),
            self._page("/check", self._check),
            # They say nothing of the host; whoever is to give a key sees a page as well.
            Route(
                method="GET", path="/assets/{file}", right=Right.OPEN, answer=self._assets.answer
            ),
            Route(method="GET", path="/api/recent/{name}", right=Right.READ, answer=self._recent),
            Route(method="GET", path="/api/events", right=Right.READ, answer=self._events),
        )

    def _page(self, path: str, made: Callable[[Asked], Awaitable[Answer]]) -> Route:
        async def answer(asked: Asked) -> Answer:
            try:
                return await made(asked)
            except Refusal as refusal:
                # Whoever followed a link reads a page, and can go on from there.
                view, cells = await self._view()
                return refused(view, cells, refusal)

        return Route(method="GET", path=path, right=Right.READ, answer=answer)

    async def _view(self) -> tuple[View, Cells]:
        view = await self.looking.view()
        return view, self._figures.cells(view)

    async def _overview(self, _asked: Asked) -> Answer:
        view, cells = await self._view()
        return overview(view, cells, self._findings(view))

    async def _function(self, asked: Asked) -> Answer:
        view, cells = await self._view()
        seen = self._seen
        name = asked.parts["name"]
        return function_page(name, asked.query, view, cells, seen.recent, seen.project())

    async def _poison(self, asked: Asked) -> Answer:
        # What is shown here is asked for now, so what the other pages show is no longer true.
        self.looking.forget_poison()
        view, cells = await self._view()
        return await poison_page(asked.query, view, cells, self._seen.poison)

    async def _check(self, _asked: Asked) -> Answer:
        view, cells = await self._view()
        seen = self._seen
        return check_page(view, cells, seen.recent, seen.project(), self._findings(view))

    def _findings(self, view: View) -> Sequence[Problem]:
        return findings_of(view, self._seen.project(), self._seen.plain)

    async def _recent(self, asked: Asked) -> Answer:
        name, recent = asked.parts["name"], self._seen.recent
        view = await self.looking.view()
        if all(each["name"] != name for each in view.functions):
            raise Refusal(404, f"there is no function {name!r} in this project")
        after = asked.query.get("after", "0")
        if not (after.isascii() and after.isdigit() and len(after) < 16):
            raise Refusal(400, "after is the number of a run, from 0 on")
        runs = [each for each in matching(recent, name, asked.query) if each.number > int(after)]
        return as_json(
            {
                "function": name,
                "count": recent.count(name),
                "runs": [run_object(each, recent.utc) for each in runs[:MOST_RUNS]],
            }
        )

    async def _events(self, asked: Asked) -> Stream:
        self._viewers.check_room()
        headers = {key.lower(): value for key, value in asked.headers.items()}
        return Stream(chunks=self._viewers.stream(headers.get("last-event-id", "")))
