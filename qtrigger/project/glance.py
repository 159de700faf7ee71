"""The environment that a project's workers will have, most likely, before the project is read.

Owns the short cut by which a worker can be started at once, beside the reading: the settings as
they stand in the files, with nothing checked and nothing said. It is a guess, and so has to be
compared with the project that is read in the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from qtrigger.project import credentials, local_settings
from qtrigger.project.findings import Findings
from qtrigger.project.settings import ENVIRONMENT_NAME, layered


def environment_at_a_glance(
    root: Path, environ: Mapping[str, str], environment: str
) -> dict[str, str] | None:
    """What `Project.settings` will be if nothing is wrong with them, None when much is."""
    development = environment.casefold() == "development"
    local = local_settings.glance(root) if development else ()
    if local is None:
        return None
    settings = layered(environ, local, Findings(), credentials.read(environ, Findings()))
    return {**settings.as_environment(), ENVIRONMENT_NAME: environment}
