"""Our own copy of Azurite, for machines that have Node.js but no Azurite.

Owns the installation by npm into the user's data folder, once for all projects; neither the
project nor npm's global state is touched. Finding what is there is `azurite_find`'s.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from qtrigger.clock import Clock
from qtrigger.errors import EmulatorError
from qtrigger.queues.azurite_find import VERSION, Azurite, Machine

INSTALL_TIMEOUT_S = 300.0

_POLL_S = 0.1
_NPM_NOISE = ("code ", "errno ", "syscall ", "type ")

_NPM_FLAGS = (
    "--no-save",
    "--no-package-lock",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--omit=dev",
    "--omit=optional",
    "--loglevel=error",
    # npm would try for minutes without a network; there is another rung to go to.
    "--fetch-retries=1",
    "--fetch-retry-mintimeout=500",
    "--fetch-timeout=30000",
)


# Shows a person that something goes on while the context is open; called many times a second.
Waiting = Callable[[str], AbstractContextManager[Callable[[], None]]]


@contextlib.contextmanager
def silently(what: str) -> Iterator[Callable[[], None]]:
    """Wait without a word."""
    del what
    yield lambda: None


async def install(
    machine: Machine,
    progress: Callable[[str], None],
    clock: Clock,
    *,
    waiting: Waiting = silently,
) -> Azurite:
    """Bring our own copy of Azurite. Raises EmulatorError with what stood in the way."""
    node = machine.node()
    if node is None:
        raise EmulatorError(
            "Azurite needs Node.js, and there is none on PATH; "
            "pip install 'qtrigger[azurite]' brings one"
        )
    npm = machine.npm(node)
    if npm is None:
        raise EmulatorError(
            "installing Azurite needs npm, and there is none on PATH; "
            "pip install 'qtrigger[azurite]' brings one"
        )
    home = machine.our_copy()
    began = clock.monotonic()
    progress(f"installing Azurite {VERSION} into {home} (62 MB, once for all projects)")
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        # Built aside and renamed: two hosts at once, or a broken download, leave nothing half.
        scratch = Path(tempfile.mkdtemp(prefix=f".{VERSION}-", dir=home.parent))
    except OSError as error:
        raise EmulatorError(f"cannot install Azurite into {home}: {error}") from error
    try:
        with waiting(f"installing Azurite {VERSION}") as tick:
            await _run_npm(npm, node, scratch, machine, tick, clock)
        _move(scratch, home)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    azurite = Azurite(node=node, main=machine.our_main())
    if not azurite.main.is_file():
        raise EmulatorError(f"npm brought an Azurite without {azurite.main}")
    progress(f"Azurite {VERSION} installed in {clock.monotonic() - began:.0f} s")
    return azurite


async def _run_npm(
    npm: list[str],
    node: Path,
    scratch: Path,
    machine: Machine,
    tick: Callable[[], None],
    clock: Clock,
) -> None:
    log = scratch / "npm.log"
    # npm's own start line is `env node`: the node found must be the one it finds.
    path = os.pathsep.join([str(node.parent), machine.environment.get("PATH", os.defpath)])
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: ASYNC220, S603 - a spawn takes a millisecond
            [*npm, "install", *_NPM_FLAGS, "--prefix", str(scratch), f"azurite@{VERSION}"],
            cwd=scratch,
            env={**machine.environment, "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
    try:
        await _wait(process, tick, clock)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode != 0:
        raise EmulatorError(f"npm could not install Azurite: {_reason(log)}")


async def _wait(process: subprocess.Popen[bytes], tick: Callable[[], None], clock: Clock) -> None:
    began = clock.monotonic()
    while process.poll() is None:
        if clock.monotonic() - began > INSTALL_TIMEOUT_S:
            raise EmulatorError(f"npm did not install Azurite within {INSTALL_TIMEOUT_S:.0f} s")
        tick()
        await clock.sleep(_POLL_S)


def _reason(log: Path) -> str:
    """npm's first line of substance, in place of its dozen."""
    lines = log.read_text("utf-8", "replace").splitlines()
    errors = [line.removeprefix("npm error ").removeprefix("npm ERR! ") for line in lines]
    telling = [line for line in errors if line.strip() and not line.startswith(_NPM_NOISE)]
    return telling[0].strip() if telling else "it said nothing"


def _move(scratch: Path, home: Path) -> None:
    with contextlib.suppress(OSError):  # another host was faster
        scratch.rename(home)
