"""`qtrigger version`: what is installed, for a report of a defect."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import click

from qtrigger import __version__
from qtrigger.cli import wiring
from qtrigger.cli.listing import document, format_option, table
from qtrigger.errors import ExitCode, ProjectError

EPILOG = """\b
Examples:
  qtrigger version
  qtrigger version --format json

Exit codes: 0 done, 2 wrong usage.
"""


@click.command(epilog=EPILOG, short_help="Say what is installed, for a report of a defect.")
@format_option
def version(form: str) -> int:
    """Say which versions are installed: qtrigger, Python, the packages, Azurite.

    In a project's folder it also says which Python runs the functions. No secret is among it.
    """
    facts = _facts()
    if form == "json":
        click.echo(document(**facts))
        return ExitCode.OK
    rows = [(name, str(facts[name])) for name in ("qtrigger", "python", "system")]
    rows += [(name, text or "-") for name, text in facts["packages"].items()]
    azurite, workers = facts["azurite"], facts["workers"]
    rows.append(("azurite", f"{azurite['version']} in {azurite['main']}" if azurite else "-"))
    if workers:
        rows.append(("workers", f"{workers['python']} ({workers['why']})"))
    click.echo(table(("WHAT", "VERSION"), rows))
    return ExitCode.OK


def _facts() -> dict[str, Any]:
    from qtrigger.cli import installed

    try:
        root: Path | None = wiring.find_root(None)
    except ProjectError:
        root = None
    azurite = installed.azurite_here(root or Path.cwd())
    return {
        "qtrigger": __version__,
        "python": platform.python_version(),
        "system": installed.system(),
        "packages": {name: installed.version_of(name) or None for name in installed.PACKAGES},
        "azurite": azurite
        and {
            "version": installed.azurite_version(azurite) or None,
            "main": str(azurite.main),
            "node": str(azurite.node),
        },
        "workers": root and _workers(root),
    }


def _workers(root: Path) -> dict[str, str]:
    from qtrigger.project import local_settings
    from qtrigger.project.findings import Findings
    from qtrigger.project.settings import layered
    from qtrigger.workers.interpreter import choose_interpreter

    local = local_settings.glance(root) or ()
    settings = layered(os.environ, local, Findings()).as_environment()
    chosen = choose_interpreter(root, settings)
    return {"python": str(chosen.path), "why": chosen.why}
