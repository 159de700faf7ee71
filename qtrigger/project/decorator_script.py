"""Which file declares the project's functions by decorators.

Owns Azure's setting for its name, and which names it may have. Does not look into the file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from qtrigger.project.findings import Findings, Place, shown
from qtrigger.project.settings import Settings

SETTING: Final = "PYTHON_SCRIPT_FILE_NAME"
DEFAULT: Final = "function_app.py"
_NAME: Final = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_-]*\.py", re.ASCII)


def find(root: Path, settings: Settings, findings: Findings) -> Path | None:
    """The file, None when the project has none, or after an error was noted."""
    setting = settings.find(SETTING)
    given = setting.value if setting else ""
    place = setting.place if setting else Place()
    if setting and not given:
        findings.warning(
            f"{SETTING} is empty, so it is {DEFAULT}", place, "Azure refuses an empty name"
        )
    name = given or DEFAULT
    if not _NAME.fullmatch(name):
        findings.error(
            f"{SETTING} is {shown(name)}, which is no name of a script",
            place,
            "it is a file in the project's folder; its name has letters, digits, hyphens and "
            "underscores, does not begin with a hyphen, and ends in .py",
        )
        return None
    script = root / name
    if script.is_file():
        return script
    if given:
        findings.warning(
            f"{SETTING} names {shown(name)}, which is not in the project's folder; only folders "
            "with function.json are looked for",
            place,
        )
    return None
