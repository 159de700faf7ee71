"""`qtrigger settings`: the configuration as it applies, each value with where it comes from."""

from __future__ import annotations

import os
from typing import Final

import click

from qtrigger.cli import projects, wiring
from qtrigger.cli.listing import document, table
from qtrigger.errors import ExitCode
from qtrigger.project.app_settings import AppSetting, own
from qtrigger.project.model import Project
from qtrigger.queues.account import Account

HIDDEN: Final = "(hidden)"
# Two options that are often taken one for the other.
NOTE: Final = (
    "visibilityTimeout is the pause after a failed try, where no retryDelays are given; "
    "what keeps a message while its function runs is qtrigger.lease, which is renewed."
)
EMPTY: Final = "(empty)"


EPILOG = """\b
Examples:
  qtrigger settings
  qtrigger settings --environment Production --format json

Exit codes: 0 shown, 3 the project has errors that keep it from running.
"""


@click.command(
    epilog=EPILOG, short_help="Show the configuration as it applies, and where it comes from."
)
@click.argument("project", required=False, type=click.Path())
@wiring.environment_option
@click.option(
    "--format",
    "form",
    envvar="QTRIGGER_SETTINGS_FORMAT",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="How it is written.",
)
@click.option(
    "--show-origin/--hide-origin",
    default=True,
    show_default=True,
    help="Say where each value comes from.",
)
def settings(project: str | None, environment: str, form: str, show_origin: bool) -> int:
    """Show what applies in PROJECT (default: the nearest folder upwards with a host.json).

    Values of app settings are hidden, but for a few of Azure's own that are no secret.
    """
    loaded = projects.load_alone(wiring.find_root(project), os.environ, environment)
    if form == "json":
        click.echo(_as_json(loaded, with_origin=show_origin))
    else:
        click.echo("\n".join(_as_text(loaded, with_origin=show_origin)))
    if not loaded.blocked:
        return ExitCode.OK
    for problem in loaded.problems:
        click.echo(str(problem), err=True)
    return ExitCode.PROJECT


def _as_text(project: Project, *, with_origin: bool) -> list[str]:
    origin = ("FROM",) if with_origin else ()
    options = [(each.key, each.value, each.origin) for each in project.effective]
    given = [(each.name, _in_words(each), each.origin) for each in own(project)]
    tables = (
        (("OPTION", "VALUE", *origin), options),
        (("APP SETTING", "VALUE", *origin), given),
        (("CONNECTION", "ACCOUNT", "SIGNS IN BY"), _connections(project)),
    )
    lines: list[str] = []
    for header, rows in tables:
        if rows:
            lines += ["", table(header, rows)] if lines else [table(header, rows)]
    return [*lines, "", NOTE]


def _as_json(project: Project, *, with_origin: bool) -> str:
    def given(name: str, value: str | None, origin: str, *, key: str) -> dict[str, str | None]:
        return {key: name, "value": value, **({"origin": origin} if with_origin else {})}

    return document(
        project=str(project.root),
        environment=project.environment,
        options=[given(each.key, each.value, each.origin, key="key") for each in project.effective],
        app_settings=[
            given(each.name, each.value, each.origin, key="name") for each in own(project)
        ],
        connections=[
            {"name": name, "account": account, "authentication": authentication}
            for name, account, authentication in _connections(project)
        ],
    )


def _in_words(setting: AppSetting) -> str:
    if setting.value is None:
        return HIDDEN
    return setting.value or EMPTY


def _connections(project: Project) -> list[tuple[str, str, str]]:
    """Each connection that a function uses: its name, the account, the kind of authentication."""
    found: dict[str, Account] = {}
    for function in project.functions:
        found[function.trigger.connection] = function.trigger.account
        for output in function.outputs:
            if output.account is not None:
                found[output.connection] = output.account
    return [(name, found[name].name, found[name].authentication) for name in sorted(found)]
