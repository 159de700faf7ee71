"""Tasks that go on beside whoever began them.

Owns one rule: a defect in such a task is told when it happens, not when somebody awaits the task,
which may be never.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


def begin(work: Coroutine[Any, Any, None], *, name: str) -> asyncio.Task[None]:
    """Start `work`; what it raises goes to the exception handler of the loop, too."""
    task = asyncio.create_task(work, name=name)
    task.add_done_callback(tell_defect)
    return task


def tell_defect(task: asyncio.Task[None]) -> None:
    """Give what a task has raised, if anything, to the exception handler of the loop."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        message = f"{task.get_name()}: {error}"
        task.get_loop().call_exception_handler({"message": message, "exception": error})
