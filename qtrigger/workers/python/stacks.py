"""Where the code of a run stands, as a traceback has it.

Owns which frames belong to a run: those of its thread, or those that its task waits in. Reading
them stops nothing.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from .failures import is_ours

MOST_FRAMES = 20
MOST_TEXT = 8 * 1024


def stack_of_thread(ident: int, is_users: Callable[[str], bool]) -> str:
    """The frames of a thread from the first of the user's own code on, innermost last."""
    frame = sys._current_frames().get(ident)  # noqa: SLF001 - as documented, for this use
    if frame is None:
        return ""
    inner = list(traceback.walk_stack(frame))
    return _text(reversed(inner), is_users)


def stack_of_task(
    task: asyncio.Task[Any], loop_thread: int, is_users: Callable[[str], bool]
) -> str:
    """The frames that a task waits in; those of the loop's thread where it is running now."""
    coroutine: Any = task.get_coro()
    if getattr(coroutine, "cr_running", False):
        return stack_of_thread(loop_thread, is_users)
    return _text(_awaited(coroutine), is_users)


def _awaited(coroutine: Any) -> Iterator[tuple[FrameType, int]]:
    """From a coroutine to what it awaits, as far as that has frames."""
    while coroutine is not None:
        for name in ("cr", "gi", "ag"):
            frame = getattr(coroutine, f"{name}_frame", None)
            if frame is not None:
                yield frame, frame.f_lineno
                coroutine = getattr(coroutine, f"{name}_await", None) or getattr(
                    coroutine, f"{name}_yieldfrom", None
                )
                break
        else:
            return


def _text(frames: Any, is_users: Callable[[str], bool]) -> str:
    kept: list[tuple[FrameType, int]] = []
    for frame, line in frames:
        name = frame.f_code.co_filename
        if is_users(name) or (kept and not is_ours(name)):
            kept.append((frame, line))
    summary = traceback.StackSummary.extract(iter(kept[-MOST_FRAMES:]), lookup_lines=True)
    return "".join(summary.format())[-MOST_TEXT:]
