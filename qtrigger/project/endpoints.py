"""Addresses of queue services: how they are written, and which may go without TLS.

Pure; resolves no name and asks nobody.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import urlsplit

# Hosts of Azure's clouds are never reached over plain http; other names may be private ones.
_PUBLIC_DOMAINS: Final = (
    ".windows.net",
    ".chinacloudapi.cn",
    ".usgovcloudapi.net",
    ".cloudapi.de",
    ".azure.net",
)
_ACCOUNT: Final = re.compile(r"[a-z0-9]{3,24}", re.ASCII)
_HOST: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)


class EndpointError(Exception):
    """The text is no usable address. Neither message nor hint holds a query or a password."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def endpoint(text: str, *, name: str = "the address") -> str:
    """The address without final slash. Raises EndpointError naming it as `name`."""
    text = text.strip()
    if "://" not in text:
        raise EndpointError(
            f"{name} has no scheme{_shape(text)}", f"write it as https://{_bare(text)}"
        )
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise EndpointError(f"{name} is no valid address") from None
    if parts.scheme not in {"http", "https"}:
        raise EndpointError(f"{name} must begin with https:// or http://")
    if not host or not (_HOST.fullmatch(host) or _ip(host)):
        raise EndpointError(f"{name} has no valid host name")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise EndpointError(
            f"{name} may hold only scheme, host and path",
            "a SAS belongs in a connection string, as SharedAccessSignature",
        )
    if parts.scheme == "http" and is_public(host):
        raise EndpointError(f"{name} is reached without TLS", f"write it as https://{host}")
    authority = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{authority}{f':{port}' if port else ''}{parts.path.rstrip('/')}"


def account_endpoint(account: str, *, suffix: str, scheme: str = "https") -> str:
    """The address of an account's queue service in a cloud. Raises EndpointError."""
    if not _ACCOUNT.fullmatch(account):
        raise EndpointError(
            "the account's name must be 3 to 24 small letters and digits",
            "it is the first part of the account's address",
        )
    return endpoint(
        f"{scheme}://{account}.queue.{suffix}", name="the address made of EndpointSuffix"
    )


def name_of(address: str) -> str:
    """The account's name as an address shows it: the host's first label, or a path's first part."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.path.strip("/") and (_ip(host) or ".queue." not in host):
        return parts.path.strip("/").partition("/")[0]
    return host if _ip(host) else host.partition(".")[0]


def is_local(address: str) -> bool:
    """Whether the address is on this machine."""
    host = urlsplit(address).hostname or ""
    found = _ip(host)
    return host == "localhost" or (found is not None and found.is_loopback)


def is_public(host: str) -> bool:
    """Whether a host is on the internet as far as its name tells."""
    found = _ip(host)
    if found is not None:
        return found.is_global
    return host.casefold().endswith(_PUBLIC_DOMAINS)


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _shape(text: str) -> str:
    bare = _bare(text)
    return f': "{bare}"' if bare != "<host>" else ""


def _bare(text: str) -> str:
    host = re.split(r"[/?#]", text, maxsplit=1)[0]
    return host if _HOST.fullmatch(host) and "." in host else "<host>"
