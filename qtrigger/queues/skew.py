"""How far a service's clock and this machine's are apart.

Owns one unauthenticated look at the Date of an answer; any answer will do.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from qtrigger.clock import Clock
from qtrigger.queues.rest import transport_to
from qtrigger.queues.transport import NoAnswer, Transport


async def skew(
    endpoint: str, clock: Clock, *, transport: Transport | None = None
) -> timedelta | None:
    """How much later it is here than at the service, to the second; None when it does not say.

    The time of the exchange is halved, since nobody knows which way took longer. How long it may
    take is for the caller, who cancels it.
    """
    parts = urlsplit(endpoint)
    transport = transport or transport_to(f"{parts.scheme}://{parts.netloc}", os.environ)
    before = clock.utcnow()
    try:
        answer = await transport.request("GET", "/", {}, b"")
    except NoAnswer:
        return None
    finally:
        await transport.close()
    there = _date(answer.headers.get("Date", ""))
    if there is None:
        return None
    here = before + (clock.utcnow() - before) / 2
    # The service cuts its fraction of a second off.
    return timedelta(seconds=round((here - there).total_seconds() - 0.5))


def _date(text: str) -> datetime | None:
    try:
        parsed = parsedate_to_datetime(text)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
