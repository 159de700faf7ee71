"""Texts that runs leave for their next tries.

Owns what such a text may be, so that a wrong one is an error in the code that gives it. The host
writes it; how a frame gets there is not known here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# What the service holds, as text on the wire.
MOST_BYTES = 65_536

Keep = Callable[[int, bytes], bool]
"""Sends a run's body to the host; says whether the run is still under way."""


class CheckpointRefused(ValueError):
    """A text that cannot be left for the next try; says why."""


class Checkpoints:
    """Leaves them."""

    def __init__(self, keep: Keep) -> None:
        self._keep = keep

    def leave(self, run: int, given: Any, encoding: str) -> None:
        """Take what a run gives, for a queue of that `messageEncoding`. Raises CheckpointRefused.

        Returns as soon as it is on its way to the host.
        """
        if not self._keep(run, _checked(given, encoding)):
            raise CheckpointRefused("the run has ended: there is nothing to leave a checkpoint for")


def _checked(given: Any, encoding: str) -> bytes:
    if isinstance(given, str):
        try:
            body = given.encode("utf-8")
        except UnicodeEncodeError as error:
            raise CheckpointRefused(f"the checkpoint cannot be written as UTF-8: {error}") from None
    elif isinstance(given, (bytes, bytearray, memoryview)):
        body = bytes(given)
    else:
        raise CheckpointRefused(f"a checkpoint is str or bytes, not {type(given).__name__}")
    most = MOST_BYTES if encoding == "none" else MOST_BYTES // 4 * 3
    if len(body) > most:
        raise CheckpointRefused(
            f"the checkpoint has {len(body):,} bytes, and a message of this queue (messageEncoding "
            f"{encoding}) holds {most:,}: keep the rest elsewhere, and leave a note of where"
        )
    if encoding == "none":
        try:
            body.decode("utf-8")
        except UnicodeDecodeError as error:
            raise CheckpointRefused(
                f"the checkpoint is not UTF-8 at byte {error.start}, and with messageEncoding none "
                "a message is text"
            ) from None
    return body
