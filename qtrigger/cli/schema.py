"""`qtrigger schema`: the JSON Schema of one of a project's files, for editors."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

FILES: Final = {
    "host": "host.json",
    "function": "function.json",
    "local.settings": "local.settings.json",
}


EPILOG = """\b
Examples:
  qtrigger schema host --out host.schema.json
  qtrigger schema function

Exit codes: 0 done, 2 wrong usage, or the file cannot be written.
"""


@click.command(
    epilog=EPILOG, short_help="Print the JSON Schema of host.json or another file, for editors."
)
@click.argument("file", type=click.Choice(list(FILES)))
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write it into this file instead.",
)
def schema(file: str, out: Path | None) -> None:
    """Print the JSON Schema of FILE.

    An editor uses it when the file names it: "$schema": "./host.schema.json".
    """
    from qtrigger.project import schemas

    text = schemas.text(FILES[file])
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.UsageError(f"{out} cannot be written: {error.strerror}") from error
    click.echo(f'wrote {out}; name it in {FILES[file]}: "$schema": "./{out.name}"', err=True)
