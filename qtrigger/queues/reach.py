"""How an origin is reached: by which proxy, trusting whom; and why it was not.

Owns the environment variables that say so and the system's errors, which the ways of HTTP share.
Opens nothing.
"""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit

from qtrigger.queues.transport import NoAnswer, Silence

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def trusting(environment: Mapping[str, str]) -> ssl.SSLContext:
    """Trust as OpenSSL does (SSL_CERT_FILE), and as the SDKs do besides (REQUESTS_CA_BUNDLE)."""
    context = ssl.create_default_context()
    if bundle := environment.get("REQUESTS_CA_BUNDLE"):
        # A file that is not there is no reason to refuse what is trusted without it.
        with contextlib.suppress(OSError):
            context.load_verify_locations(bundle)
    return context


def proxy_for(origin: str, environment: Mapping[str, str]) -> str | None:
    """The proxy that the usual variables name for `origin`; None for a direct connection.

    Reads `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` in either case, the small
    letters first. The machine's own loopback is never reached by a proxy.
    """
    parts = urlsplit(origin)
    host = parts.hostname or ""
    if host in _LOOPBACK:
        return None
    named = {
        name.lower().removesuffix("_proxy"): value
        for name, value in sorted(environment.items())
        if name.lower().endswith("_proxy") and value
    }
    if _is_exempt(host, parts.port, named.get("no", "")):
        return None
    proxy = named.get(parts.scheme) or named.get("all")
    if proxy is None or "://" in proxy:
        return proxy
    return f"http://{proxy}"


def _is_exempt(host: str, port: int | None, no_proxy: str) -> bool:
    for entry in no_proxy.split(","):
        name = entry.strip().lower().lstrip(".")
        if name == "*" or (name and f".{host}".endswith(f".{name}")) or name == f"{host}:{port}":
            return True
    return False


def no_answer(error: Exception) -> NoAnswer:
    """What an error means that came while connecting."""
    match error:
        case ssl.SSLCertVerificationError():
            return NoAnswer(Silence.UNTRUSTED, reason(error))
        case ssl.SSLError():
            return NoAnswer(Silence.NO_TLS, reason(error))
        case socket.gaierror() | UnicodeError():
            return NoAnswer(Silence.UNKNOWN_HOST)
        case _:
            return NoAnswer(Silence.NOT_CONNECTED, reason(error))


def reason(error: BaseException) -> str:
    """The system's own words, without the address that libraries put around them."""
    match error:
        case ssl.SSLCertVerificationError():
            return error.verify_message
        case ssl.SSLError(reason=str(why)):
            return why.replace("_", " ").lower()
        case OSError(errno=int(number)) if number > 0:
            return os.strerror(number)
        case _:
            return type(error).__name__
