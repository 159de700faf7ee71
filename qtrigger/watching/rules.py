"""Which files of a project are watched.

Owns the rules by name and place, with what `host.json` and `.funcignore` add and take away. Reads
no folder: whoever walks asks, and never enters a folder that is not watched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

# Says whether a path, relative to the project, is ignored; folders end in "/".
Ignored = Callable[[str], bool]

IGNORE_FILE: Final = ".funcignore"
# A folder with this file is a virtual environment, whatever its name.
ENVIRONMENT_MARK: Final = "pyvenv.cfg"
FUNCTION_FILE: Final = "function.json"
# What makes a host another one; `.funcignore` often names the settings, which are not deployed.
CONFIGURATION: Final = frozenset({"host.json", "local.settings.json", "requirements.txt"})
_FOLDERS_NEVER: Final = frozenset({"node_modules", "__pycache__"})
_HIDDEN_AND_READ: Final = frozenset({".env"})
# What editors, tools and running code leave behind: backups, swap files, locks, logs, databases.
_ENDS_NEVER: Final = (
    ".pyc", ".pyo", "~", "#", ".swp", ".swo", ".swx", ".tmp", ".temp", ".part", ".bak", ".orig",
    ".rej", "___jb_tmp___", "___jb_old___", ".log", ".pid", ".lock", ".db", ".sqlite", ".sqlite3",
    "-journal", "-wal", "-shm",
)  # fmt: skip
# Vim writes this file to see whether it may.
_TRIED_BY_VIM: Final = "4913"


def _nothing_ignored(path: str) -> bool:
    del path
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is watched in one project.

    `files` are further names of files, in small letters; `folders` are further folders, relative
    to the project, of which everything is watched; `ignored` answers for `.funcignore`.
    """

    files: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    ignored: Ignored = _nothing_ignored

    def enters(self, path: str) -> bool:
        """Whether anything in the folder may be watched."""
        name = path.rpartition("/")[2]
        if name in _FOLDERS_NEVER:
            return False
        if any(folder == path or folder.startswith(f"{path}/") for folder in self.folders):
            return True
        return not (name.startswith(".") or self.ignored(f"{path}/"))

    def whole(self, path: str, names: Iterable[str]) -> bool:
        """Whether everything in the folder with these names in it is watched."""
        return path in self.folders or (bool(path) and FUNCTION_FILE in names)

    def watches(self, path: str, *, whole: bool) -> bool:
        """Whether the file is watched; `whole` says that its folder is watched as a whole."""
        folder, _, name = path.rpartition("/")
        if not folder and name in CONFIGURATION:
            return True
        if name.endswith(_ENDS_NEVER) or name == _TRIED_BY_VIM:
            return False
        if name.startswith(".") and name not in _HIDDEN_AND_READ:
            return name.casefold() in self.files
        if not (whole or name.endswith(".py") or name == FUNCTION_FILE):
            return name.casefold() in self.files
        return not self.ignored(path)
