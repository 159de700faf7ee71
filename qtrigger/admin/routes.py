"""All routes of a host: the one list that the server is given, and the reference is made from."""

from __future__ import annotations

from collections.abc import Sequence

from qtrigger.admin.dashboard.routes import Dashboard
from qtrigger.admin.dashboard.seen import Seen
from qtrigger.admin.faces import Faces
from qtrigger.admin.health import Health
from qtrigger.admin.route import Route
from qtrigger.project.model import Project


def routes(faces: Faces) -> Sequence[Route]:
    """Every route."""
    return (
        *Dashboard(_seen(faces)).routes(),
        *Health(faces).routes(),
    )


def _seen(faces: Faces) -> Seen:
    def project() -> Project | None:
        return faces.live.host.project if faces.live.host is not None else None

    return Seen(
        standing=faces.standing,
        project=project,
        recent=faces.recent,
        clock=faces.clock,
        plain=faces.plain,
    )
