"""What a run may leave for its next try, as its code sees it."""

from __future__ import annotations

from typing import Any

import pytest

from qtrigger.workers.python.checkpoints import CheckpointRefused, Checkpoints


class Host:
    """Takes what runs leave; of those that are `open`."""

    def __init__(self) -> None:
        self.open = {1}
        self.taken: list[tuple[int, bytes]] = []
        self.checkpoints = Checkpoints(self._keep)

    def _keep(self, run: int, body: bytes) -> bool:
        if run in self.open:
            self.taken.append((run, body))
        return run in self.open


@pytest.mark.parametrize(
    ("given", "encoding", "body"),
    [
        ("grüße", "base64", "grüße".encode()),
        (b"\x00\xff", "base64", b"\x00\xff"),
        (bytearray(b"x"), "auto", b"x"),
        ("", "none", b""),
        ("x" * 49_152, "base64", b"x" * 49_152),
        ("x" * 65_536, "none", b"x" * 65_536),
    ],
    ids=["text", "bytes", "bytearray", "empty", "largest", "largest text"],
)
def test_text_and_bytes_are_taken_up_to_what_the_queue_holds(
    given: Any, encoding: str, body: bytes
) -> None:
    host = Host()

    host.checkpoints.leave(1, given, encoding)

    assert host.taken == [(1, body)]


@pytest.mark.parametrize(
    ("given", "encoding", "words"),
    [
        ({"a": 1}, "base64", "str or bytes, not dict"),
        (None, "base64", "str or bytes, not NoneType"),
        ("x" * 49_153, "base64", "49,153 bytes, and a message of this queue .* holds 49,152"),
        ("x" * 49_153, "auto", "holds 49,152"),
        ("ü" * 32_769, "none", "65,538 bytes, .* holds 65,536"),
        (b"\xff", "none", "not UTF-8 at byte 0"),
        ("\ud800", "base64", "cannot be written as UTF-8"),
    ],
)
def test_anything_else_is_an_error_in_the_code_that_gives_it(
    given: Any, encoding: str, words: str
) -> None:
    host = Host()

    with pytest.raises(CheckpointRefused, match=words):
        host.checkpoints.leave(1, given, encoding)

    assert host.taken == []


def test_after_its_end_a_run_leaves_nothing() -> None:
    with pytest.raises(ValueError, match="the run has ended"):
        Host().checkpoints.leave(2, "x", "base64")
