"""Importing a project's files that were saved a moment ago.

Owns one rule: no byte code is kept or used of a file that young. Python tells whether byte code is
that of a file by its size and by the second in which it was saved; two saves within one second may
have both in common, and the first would be run for the second.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from typing import cast

YOUNG_S = 2.0


class _Loader(SourceFileLoader):
    def get_data(self, path: str) -> bytes:
        """See the library; who asks compiles the source instead."""
        if path != self.path and self._is_young():
            raise OSError(f"{self.path} was saved a moment ago")
        return super().get_data(path)

    def set_data(self, path: str, data: bytes, *, _mode: int = 0o666) -> None:  # type: ignore[override]
        """See the library."""
        if not self._is_young():
            super().set_data(path, data, _mode=_mode)

    def _is_young(self) -> bool:
        with contextlib.suppress(OSError):
            return abs(time.time() - Path(self.path).stat().st_mtime) < YOUNG_S
        return False


_FILES = FileFinder.path_hook(
    (ExtensionFileLoader, EXTENSION_SUFFIXES),
    (_Loader, SOURCE_SUFFIXES),
    (SourcelessFileLoader, BYTECODE_SUFFIXES),
)


class _Hook:
    def __init__(self, root: str) -> None:
        self.root = root

    def __call__(self, path: str) -> FileFinder:
        if path != self.root and not path.startswith(self.root + os.sep):
            raise ImportError(f"{path} is not in the project")
        return cast("FileFinder", _FILES(path))


def keep_up(root: str) -> None:
    """Import what lies in `root` by that rule; asked again, nothing changes."""
    if any(isinstance(hook, _Hook) and hook.root == root for hook in sys.path_hooks):
        return
    sys.path_hooks.insert(0, _Hook(root))
    for path in list(sys.path_importer_cache):
        if path == root or path.startswith(root + os.sep):
            del sys.path_importer_cache[path]
