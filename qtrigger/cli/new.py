"""`qtrigger new`: one more function for a project, in the model that it has."""

from __future__ import annotations

import keyword
from pathlib import Path

import click

from qtrigger.cli import templates, wiring
from qtrigger.errors import ExitCode, ProjectError

EPILOG = """\b
Examples:
  qtrigger new charge --queue orders
  qtrigger new receipts --queue orders --output receipts --async

Exit codes: 0 done, 2 wrong usage, 3 the project has none of it, or a file cannot be written.
"""


@click.command(epilog=EPILOG, short_help="Add a function to the project.")
@click.argument("name", metavar="FUNCTION")
@click.option("--queue", required=True, metavar="NAME", help="The queue whose messages start it.")
@click.option("--output", default="", metavar="NAME", help="A queue that it writes to.")
@click.option(
    "--connection",
    default=templates.CONNECTION,
    metavar="NAME",
    help="The app setting with the queues' storage account.",
)
@click.option(
    "--model",
    type=click.Choice(["v1", "v2"]),
    help="Decorators (v2) or function.json (v1); default: what the project has, else v2.",
)
@click.option("--async", "is_async", is_flag=True, help="Write it as async def.")
@click.option(
    "--project",
    type=click.Path(),
    help="The project's folder (default: the nearest upwards with a host.json).",
)
def new(
    name: str,
    queue: str,
    output: str,
    connection: str,
    model: str | None,
    is_async: bool,
    project: str | None,
) -> int:
    """Write a function with the name FUNCTION into the project.

    A v2 project gets it at the end of function_app.py, a v1 project as a folder. What is there
    stays as it is; a name that the project has is refused.
    """
    sketch = templates.Sketch(
        name=_checked_name(name),
        queue=_queue(queue),
        output=_queue(output) if output else "",
        connection=_connection(connection),
        is_async=is_async,
    )
    root = wiring.find_root(project)
    there = _model_of(root)
    if there and model and there != model:
        raise click.UsageError(f"{root} has functions of {there}, and a project has one model")
    _check_free(root, sketch.name)
    if (there or model or "v2") == "v1":
        _add_folder(root, sketch)
    else:
        _add_decorated(root, sketch)
    _tell_setting(root, sketch.connection)
    wiring.note(f"\nTry it, while qtrigger start runs:\n  qtrigger send {sketch.queue} 'some text'")
    return ExitCode.OK


def _checked_name(name: str) -> str:
    from qtrigger.project.function_names import RULE, allowed

    if not allowed(name):
        raise click.UsageError(f"{name!r} is no name of a function: {RULE}")
    return name


def _queue(name: str) -> str:
    from qtrigger.project.queue_names import RULE, QueueNameError, checked

    if set(name) & set("%{"):
        return name  # a setting or a message completes it
    try:
        return checked(name)
    except QueueNameError as error:
        raise click.UsageError(f"the queue name {name!r} {error}. Allowed are {RULE}.") from error


def _connection(name: str) -> str:
    from qtrigger.project.connections import ConnectionUnusable, check_name

    try:
        check_name(name)
    except ConnectionUnusable as error:
        raise click.UsageError(f"{error}; {error.hint}") from None
    return name


def _model_of(root: Path) -> str:
    from qtrigger.project.function_json import folders
    from qtrigger.project.glimpse import script

    if script(root) is not None:
        return "v2"
    return "v1" if folders(root) else ""


def _check_free(root: Path, name: str) -> None:
    from qtrigger.project.glimpse import glimpse

    for seen in glimpse(root):
        # Azure tells names apart without case.
        if seen.name.casefold() == name.casefold():
            raise click.UsageError(f"{root} has a function {seen.name!r} already; nothing changed")


def _add_folder(root: Path, sketch: templates.Sketch) -> None:
    from qtrigger.cli.written import write_each
    from qtrigger.project.function_json import FOLDER, folders

    # Beside the others; Azure finds those alone that are in the project's folder itself.
    kept = FOLDER if any(each.parent.name == FOLDER for each in folders(root)) else ""
    where = f"{kept}/{sketch.name}" if kept else sketch.name
    if (root / where).exists():
        raise click.UsageError(f"{root / where} is there already; nothing changed")
    texts = {
        f"{where}/function.json": templates.function_json(sketch),
        f"{where}/__init__.py": templates.folder_code(sketch),
    }
    write_each(root, texts)


def _add_decorated(root: Path, sketch: templates.Sketch) -> None:
    from qtrigger.cli.script_edit import ScriptUnclear, with_function
    from qtrigger.cli.written import replace, write_each
    from qtrigger.project.glimpse import script

    path = script(root)
    identifier = sketch.name.replace("-", "_")
    if keyword.iskeyword(identifier):
        identifier += "_"
    if path is None:
        code = templates.decorated(sketch, app="app", library="func", identifier=identifier)
        write_each(root, {"function_app.py": f"{templates.SCRIPT_HEAD}\n\n{code}"})
        return
    try:
        text = path.read_bytes().decode()
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        text = mark + with_function(text.removeprefix(mark), sketch, identifier)
    except (OSError, UnicodeDecodeError) as error:
        raise ProjectError(f"{path} cannot be read: {error}") from None
    except ScriptUnclear as error:
        raise ProjectError(f"{path.name}{error}") from None
    replace(path, text)


def _tell_setting(root: Path, connection: str) -> None:
    """Say which setting is still needed; its value is the user's own business."""
    import os

    from qtrigger.project import local_settings
    from qtrigger.project.connections import ConnectionUnusable, resolve
    from qtrigger.project.findings import Findings
    from qtrigger.project.settings import layered

    local = local_settings.read(root, Findings()).settings
    try:
        resolve(connection, layered(os.environ, local, Findings()))
    except ConnectionUnusable as error:
        wiring.note(f"note: {error}; {error.hint}".rstrip("; "))
