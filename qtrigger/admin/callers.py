"""What a request says of who sends it, taken from aiohttp's request; see `security.Caller`."""

from __future__ import annotations

from typing import Final

from aiohttp import web

from qtrigger.admin.security import ACTION_HEADER, KEY_HEADER, Caller, cookie_name

# In characters; a longer key is a wrong one.
_LONGEST_KEY: Final = 1024


def caller_of(request: web.BaseRequest, port: int) -> Caller:
    """Read it from the request."""
    headers = request.headers
    return Caller(
        method=request.method,
        hosts=tuple(headers.getall("Host", ())),
        origin=headers.get("Origin", ""),
        site=headers.get("Sec-Fetch-Site", "").casefold(),
        mode=headers.get("Sec-Fetch-Mode", "").casefold(),
        action=headers.get(ACTION_HEADER, ""),
        key=headers.get(KEY_HEADER, "")[: _LONGEST_KEY + 1],
        session=request.cookies.get(cookie_name(port), "") if "Cookie" in headers else "",
        local=_address(request, "sockname"),
        remote=remote_of(request),
    )


def remote_of(request: web.BaseRequest) -> str:
    """The address that it came from, "" where it is not known any more."""
    return _address(request, "peername")


def _address(request: web.BaseRequest, which: str) -> str:
    transport = request.transport
    found = transport.get_extra_info(which) if transport is not None else None
    return str(found[0]).partition("%")[0] if isinstance(found, tuple) and found else ""
