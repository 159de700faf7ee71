"""The folder in which qtrigger keeps what must outlive a host: pauses, the journal, its socket.

Owns making it, so that whoever writes there first makes it alike; what is in it is for others.
"""

from __future__ import annotations

import contextlib
import os
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


def share(descriptor: int, folder: Path) -> None:
    """Let a file that root has made in the folder belong to whom the folder does.

    A service runs under an account of its own, and an administrator's commands write beside it.
    On a file system that knows no owners nothing happens.
    """
    if os.geteuid() == 0:
        with contextlib.suppress(OSError):
            owner = folder.stat()
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
