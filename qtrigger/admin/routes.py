"""All routes of a host: the one list that the server is given, and the reference is made from."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from qtrigger.admin.dashboard.routes import Dashboard
from qtrigger.admin.dashboard.seen import PoisonSeen, Seen
from qtrigger.admin.faces import Faces
from qtrigger.admin.functions import Functions
from qtrigger.admin.health import Health
from qtrigger.admin.hosting import Hosting
from qtrigger.admin.pauses import PauseRoutes
from qtrigger.admin.poison.listing import Listing
from qtrigger.admin.poison.reach import Clients, Reach
from qtrigger.admin.poison.routes import PoisonRoutes
from qtrigger.admin.route import Route
from qtrigger.project.model import Project


def routes(faces: Faces) -> Sequence[Route]:
    """Every route."""
    reach = _reach(faces)
    return (
        *Dashboard(_seen(faces, Listing(reach))).routes(),
        *PoisonRoutes(reach, faces.deeds).routes(),
        *Health(faces).routes(),
        *Hosting(faces).routes(),
        *Functions(faces).routes(),
        *PauseRoutes(faces).routes(),
    )


def _project_of(faces: Faces) -> Callable[[], Project | None]:
    return lambda: faces.live.host.project if faces.live.host is not None else None


def _reach(faces: Faces) -> Reach:
    return Reach(
        project=_project_of(faces),
        clients=Clients(faces.services),
        journal=faces.journal,
        clock=faces.clock,
        plain=faces.plain,
    )


def _seen(faces: Faces, poison: PoisonSeen) -> Seen:
    return Seen(
        standing=faces.standing,
        project=_project_of(faces),
        poison=poison,
        recent=faces.recent,
        clock=faces.clock,
        plain=faces.plain,
    )
