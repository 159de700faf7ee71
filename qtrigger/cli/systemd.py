"""`qtrigger systemd`: a hardened unit for a project, printed or put where systemd looks."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from qtrigger.cli import wiring
from qtrigger.cli.unit import Unit, in_homes
from qtrigger.errors import ExitCode, ProjectError

# Where a template looks for its projects.
SERVED: Final = Path("/srv/qtrigger")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_.-]+")

EPILOG = """\b
Examples:
  qtrigger systemd > qtrigger-orders.service
  qtrigger systemd /srv/orders --user orders --install
  qtrigger systemd --environment-file

Exit codes: 0 done, 2 wrong usage, 3 no project there, or a file is in the way.
"""


@click.command(epilog=EPILOG, short_help="Write a hardened systemd unit for the project.")
@click.argument("project", required=False, type=click.Path())
@click.option("--name", help="What the service is called after qtrigger- (default: the folder).")
@click.option("--user", metavar="ACCOUNT", help="Run as this account (default: a made-up one).")
@click.option("--user-unit", is_flag=True, help="For your own systemd, without root.")
@click.option(
    "--template", is_flag=True, help=f"One unit for each project in {SERVED}: qtrigger@NAME."
)
@click.option(
    "--environment-file", is_flag=True, help="Print an example of its file of settings instead."
)
@click.option("--install", is_flag=True, help="Write both files where systemd looks.")
@click.option("--force", is_flag=True, help="With --install: replace files that differ.")
@click.option(
    "--root",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="With --install: write as if that folder were /, for an image.",
)
def systemd(
    project: str | None,
    name: str | None,
    user: str | None,
    user_unit: bool,
    template: bool,
    environment_file: bool,
    **installation: Any,
) -> int:
    """Print a unit for PROJECT (default: the nearest folder upwards with a host.json).

    The service is ready once its queues were polled, reloads by `systemctl reload`, and is ended
    with the stacks of its threads when it hangs. It can write to its state, cache and runtime
    folders alone.
    """
    if user and user_unit:
        raise click.UsageError("--user-unit runs as yourself; leave --user out")
    if template and (project or name):
        raise click.UsageError(f"--template is for every project in {SERVED}; name none")
    install = bool(installation.pop("install"))
    if any(installation.values()) and not install:
        raise click.UsageError("--force and --root go with --install")
    unit, settings = _unit(project, name, user, template=template, of_user=user_unit)
    try:
        text = unit.text()
    except ValueError as error:
        raise ProjectError(f"{error}. Move it, or link to it from another place.") from None
    example = _environment(unit, settings)
    if install:
        _install(unit, text, example, **installation)
    else:
        click.echo(example if environment_file else text, nl=False)
    _tell_next(unit, None if install else _installing(unit, name))
    return ExitCode.OK


def _unit(
    given: str | None, name: str | None, user: str | None, *, template: bool, of_user: bool
) -> tuple[Unit, Sequence[str]]:
    """The unit, and the names of the settings that the project's own file of them has."""
    command = _command()
    if template:
        unit = Unit(
            name="", project=SERVED, command=command, template=True, user=user, of_user=of_user
        )
        return unit, ()
    from qtrigger.project import local_settings
    from qtrigger.project.app_settings import is_hidden
    from qtrigger.project.loader import load_project

    root = wiring.named_root(given)
    project = load_project(root, {}, environment="Production")
    settings = [each.name for each in local_settings.glance(root) or ()]
    places = [root.resolve(), root, Path(sys.prefix), Path(sys.base_prefix)]
    unit = Unit(
        name=_checked(name) if name else _fit(root.name),
        project=root,
        command=command,
        shutdown_timeout_s=project.host.shutdown_timeout_s,
        user=user,
        of_user=of_user,
        credentials=[each for each in settings if is_hidden(each)],
        private=() if of_user else in_homes(places),
    )
    return unit, settings


def _command() -> Sequence[str]:
    """How this qtrigger is called, whoever calls it."""
    beside = Path(sys.executable).with_name("qtrigger")
    return [str(beside)] if beside.exists() else [sys.executable, "-m", "qtrigger"]


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise click.UsageError(f"{name!r} names no unit: use letters, digits, '.', '_' and '-'")
    return name


def _fit(name: str) -> str:
    """A folder's name as a unit can have it."""
    return _UNFIT.sub("-", name).strip("-.") or "project"


def _environment(unit: Unit, settings: Sequence[str]) -> str:
    """The file of settings, with names alone: values of a laptop are none of a server's."""
    lines = [
        f"# App settings of {unit.title}, one NAME=value a line; systemd reads this file.",
        "# A secret is safer in a file of its own: see LoadCredential in the unit.",
        *(f"#{name}=" for name in settings or ("AzureWebJobsStorage",)),
    ]
    return "\n".join(lines) + "\n"


def _install(unit: Unit, text: str, example: str, *, root: Path | None, force: bool) -> None:
    home = Path.home() / ".config"
    units = home / "systemd/user" if unit.of_user else Path("/etc/systemd/system")
    settings = home / "qtrigger" if unit.of_user else Path("/etc/qtrigger")
    _put(_under(root, units / unit.file), text, force=force)
    if not unit.template:
        _put(_under(root, settings / f"{unit.name}.env"), example, private=True)


def _under(root: Path | None, path: Path) -> Path:
    return path if root is None else root / path.relative_to("/")


def _put(path: Path, text: str, *, force: bool = False, private: bool = False) -> None:
    """Write a file; one that holds something else stays, which is an error unless it is private.

    A private file has its owner's values in it soon, and is never written over.
    """
    try:
        if path.exists():
            if private or path.read_text("utf-8") == text:
                click.echo(f"left as it is: {path}")
                return
            if not force:
                raise ProjectError(
                    f"{path} is there and differs. Compare it with qtrigger systemd, then use "
                    "--force; changes of your own belong into a drop-in: systemctl edit."
                )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600 if private else 0o644)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise ProjectError(
            f"{path} cannot be written: {error.strerror}. It takes root (sudo), or --user-unit."
        ) from None
    click.echo(f"wrote {path}")


def _installing(unit: Unit, name: str | None) -> str:
    """The whole command that installs what was printed."""
    words = [*unit.command, "systemd"]
    words += ["--template"] if unit.template else [str(unit.project.resolve())]
    words += ["--name", name] if name else []
    words += ["--user", unit.user] if unit.user else []
    words += ["--user-unit"] if unit.of_user else []
    return ("" if unit.of_user else "sudo ") + shlex.join([*words, "--install"])


def _tell_next(unit: Unit, install: str | None) -> None:
    """What there is to do, on stderr, so that the unit alone is in a file."""
    own = "systemctl --user" if unit.of_user else "sudo systemctl"
    service = shlex.quote(unit.file.replace("@.", "@NAME."))
    journal = "journalctl --user-unit" if unit.of_user else "sudo journalctl -u"
    settings = "~/.config/qtrigger" if unit.of_user else "/etc/qtrigger"
    file = shlex.quote(f"{unit.name}.env") if not unit.template else "NAME.env"
    edit = "${EDITOR:-vi}" if unit.of_user else "sudoedit"
    steps = [
        ("put it where systemd looks", install),
        ("fill in the settings; local.settings.json is not read", f"{edit} {settings}/{file}"),
        ("run it", f"{own} daemon-reload && {own} enable --now {service}"),
        ("see what went wrong", f"{journal} {service} -p warning"),
    ]
    lines = [f"  # {what}\n  {command}" for what, command in steps if command]
    wiring.note("\n".join(["\nNext:", *lines]))
