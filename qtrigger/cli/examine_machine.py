"""The doctor's look at this machine: packages, files, limits, variables. Changes nothing.

Owns what of it is worth a warning, and the cures. Where it looks is passed in: the environment's
variables and the root of the file system's tables.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from qtrigger.cli import installed
from qtrigger.cli.examined import Examined, State
from qtrigger.queues.aiohttp_session import bare
from qtrigger.queues.azurite_find import Machine, find

FILE_SYSTEM: Final = Path("/")
# What a start of a project needs; the rest is optional.
NEEDED: Final = ("azure-storage-queue", "azure-identity", "aiohttp", "httptools", "watchfiles")
# A project's folder has an own watch for each of its folders, and the editor is there as well.
FEW_WATCHES: Final = 8_192
# A function that handles 350 messages a second writes more than that.
JOURNAL_DEFAULT: Final = (10_000, 30)
# Lines of the journal that a busy host may well write in a second.
BUSY_LINES: Final = 2_000

_PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


def packages() -> Iterator[Examined]:
    """What is installed beside qtrigger."""
    found = {name: installed.version_of(name) for name in NEEDED}
    missing = [name for name, version in found.items() if not version]
    if missing:
        yield Examined(
            what="packages",
            state=State.FAIL,
            found=f"not installed: {', '.join(missing)}",
            cure=f"pip install {' '.join(missing)}",
        )
    else:
        texts = [f"{name} {version}" for name, version in found.items()]
        yield Examined(what="packages", found=", ".join(texts))
    if version := installed.version_of("uvloop"):
        yield Examined(what="event loop", found=f"uvloop {version}")
    else:
        yield Examined(
            what="event loop",
            found="asyncio's own; pip install 'qtrigger[fast]' brings uvloop, which spends less",
        )


def azurite(root: Path, machine: Machine) -> Examined:
    """What a start would bring where nothing answers for the emulator."""
    if there := find(root, machine):
        version = installed.azurite_version(there) or "of unknown version"
        return Examined(what="emulator", found=f"Azurite {version}, by {there.node}")
    node = machine.node()
    if node is not None and machine.npm(node):
        return Examined(
            what="emulator", found=f"no Azurite yet; the first start installs it by npm ({node})"
        )
    return Examined(
        what="emulator",
        state=State.WARN,
        found="the one built into qtrigger, which keeps queues in memory: there is no Node.js",
        cure="pip install 'qtrigger[azurite]'",
    )


def files(
    root: Path, state: Path, access: Callable[[Path, int], bool] = os.access
) -> Iterator[Examined]:
    """Whether the project can be read, and what outlives a host can be written."""
    unread = [name for name in _of_interest(root) if not access(root / name, os.R_OK)]
    if unread or not access(root, os.R_OK | os.X_OK):
        yield Examined(
            what="project's files",
            state=State.FAIL,
            found=f"cannot be read: {', '.join(unread) or root}",
            cure=f"let the user {os.getuid()} read them: chmod -R u+rX, or chown",
        )
    else:
        yield Examined(what="project's files", found=f"{root} can be read")
    place = next(each for each in (state, *state.parents) if each.exists())
    if place.is_dir() and access(place, os.W_OK | os.X_OK):
        yield Examined(what="state folder", found=f"{state} can be written")
    else:
        yield Examined(
            what="state folder",
            state=State.WARN,
            found=f"{state} cannot be written, so nothing can be paused",
            cure="name another by QTRIGGER_STATE or --state",
        )


def watching(file_system: Path = FILE_SYSTEM) -> Examined | None:
    """Whether changes of files can be noticed; None where the system has no inotify."""
    tables = file_system / "proc/sys/fs/inotify"
    watches = _number(tables / "max_user_watches")
    if watches is None:
        return None
    instances = _number(tables / "max_user_instances")
    found = f"{watches:,} watches, {instances or 0:,} instances for each user"
    if not _instance_is_left():
        return Examined(
            what="file watching",
            state=State.WARN,
            found=f"no instance of inotify is left ({found})",
            cure="sysctl fs.inotify.max_user_instances=512, or end what holds them",
        )
    if watches < FEW_WATCHES:
        return Examined(
            what="file watching",
            state=State.WARN,
            found=found,
            cure="sysctl fs.inotify.max_user_watches=524288",
        )
    return Examined(what="file watching", found=found)


def proxies(environ: Mapping[str, str]) -> Examined:
    """Which proxies the variables name, without what signs in there."""
    set_here = {
        name: value for name, value in environ.items() if name.lower() in _PROXIES and value
    }
    if not set_here:
        return Examined(what="proxy", found="none")
    texts = [f"{name}={bare(value)}" for name, value in sorted(set_here.items())]
    return Examined(what="proxy", found=", ".join(texts))


def journal(environ: Mapping[str, str], file_system: Path = FILE_SYSTEM) -> Examined | None:
    """Whether the journal takes the lines of a busy host; None when output goes elsewhere."""
    if "JOURNAL_STREAM" not in environ:
        return None
    burst, seconds = _journal_limit(file_system)
    if burst == 0 or seconds == 0:
        return Examined(what="journal", found="takes all lines")
    found = f"takes {burst:,} lines in {seconds} s"
    if burst / seconds >= BUSY_LINES:
        return Examined(what="journal", found=found)
    return Examined(
        what="journal",
        state=State.WARN,
        found=f"{found}, and drops more, unless the unit says otherwise",
        cure="LogRateLimitIntervalSec=0 in the unit's [Service]",
    )


def _of_interest(root: Path) -> Sequence[str]:
    names = ("host.json", "local.settings.json", "function_app.py")
    return [name for name in names if (root / name).exists()]


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def _instance_is_left() -> bool:
    """Take one and give it back, which is the only way to know."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        instance = libc.inotify_init1(os.O_CLOEXEC)
    except AttributeError:
        return True
    if instance < 0:
        return ctypes.get_errno() not in (errno.EMFILE, errno.ENFILE)
    os.close(instance)
    return True


def _journal_limit(file_system: Path) -> tuple[int, int]:
    """Lines, and the seconds in which so many are taken, by journald's files in their order."""
    burst, seconds = JOURNAL_DEFAULT
    etc = file_system / "etc/systemd"
    for file in (etc / "journald.conf", *sorted((etc / "journald.conf.d").glob("*.conf"))):
        try:
            text = file.read_text("utf-8", "replace")
        except OSError:
            continue
        for key, value in re.findall(r"^\s*(RateLimit\w+)\s*=\s*(\d+)s?\s*$", text, re.MULTILINE):
            if key == "RateLimitBurst":
                burst = int(value)
            elif key in ("RateLimitIntervalSec", "RateLimitInterval"):
                seconds = int(value)
    return burst, seconds
