"""`qtrigger init`: the files of a new project, the same as on Azure."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Final

import click

from qtrigger.cli import templates, wiring
from qtrigger.errors import ExitCode

GIT_LIMIT_S: Final = 10.0

EPILOG = """\b
Examples:
  qtrigger init orders
  qtrigger init --model v1 --no-git

Exit codes: 0 done, 2 wrong usage, 3 a file cannot be written.
"""


@click.command(epilog=EPILOG, short_help="Write the files of a new project.")
@click.argument("directory", metavar="[DIR]", default=".", type=click.Path(file_okay=False))
@click.option(
    "--model",
    type=click.Choice(["v1", "v2"]),
    default="v2",
    help="v2: decorators in function_app.py; v1: a folder with function.json.",
)
@click.option(
    "--git/--no-git", default=True, help="Make a git repository, unless the folder is in one."
)
@click.option("--force", is_flag=True, help="Replace files that are there already.")
def init(directory: str, model: str, git: bool, force: bool) -> int:
    """Write a project with one function on the queue orders into DIR (default: this folder).

    Files that are there already are left alone and named. The project runs here and on Azure.
    """
    from qtrigger.cli.written import write_each

    root = Path(directory).absolute()
    texts = {
        "host.json": templates.HOST_JSON,
        "local.settings.json": templates.LOCAL_SETTINGS,
        "requirements.txt": templates.REQUIREMENTS,
        ".gitignore": templates.GITIGNORE,
        ".funcignore": templates.FUNCIGNORE,
        **_function(root, model, force=force),
    }
    left = write_each(root, texts, force=force)
    if left:
        wiring.note(f"left alone: {', '.join(left)} (--force replaces what is there)")
    if git:
        _make_repository(root)
    _tell_next(directory)
    return ExitCode.OK


def _function(root: Path, model: str, *, force: bool) -> dict[str, str]:
    """The first function's files; none where the project has functions of its own."""
    from qtrigger.project.function_json import folders
    from qtrigger.project.glimpse import glimpse, script

    sketch = templates.Sketch(name=templates.FUNCTION, queue=templates.QUEUE)
    path = script(root)
    own = [each for each in folders(root) if each.name != sketch.name]
    if (model == "v2" and folders(root)) or (model == "v1" and path is not None):
        there = "function.json in folders" if model == "v2" else str(path and path.name)
        raise click.UsageError(
            f"{root} has functions of the other model ({there}), and a project has one; "
            f"say --model {'v1' if model == 'v2' else 'v2'}"
        )
    if model == "v1":
        if own:
            return {}
        return {
            f"{sketch.name}/function.json": templates.function_json(sketch),
            f"{sketch.name}/__init__.py": templates.folder_code(sketch),
        }
    if path is not None and not force and glimpse(root):
        return {path.name: ""}
    code = templates.decorated(sketch, app="app", library="func", identifier=sketch.name)
    return {"function_app.py": f"{templates.SCRIPT_HEAD}\n\n{code}"}


def _make_repository(root: Path) -> None:
    """Make a git repository where there is none; a project can do without."""
    if shutil.which("git") is None or any((up / ".git").exists() for up in (root, *root.parents)):
        return
    command = ["git", "init", "--quiet", str(root)]
    try:
        ended = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=GIT_LIMIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        wiring.note(f"note: git made no repository: {error}")
        return
    if ended.returncode:
        wiring.note(f"note: git made no repository: {ended.stderr.strip()}")
    else:
        click.echo(f"made a git repository in {root}")


def _tell_next(directory: str) -> None:
    change = "" if Path(directory).absolute() == Path.cwd() else f"cd {shlex.quote(directory)} && "
    wiring.note(f"\nNext:\n  {change}qtrigger start")
    wiring.note(
        f"  {change}qtrigger send {templates.QUEUE} '{{\"id\": 1}}'     in another terminal"
    )
