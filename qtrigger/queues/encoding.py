"""Between a message's bytes and the text that stands for them on the wire.

Owns `messageEncoding`: `base64`, `none`, and `auto` (base64 where it decodes strictly, else the
text itself). Owns what the service can hold as well: 64 KiB of text, in characters that XML 1.0
allows. Knows no queue and no request.
"""

from __future__ import annotations

import binascii
import json
import re

from qtrigger.errors import MessageTooLarge, QtriggerError, QueueRejected
from qtrigger.queues.client import MAX_TEXT_BYTES

BASE64 = "base64"
NONE = "none"
AUTO = "auto"

# What .NET's decoder skips; any other foreign character is an error there and here.
_WHITE_SPACE = {ord(char): None for char in " \t\r\n"}
# Compiled, and kept by `re`, with the first text that is sent: it takes five milliseconds.
_ILLEGAL_IN_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_BASE64_VARIANT = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
# One stray character in a long word, as no prose is.
_BASE64_DAMAGED = re.compile(r"(?=.{24})[A-Za-z0-9+/]*[^\sA-Za-z0-9+/]?[A-Za-z0-9+/]*={0,2}")
_BYTES_LITERAL = re.compile(r"""b(['"]).*\1""", re.DOTALL)


class BodyUndecodable(QtriggerError):
    """A message's text is not what `messageEncoding` promises.

    Says what the text looks like, and never shows it. `plain` when it would do as it stands, so
    that another `messageEncoding` is the cure; else the sender must be mended.
    """

    def __init__(self, message: str, *, plain: bool) -> None:
        super().__init__(message)
        self.plain = plain


def decode(text: str, encoding: str) -> bytes:
    """The bytes that `text` stands for. Raises BodyUndecodable.

    Base64 is read as .NET reads it: white space ignored, padding required, standard alphabet.
    """
    match encoding:
        case "base64":
            body = _strict_base64(text)
            if body is None:
                looks, plain = _looks_like(text)
                raise BodyUndecodable(f"the text is not valid base64; {looks}", plain=plain)
            return body
        case "none":
            return _utf8(text)
        case "auto":
            body = _strict_base64(text)
            return _utf8(text) if body is None else body
        case _:
            raise ValueError(f"unknown message encoding {encoding!r}")


def encode(body: bytes, encoding: str) -> str:
    """The text that stands for `body`; `auto` writes base64.

    Raises MessageTooLarge, and QueueRejected when the encoding is `none` and the bytes are no
    UTF-8 text that XML can carry.
    """
    match encoding:
        case "base64" | "auto":
            text = binascii.b2a_base64(body, newline=False).decode("ascii")
        case "none":
            text = _as_text(body)
        case _:
            raise ValueError(f"unknown message encoding {encoding!r}")
    check_text(text, encoding)
    return text


def check_text(text: str, encoding: str = "") -> None:
    """Raise MessageTooLarge or QueueRejected for a text that the service cannot hold.

    The limit counts UTF-8 bytes before XML escaping. The check is ours because Azurite takes
    illegal characters, and its queue can then be read no more.
    """
    # No character takes more than four bytes, so short texts need no encoding to be measured.
    if len(text) * 4 > MAX_TEXT_BYTES:
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > MAX_TEXT_BYTES:
            how = f" as {encoding}" if encoding else ""
            raise MessageTooLarge(
                f"the message is {size:,} bytes{how}; the service takes {MAX_TEXT_BYTES:,}"
            )
    if illegal := re.search(_ILLEGAL_IN_XML, text):
        raise QueueRejected(
            f"the text holds the character U+{ord(illegal[0]):04X} at position {illegal.start()}, "
            "which no queue message can carry as it is; use messageEncoding base64"
        )


def _strict_base64(text: str) -> bytes | None:
    body = _bare_base64(text)
    # Most texts hold no white space, and to look for it takes longer than to decode.
    return _bare_base64(text.translate(_WHITE_SPACE)) if body is None else body


def _bare_base64(text: str) -> bytes | None:
    if len(text) % 4:
        return None
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        return None


def _utf8(text: str) -> bytes:
    # A lone surrogate cannot come over the wire, but a user's function can return one.
    return text.encode("utf-8", "replace")


def _as_text(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise QueueRejected(
            f"the body is not UTF-8 (byte 0x{body[error.start]:02X} at position {error.start}), "
            "which messageEncoding none cannot carry; use base64"
        ) from error


def _looks_like(text: str) -> tuple[str, bool]:
    """What the text seems to be, in words, and whether it would do as it stands."""
    bare = text.strip()
    if _BYTES_LITERAL.fullmatch(bare):
        return (
            "it looks like a printed Python bytes literal (b'...'): "
            "the sender wrote str(body) where body.decode() was meant"
        ), False
    if _is_json(bare):
        return "it looks like plain JSON, which messageEncoding none would take", True
    if bare.startswith("<") and bare.endswith(">"):
        return "it looks like XML, which messageEncoding none would take", True
    if _BASE64_VARIANT.fullmatch(bare):
        return "it looks like base64 with its padding cut off, or of the URL-safe alphabet", False
    if _BASE64_DAMAGED.fullmatch(bare):
        return "it looks like base64 that was damaged or cut on its way", False
    return "messageEncoding none would take it as plain text", True


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
