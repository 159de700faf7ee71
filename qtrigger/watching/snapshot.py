"""The watched files of a project as they are at one moment.

Owns what makes two of them different. Looks at the disk and at nothing else; slow for a big
project, so it is called in a thread. Which files count is decided in `rules`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from qtrigger.watching.rules import ENVIRONMENT_MARK, IGNORE_FILE, Rules

# The content of larger files is not read: for them, any other stamp is a change.
READ_UP_TO: Final = 1_000_000
# A file written so shortly before a look may be written again under the same time stamp.
FRESH_NS: Final = 2_000_000_000

Stamp = tuple[int, int, int, int, int]
Identity = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file: its stamp, and its content in short once that has been read.

    `fresh` says that the stamp proves nothing, because the file had just been written.
    """

    stamp: Stamp
    fresh: bool = False
    digest: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Watched files by their path in the project, and the folders whose events tell of them.

    A folder has its identity beside it, since another one may take its name; one that has several
    names stands under one. All files of the folders `whole` are watched. `linked` are links, or
    what links lead to, whose change changes the project.
    """

    files: Mapping[str, Entry] = field(default_factory=dict)
    folders: Mapping[str, Identity] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()
    linked: frozenset[str] = frozenset()


def take(root: Path, rules: Rules, before: Snapshot, *, now_ns: int, read: bool) -> Snapshot | None:
    """Look at the project in `root`; None when there is no such folder at the moment.

    What `before` knows of the contents is taken over where nothing was written since; `read` says
    to read the others; what has just been written is read anyway, since its stamp proves nothing.
    `now_ns` is the wall time.
    """
    walk = _Walk(str(root), rules)
    if not walk.all():
        return None
    files = {}
    for path, info in walk.files.items():
        entry = _entry(walk.path(path), info, before.files.get(path), now_ns=now_ns, read=read)
        if entry is not None:
            files[path] = entry
    return Snapshot(
        files=files,
        folders={path: identity for identity, path in walk.folders.items()},
        whole=frozenset(walk.folders[identity] for identity, whole in walk.seen if whole),
        linked=frozenset(walk.linked),
    )


def differing(before: Snapshot, after: Snapshot) -> frozenset[str]:
    """The files that came, went, or have another content."""
    names = before.files.keys() | after.files.keys()
    return frozenset(
        name for name in names if _differ(before.files.get(name), after.files.get(name))
    )


def _differ(before: Entry | None, after: Entry | None) -> bool:
    if before is None or after is None:
        return True
    if before.digest and after.digest:
        return before.digest != after.digest
    return before.stamp != after.stamp


def _entry(
    path: str, info: os.stat_result, before: Entry | None, *, now_ns: int, read: bool
) -> Entry | None:
    stamp = _stamp(info)
    fresh = max(info.st_mtime_ns, info.st_ctime_ns) > now_ns - FRESH_NS
    if before and before.stamp == stamp and not before.fresh and (before.digest or not read):
        return before
    if not (read or fresh) or info.st_size > READ_UP_TO:
        return Entry(stamp=stamp, fresh=fresh)
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # a Path for each costs as much again
            digest = hashlib.blake2b(file.read(), digest_size=16).digest()
            written = _stamp(os.fstat(file.fileno()))
    except FileNotFoundError:
        return None
    except OSError:
        return Entry(stamp=stamp, fresh=fresh)
    if written != stamp:
        # Saved since it was seen: which of the two was read is not known. The new stamp makes it
        # differ from before, and without a digest the next look reads it.
        return Entry(stamp=written, fresh=True)
    return Entry(stamp=stamp, fresh=fresh, digest=digest)


def _stamp(info: os.stat_result) -> Stamp:
    return (info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino, info.st_dev)


class _Walk:
    """One way through the folders: each once, and none that is ignored."""

    def __init__(self, root: str, rules: Rules) -> None:
        self.files: dict[str, os.stat_result] = {}
        self.folders: dict[Identity, str] = {}
        self.seen: set[tuple[Identity, bool]] = set()
        self.linked: set[str] = set()
        self._root = root
        self._rules = rules
        self._targets: list[str] = []
        # Folders that links lead to wait until all real ones have been seen under their own names.
        self._aside: list[tuple[str, bool]] = []

    def path(self, inside: str) -> str:
        """Where a path in the project is on the disk."""
        return f"{self._root}/{inside}" if inside else self._root

    def all(self) -> bool:
        """See everything; says whether there is a project."""
        waiting = [("", False)]
        while waiting or self._aside:
            folder, whole = (waiting or self._aside).pop()
            found = self._folder(folder, whole=whole)
            if found is None and not folder:
                return False
            waiting.extend(found or ())
        self._look_at_links()
        return True

    def _folder(self, folder: str, *, whole: bool) -> list[tuple[str, bool]] | None:
        """Note the files of one folder; its folders, None when it cannot be seen."""
        path = self.path(folder)
        try:
            info = os.stat(path)  # noqa: PTH116
            with os.scandir(path) as listing:
                entries = {entry.name: entry for entry in listing}
        except OSError:
            return None
        if folder and ENVIRONMENT_MARK in entries:
            return []
        whole = whole or self._rules.whole(folder, entries)
        identity = (info.st_dev, info.st_ino)
        if (identity, whole) in self.seen:
            return []
        self.seen.add((identity, whole))
        self.folders.setdefault(identity, path)
        return list(self._inside(folder, entries, whole=whole))

    def _inside(
        self, folder: str, entries: Mapping[str, os.DirEntry[str]], *, whole: bool
    ) -> Iterator[tuple[str, bool]]:
        for name, entry in entries.items():
            inside = f"{folder}/{name}" if folder else name
            try:
                if entry.is_dir():
                    if not self._rules.enters(inside):
                        continue
                    if entry.is_symlink():
                        self._aside.append((inside, whole))
                    else:
                        yield inside, whole
                elif self._wanted(inside, whole=whole) and entry.is_file():
                    self.files[inside] = entry.stat()
                    if entry.is_symlink():
                        self._targets.append(os.path.realpath(entry.path))
            except OSError:
                continue

    def _wanted(self, path: str, *, whole: bool) -> bool:
        return path == IGNORE_FILE or self._rules.watches(path, whole=whole)

    def _look_at_links(self) -> None:
        """Events of a file come where it is, and not where a link to it is.

        The project's folder, too, may be a link that is made to lead somewhere else, or stand
        below one.
        """
        above, path = [], self._root
        while path not in {"", "/"}:
            if os.path.islink(path):  # noqa: PTH114
                above.append(path)
            path = os.path.dirname(path)  # noqa: PTH120
        for path in (*self._targets, *above):
            folder, name = os.path.split(path)
            try:
                info = os.stat(folder)  # noqa: PTH116
            except OSError:
                continue
            known = self.folders.setdefault((info.st_dev, info.st_ino), folder)
            self.linked.add(f"{known.rstrip('/')}/{name}")
