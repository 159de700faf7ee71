"""What the project's own files say about watching: `host.json` and `.funcignore`.

Owns how these become rules. Says nothing of what is wrong in them: whoever loads the project does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from qtrigger.project import host_json, local_settings
from qtrigger.project.findings import Findings
from qtrigger.project.settings import layered
from qtrigger.watching.rules import IGNORE_FILE, Ignored, Rules

# The files that these facts are read from.
SOURCES = ("host.json", "local.settings.json", IGNORE_FILE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The rules of one project, and whether it is watched at all (`fileWatchingEnabled`)."""

    rules: Rules
    enabled: bool = True


def read_facts(root: Path, environ: Mapping[str, str], environment: str) -> Facts | None:
    """What the files say; None when host.json cannot be used, and so says nothing."""
    development = environment.casefold() == "development"
    local = (local_settings.glance(root) if development else ()) or ()
    host = host_json.read(root, layered(environ, local, Findings()), environment, Findings())
    if host is None:
        return None
    rules = Rules(
        files=frozenset(str(name).casefold() for name in host.value("watchFiles")),
        folders=frozenset(_folders(host.value("watchDirectories"))),
        ignored=_ignored(root),
    )
    return Facts(rules=rules, enabled=host.value("fileWatchingEnabled") is not False)


def _folders(names: Sequence[str]) -> list[str]:
    """The folders below the project, written in one way."""
    plain = [PurePosixPath(name.replace("\\", "/").strip("/")) for name in names]
    return [str(path) for path in plain if path.parts and ".." not in path.parts]


def _ignored(root: Path) -> Ignored:
    try:
        lines = (root / IGNORE_FILE).read_text("utf-8", "replace").splitlines()
    except OSError:
        return Rules().ignored
    import pathspec  # noqa: PLC0415  # most projects have no such file

    patterns = pathspec.GitIgnoreSpec.from_lines(_readable(lines))
    return patterns.match_file


def _readable(lines: list[str]) -> list[str]:
    """The lines that are patterns: one that is not must not keep a host from being watched."""
    import pathspec  # noqa: PLC0415

    kept = []
    for line in lines:
        try:
            pathspec.GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error):
            continue
        kept.append(line)
    return kept
