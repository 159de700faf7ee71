"""What aiohttp can do without any client above it: requests signed and answers read by hand.

Not a client for anyone: it renews no lease, tries nothing again and explains no error.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import time
from email.utils import formatdate
from xml.etree import ElementTree as ET

import aiohttp
import uvloop

from benchmarks.peers.handled import from_environment
from benchmarks.peers.overlapped import work

LEASE_S = 600
VERSION = "2021-12-02"


class Signer:
    """Signs requests of one account; keeps what is the same for all of them."""

    def __init__(self, account: str, key: str) -> None:
        self._account = account
        self._mac = hmac.new(base64.b64decode(key), digestmod=hashlib.sha256)
        self._second = 0
        self._date = ""

    def headers(self, method: str, path: str, query: dict[str, str]) -> dict[str, str]:
        """The headers of a request without a body."""
        now = int(time.time())
        if now != self._second:
            self._second, self._date = now, formatdate(now, usegmt=True)
        blank = "\n" * 12
        asked = "".join(f"\n{name}:{query[name]}" for name in sorted(query))
        text = (
            f"{method}{blank}x-ms-date:{self._date}\nx-ms-version:{VERSION}\n"
            f"/{self._account}{path}{asked}"
        )
        mac = self._mac.copy()
        mac.update(text.encode())
        signature = base64.b64encode(mac.digest()).decode()
        return {
            "x-ms-date": self._date,
            "x-ms-version": VERSION,
            "Authorization": f"SharedKey {self._account}:{signature}",
        }


async def consume() -> None:
    """Work until ended from outside."""
    handled = from_environment()
    parts = dict(part.split("=", 1) for part in os.environ["BENCH_CONNECTION"].split(";"))
    signer = Signer(parts["AccountName"], parts["AccountKey"])
    scheme, _, rest = parts["QueueEndpoint"].partition("://")
    origin, _, account = rest.partition("/")
    path = f"/{account}/{os.environ['BENCH_QUEUE']}/messages"
    base = f"{scheme}://{origin}"

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def receive(page: int) -> list[ET.Element]:
            query = {"numofmessages": str(page), "visibilitytimeout": str(LEASE_S)}
            asked = f"?numofmessages={page}&visibilitytimeout={LEASE_S}"
            headers = signer.headers("GET", path, query)
            async with session.get(f"{base}{path}{asked}", headers=headers) as answer:
                return list(ET.fromstring(await answer.read()))  # noqa: S314  # our own server's

        async def handle(message: ET.Element) -> None:
            handled.one()
            receipt = message.findtext("PopReceipt") or ""
            target = f"{path}/{message.findtext('MessageId')}"
            headers = signer.headers("DELETE", target, {"popreceipt": receipt})
            address = f"{base}{target}?popreceipt={receipt}"
            async with session.delete(address, headers=headers) as answer:
                answer.raise_for_status()

        await work(receive, handle)


if __name__ == "__main__":
    uvloop.run(consume())
