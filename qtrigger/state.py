"""The folder in which qtrigger keeps what must outlive a host: pauses, the journal, its socket.

Owns making it, so that whoever writes there first makes it alike; what is in it is for others.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

STATE_FOLDER: Final = ".qtrigger"


def state_folder(root: Path, given: str | None) -> Path:
    """The folder that holds a project's state: `given` (QTRIGGER_STATE), else within the project.

    A folder is one project's: two with functions of the same name would pause each other's.
    """
    return Path(given).absolute() if given else root / STATE_FOLDER


def make_folder(folder: Path) -> None:
    """Make the folder, which no repository should take. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", "utf-8")
