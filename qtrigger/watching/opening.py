"""Begins to watch a project's folder, in the way that is asked for.

Owns which source of changes that is. How changes are found is `folder`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from qtrigger.clock import Clock
from qtrigger.events import EventSink
from qtrigger.watching.changes import ChangeSource
from qtrigger.watching.facts import read_facts
from qtrigger.watching.folder import FolderChanges, nobody
from qtrigger.watching.wakers import FileEvents

# The variable of watchfiles, which other programs that reload have made known.
FORCED: Final = "WATCHFILES_FORCE_POLLING"


def open_changes(
    root: Path,
    *,
    environ: Mapping[str, str],
    environment: str,
    clock: Clock,
    sink: EventSink,
    poll: bool = False,
    sign: Callable[[], object] = nobody,
) -> ChangeSource:
    """Take note of the files as they are, at once; listen to them from the first `changed` on.

    `root` is the project as the user named it, so that a link can be made to lead elsewhere.
    `poll` asks to look every second in place of listening. `sign` is called at the first sign of a
    change, which may turn out to be none. Needs a running loop; close it.
    """
    forced = environ.get(FORCED, "").casefold() not in {"", "false", "disable", "disabled"}
    return FolderChanges(
        root,
        facts=lambda: read_facts(root, environ, environment),
        events=None if poll or forced else FileEvents,
        clock=clock,
        sink=sink,
        sign=sign,
    )
