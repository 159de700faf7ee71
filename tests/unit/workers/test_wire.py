"""Frames survive any cut of the stream, and what is no frame is refused."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qtrigger.workers.python.wire import (
    MAX_BLOB,
    MAX_HEADER,
    Frame,
    Parser,
    WireError,
    encode,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FRAMES = st.lists(
    st.tuples(st.dictionaries(st.text(), VALUES, max_size=4), st.binary(max_size=200)), max_size=5
)


@given(FRAMES, st.lists(st.integers(1, 60), min_size=1, max_size=30))
def test_frames_come_back_however_the_stream_is_cut(frames: list[Frame], cuts: list[int]) -> None:
    stream = b"".join(encode(header, blob) for header, blob in frames)
    parser, found = Parser(), list[Frame]()

    while stream:
        size = cuts[len(stream) % len(cuts)]
        found += parser.feed(stream[:size])
        stream = stream[size:]

    assert found == frames


def test_a_frame_is_a_prefix_a_header_and_the_blob_as_it_is() -> None:
    assert encode({"t": "x"}, b"\x00\xff") == b'\x00\x00\x00\x09\x00\x00\x00\x02{"t":"x"}\x00\xff'


@pytest.mark.parametrize("sizes", [(MAX_HEADER + 1, 0), (2, MAX_BLOB + 1), (2**32 - 1, 2**32 - 1)])
def test_a_frame_that_announces_too_much_is_refused_before_it_comes(
    sizes: tuple[int, int],
) -> None:
    with pytest.raises(WireError, match="announces"):
        Parser().feed(struct.pack("!II", *sizes))


@pytest.mark.parametrize("header", [b"{]", b"[1]", b"{} {}", b"\xff\xff", b""])
def test_a_header_that_is_no_object_is_refused(header: bytes) -> None:
    with pytest.raises(WireError):
        Parser().feed(struct.pack("!II", len(header), 0) + header)


def test_a_frame_over_the_limit_is_not_sent() -> None:
    with pytest.raises(WireError, match="limits"):
        encode({"text": "x" * MAX_HEADER})
