"""Frames on the socket between the host and a worker process.

Owns the bytes: a prefix of two big-endian uint32 (length of the header, length of the blob), the
header as a JSON object, and the blob as it is. Both ends use this file. It does not know what any
frame means, nor how bytes are sent.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

VERSION = 6
MAX_HEADER = 16 * 1024 * 1024
MAX_BLOB = 256 * 1024 * 1024

_PREFIX = struct.Struct("!II")
to_json = json.JSONEncoder(separators=(",", ":")).encode
_from_json = json.JSONDecoder().raw_decode

Header = dict[str, Any]
Frame = tuple[Header, bytes]


class WireError(Exception):
    """Bytes that are no frame, or a frame over the size limits."""


def encode(header: Mapping[str, Any], blob: bytes = b"") -> bytes:
    """The bytes of one frame. Raises WireError when it is too large."""
    return frame(to_json(header), blob)


def frame(header: str, blob: bytes = b"") -> bytes:
    """The same for a header that is JSON already, in ASCII."""
    text = header.encode("ascii")
    if len(text) > MAX_HEADER or len(blob) > MAX_BLOB:
        raise WireError(
            f"a frame of {len(text)} + {len(blob)} bytes is over the limits of "
            f"{MAX_HEADER} + {MAX_BLOB}"
        )
    return _PREFIX.pack(len(text), len(blob)) + text + blob


class Parser:
    """Turns a stream of bytes, cut anywhere, back into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        """Take more bytes; the frames that are now complete, in order. Raises WireError."""
        buffer = self._buffer
        buffer += data
        frames: list[Frame] = []
        start, size = 0, len(buffer)
        while size - start >= _PREFIX.size:
            header_size, blob_size = _PREFIX.unpack_from(buffer, start)
            if header_size > MAX_HEADER or blob_size > MAX_BLOB:
                raise WireError(f"a frame announces {header_size} + {blob_size} bytes")
            middle = start + _PREFIX.size + header_size
            end = middle + blob_size
            if end > size:
                break
            header = _header(buffer[start + _PREFIX.size : middle])
            frames.append((header, bytes(buffer[middle:end]) if blob_size else b""))
            start = end
        if start:
            del buffer[:start]
        return frames


def _header(data: bytearray) -> Header:
    try:
        text = data.decode("ascii")
        header, end = _from_json(text)
    except ValueError as error:
        raise WireError("the header of a frame is not JSON") from error
    if end != len(text) or not isinstance(header, dict):
        raise WireError("the header of a frame is no JSON object")
    return header
