"""`qtrigger docker`: what makes a container's image of the project."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import click

from qtrigger import __version__
from qtrigger.cli import wiring
from qtrigger.errors import ExitCode, ProjectError
from qtrigger.project.model import Project

# Beyond the time for running functions: handing messages back, ending workers.
MARGIN_S: Final = 15
PRODUCTION: Final = "Production"

_INCLUDED: Final = re.compile(
    r"^\s*(?:-[rc][ =]*|--(?:requirement|constraint)[ =]+)(?!\S*://)([^\s=]\S*)", re.MULTILINE
)
# A requirement that is a folder or a file, and no name that an index knows.
_LOCAL: Final = re.compile(r"(?:-e|--editable)\b|\.{0,2}/|file:|\.$")

EPILOG = """\b
Examples:
  qtrigger docker > Dockerfile
  qtrigger docker --out . && docker build --tag orders:1 .

Exit codes: 0 done, 2 wrong usage, 3 no project, or a file cannot be written.
"""


class Requirement(click.ParamType[str]):
    """What pip is asked for, as it can stand between quotes in a Dockerfile."""

    name = "requirement"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """See click."""
        text = str(value)
        if not text.strip() or not text.isprintable() or set(text) & set('"\\$`'):
            self.fail(f"{value!r} is nothing that pip could be asked for here", param, ctx)
        return text


class PythonVersion(click.ParamType[str]):
    """A version of Python such as 3.12, from the first that runs qtrigger."""

    name = "version"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """See click."""
        found = re.fullmatch(r"3\.(\d{1,2})", str(value))
        if found is None or int(found[1]) < 11:
            self.fail(f"{value!r} is no version from 3.11 up, such as 3.12", param, ctx)
        return str(value)


@click.command(epilog=EPILOG, short_help="Print a Dockerfile for the project.")
@click.argument("project", required=False, type=click.Path())
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Write Dockerfile and .dockerignore there, and print nothing.",
)
@click.option("--force", is_flag=True, help="Replace files that are there already.")
@click.option(
    "--python",
    type=PythonVersion(),
    default="3.12",
    metavar="VERSION",
    help="The Python of the image.",
)
@click.option(
    "--package",
    type=Requirement(),
    metavar="REQUIREMENT",
    default=f"qtrigger[fast]=={__version__}",
    help="What pip installs to have qtrigger (the build argument QTRIGGER says so later).",
)
def docker(project: str | None, out: str | None, force: bool, python: str, package: str) -> int:
    """Print a Dockerfile that runs PROJECT (default: the nearest folder with a host.json).

    Nothing is built and nothing of the project is run. Secrets come to a container by its
    environment: local.settings.json never becomes a part of the image.
    """
    from qtrigger.cli.projects import read
    from qtrigger.manifests.image import WHEELS, ImageOptions, dockerfile, dockerignore

    root = wiring.find_root(project)
    requirements = tuple(dict.fromkeys(_requirements(root, "requirements.txt")))
    for each in _not_found(root, requirements):
        wiring.note(each)
    options = ImageOptions(
        python=python,
        package=package,
        requirements=requirements,
        wheels=any((root / WHEELS).glob("*.whl")),
        grace_s=grace_of(read(root, os.environ, PRODUCTION)),
    )
    if out is None:
        click.echo(dockerfile(options), nl=False)
        wiring.note(
            "note: --out . also writes .dockerignore, which keeps secrets and this machine's files "
            "out of what is sent to the builder"
        )
        return ExitCode.OK
    from qtrigger.cli.written import write_each

    needed = [*requirements, *((WHEELS, f"{WHEELS}/**") if options.wheels else ())]
    ignore = dockerignore(_text(root / ".funcignore"), _environments(root), needed)
    texts = {"Dockerfile": dockerfile(options), ".dockerignore": ignore}
    if Path(out).resolve() != root.resolve():
        wiring.note(
            "note: .dockerignore counts in the folder that is built from alone, the project's: "
            "move it there, or write both files with --out ."
        )
    left = write_each(Path(out).absolute(), texts, force=force)
    if left:
        wiring.note(f"left alone: {', '.join(left)} (--force replaces what is there)")
    return ExitCode.OK


def grace_of(project: Project) -> int:
    """How many whole seconds a stop of the project's host takes at most."""
    return math.ceil(project.host.shutdown_timeout_s) + MARGIN_S


def _requirements(root: Path, name: str) -> Iterator[str]:
    """The files that a file of requirements consists of, itself first; () where there is none."""
    seen: set[str] = set()
    left = [name]
    while left:
        each = left.pop(0)
        path = (root / each).resolve()
        if each in seen or not path.is_relative_to(root) or not path.is_file():
            continue
        seen.add(each)
        yield each
        left += [
            (path.parent / found).resolve().relative_to(root).as_posix()
            for found in _INCLUDED.findall(_text(path))
            if (path.parent / found).resolve().is_relative_to(root)
        ]


def _not_found(root: Path, files: Iterable[str]) -> Iterator[str]:
    """What the files ask for that is not where pip looks for it when the image is built."""
    for name in files:
        for number, line in enumerate(_text(root / name).splitlines(), 1):
            said = line.strip()
            found = _INCLUDED.match(said)
            path = ((root / name).parent / found[1]).resolve() if found else None
            if path is not None and not (path.is_relative_to(root) and path.is_file()):
                yield f"warning: {name}:{number}: {said} is no file of the project: mend it"
            elif path is None and _LOCAL.match(said):
                yield (
                    f"warning: {name}:{number}: {said} is a folder or file of this machine; "
                    "COPY it to where pip looks for it, below /requirements"
                )


def _environments(root: Path) -> list[str]:
    """The project's folders that are virtual environments, whatever their names."""
    from qtrigger.watching.rules import ENVIRONMENT_MARK

    return sorted(each.parent.name for each in root.glob(f"*/{ENVIRONMENT_MARK}"))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig", "replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ProjectError(f"{path} cannot be read: {error.strerror}") from None
