"""Writes the files of a new project or function, and never over what is there.

Owns that rule, and what is said of each file on stdout. The texts are others' business.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from qtrigger.errors import ProjectError


def write_each(root: Path, texts: Mapping[str, str], *, force: bool = False) -> list[str]:
    """Write the texts by their paths in `root`, and return those left alone.

    With `force`, what is there is replaced. Raises ProjectError when one cannot be written.
    """
    left = []
    for name, text in texts.items():
        if _write(root / name, text, force=force):
            click.echo(f"wrote {_shown(root / name)}")
        else:
            left.append(_shown(root / name))
    return left


def replace(path: Path, text: str) -> None:
    """Put a longer text in place of a file's, at once. Raises ProjectError."""
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.chmod(path.stat().st_mode & 0o777)
        # A link stays one: what it points to is replaced.
        beside.replace(path.resolve())
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise _unwritable(path, error) from None
    click.echo(f"changed {_shown(path)}")


def _write(path: Path, text: str, *, force: bool) -> bool:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        if path.parent.is_dir():
            return False
        raise ProjectError(f"{path.parent} is a file, and a folder is needed there") from None
    except OSError as error:
        raise _unwritable(path, error) from None
    return True


def _unwritable(path: Path, error: OSError) -> ProjectError:
    return ProjectError(f"{path} cannot be written: {error.strerror}")


def _shown(path: Path) -> str:
    """As a person in the current folder would name it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
