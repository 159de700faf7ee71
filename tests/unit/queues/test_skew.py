"""How far two clocks are apart, by the Date of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from email.utils import format_datetime

import pytest

from qtrigger.queues.skew import skew
from qtrigger.queues.transport import NoAnswer, Response, Silence
from qtrigger.testing.clock import ManualClock

ENDPOINT = "https://acme.queue.core.windows.net"


class Service:
    """Answers with this Date, or not at all."""

    def __init__(self, date: str | None) -> None:
        self.date = date
        self.closed = False

    async def request(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> Response:
        assert "Authorization" not in headers
        if self.date is None:
            raise NoAnswer(Silence.NOT_CONNECTED)
        return Response(status=400, headers={"Date": self.date}, body=b"")

    async def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("seconds", [-1000, -61, 0, 61, 1000])
async def test_it_is_how_much_later_it_is_here(seconds: int) -> None:
    clock = ManualClock()
    there = clock.utcnow() - timedelta(seconds=seconds)
    service = Service(format_datetime(there, usegmt=True))

    apart = await skew(ENDPOINT, clock, transport=service)

    assert apart is not None
    assert abs(apart - timedelta(seconds=seconds)) <= timedelta(seconds=1)
    assert service.closed


@pytest.mark.parametrize("date", ["", "soon", None])
async def test_a_service_that_does_not_say_is_not_judged(date: str | None) -> None:
    service = Service(date)

    assert await skew(ENDPOINT, ManualClock(), transport=service) is None
    assert service.closed
