"""What says that it is time to look at the project again.

Owns two ways: events of the file system, through watchfiles, and looking every so often. Neither
is trusted with what has changed; that is found by looking.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final, Protocol

from qtrigger.clock import Clock
from qtrigger.watching.aside import aside

# How long one look of the thread at its events takes; twice this passes before they are told.
STEP_MS: Final = 20
# The thread ends within a step; one that does not is left behind, and ends with the process.
END_WITHIN_S: Final = 1.0
POLL_S: Final = 1.0
# Looking takes at most one part in so many of the time.
POLL_SHARE: Final = 20


class WakerError(Exception):
    """Events cannot be had; the text says why, and what mends it."""


class Waker(Protocol):
    """Tells that something may have changed."""

    async def arm(self, folders: Collection[str]) -> None:
        """Listen to these folders from now on, and to no others.

        Raises FileNotFoundError when one of them is gone, and WakerError.
        """

    async def next(self, timeout_s: float) -> frozenset[str]:
        """Paths that may have changed since the last call; none after `timeout_s` seconds.

        Raises WakerError once nothing more can be heard.
        """

    async def close(self) -> None:
        """Listen no more."""


class FileEvents:
    """A `Waker` on the file system's events; tells of `relevant` paths alone.

    `relevant` is asked in a thread, with absolute paths below the folders as they were named.
    """

    def __init__(self, relevant: Callable[[str], bool], clock: Clock) -> None:
        self._relevant = relevant
        self._clock = clock
        self._paths: set[str] = set()
        self._broken = ""
        self._woken = asyncio.Event()
        self._listening: _Listening | None = None
        self._replacing = threading.Lock()
        self._closed = False

    async def arm(self, folders: Collection[str]) -> None:
        """See `Waker`. The folders before are let go once these are listened to."""
        loop = asyncio.get_running_loop()

        def tell(paths: set[str]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has been closed
                loop.call_soon_threadsafe(self._note, paths)

        def break_off(why: str) -> None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._break_off, why)

        def listen() -> None:
            listening = _Listening(sorted(folders), self._relevant, tell, break_off)
            # Whoever asked may be gone by now, and we closed.
            self._replace(listening)

        await aside(listen)

    async def next(self, timeout_s: float) -> frozenset[str]:
        """See `Waker`."""
        await self._clock.wait(self._woken, timeout_s)
        self._woken.clear()
        if self._broken:
            raise WakerError(self._broken)
        paths, self._paths = frozenset(self._paths), set()
        return paths

    async def close(self) -> None:
        """See `Waker`."""
        self._closed = True
        await aside(lambda: self._replace(None))

    def _replace(self, listening: _Listening | None) -> None:
        with self._replacing:
            before, self._listening = self._listening, None if self._closed else listening
        for each in (before, listening if self._closed else None):
            if each is not None:
                each.close()

    def _note(self, paths: set[str]) -> None:
        self._paths |= paths
        self._woken.set()

    def _break_off(self, why: str) -> None:
        self._broken = why
        self._woken.set()


class _Listening:
    """One set of folders being listened to, in a thread."""

    def __init__(
        self,
        folders: list[str],
        relevant: Callable[[str], bool],
        tell: Callable[[set[str]], None],
        break_off: Callable[[str], None],
    ) -> None:
        self._notify = _notifier(folders)
        self._relevant = relevant
        self._tell = tell
        self._break_off = break_off
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name="qtrigger listens to files", daemon=True
        )
        self._thread.start()

    def _run(self) -> None:
        try:
            self._listen()
        except Exception as error:  # noqa: BLE001  # a thread that ends in silence is a deaf watch
            if not self._stop.is_set():
                self._break_off(why_not(str(error)))

    def _listen(self) -> None:
        while not self._stop.is_set():
            found = self._notify.watch(STEP_MS, STEP_MS, 0, self._stop)
            if isinstance(found, str):
                continue
            paths = {path for _, path in found if self._relevant(path)}
            if paths:
                self._tell(paths)

    def close(self) -> None:
        self._stop.set()
        self._thread.join(END_WITHIN_S)
        self._notify.close()


def _notifier(folders: list[str]) -> Any:
    # Takes 50 ms, and a host that watches nothing needs none of it.
    from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError  # noqa: PLC0415

    try:
        # Not recursive: what is ignored is not listened to. Permissions are not ignored either,
        # because watchfiles would then also hide that the system's limit has been reached.
        return RustNotify(
            watch_paths=folders,
            debug=False,
            force_polling=False,
            poll_delay_ms=0,
            recursive=False,
            ignore_permission_denied=False,
        )
    except FileNotFoundError:
        raise
    except (OSError, WatchfilesRustInternalError) as error:
        raise WakerError(why_not(str(error))) from None


def why_not(text: str) -> str:
    """Why there are no events, by the words of watchfiles: it has no error for each reason."""
    if "file watch limit" in text:
        return _limit("max_user_watches", 524_288)
    if "os error 24" in text:
        return _limit("max_user_instances", 1_024)
    return f"there are no file events to be had here: {text}"


def _limit(name: str, better: int) -> str:
    return (
        f"there are no more file events to be had here: fs.inotify.{name} is used up "
        f"(sudo sysctl fs.inotify.{name}={better} raises it)"
    )


class Polls:
    """A `Waker` that looks every second, less often where looking takes long.

    `look` returns what differs from its last call.
    """

    def __init__(self, look: Callable[[], Awaitable[frozenset[str]]], clock: Clock) -> None:
        self._look = look
        self._clock = clock
        self._took_s = 0.0

    async def arm(self, folders: Collection[str]) -> None:
        """See `Waker`; looking needs no list of folders."""

    async def next(self, timeout_s: float) -> frozenset[str]:
        """See `Waker`."""
        ends_at = self._clock.monotonic() + timeout_s
        while (left := ends_at - self._clock.monotonic()) > 0:
            await self._clock.sleep(min(left, max(POLL_S, self._took_s * POLL_SHARE)))
            began_at = self._clock.monotonic()
            found = await self._look()
            self._took_s = self._clock.monotonic() - began_at
            if found:
                return found
        return frozenset()

    async def close(self) -> None:
        """See `Waker`."""
