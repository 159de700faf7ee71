"""One service an account, and every one is closed."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from qtrigger.queues.account import emulator_account
from qtrigger.queues.client import QueueClient
from qtrigger.queues.rest import RestQueueService
from qtrigger.queues.services import QueueServices
from qtrigger.queues.wire import Request
from qtrigger.testing.clock import ManualClock, settle
from tests.unit.queues.transports import ScriptedTransport


@dataclass
class Closing:
    """A service that is only closed, and perhaps not well."""

    error: Exception | None = None
    closed: bool = False

    def queue(self, name: str) -> QueueClient:
        raise NotImplementedError

    async def close(self) -> None:
        await settle()
        if self.error is not None:
            raise self.error
        self.closed = True


def test_an_account_has_one_service() -> None:
    services = QueueServices(lambda _account: Closing())

    first = services.of(emulator_account(1))

    assert services.of(emulator_account(1)) is first
    assert services.of(emulator_account(2)) is not first


async def test_one_that_does_not_close_keeps_none_of_the_others_open() -> None:
    made = [Closing(error=OSError("stuck")), Closing(), Closing()]
    opened = iter(made)
    services = QueueServices(lambda _account: next(opened))
    for port in range(1, 4):
        services.of(emulator_account(port))

    await services.close()

    assert [each.closed for each in made] == [False, True, True]


class StuckSigner:
    """Needs no token, and does not close well."""

    async def sign(self, request: Request) -> tuple[str, dict[str, str]]:
        return request.target, {}

    async def close(self) -> None:
        raise OSError("stuck")


async def test_a_credential_that_does_not_close_keeps_no_connection_open() -> None:
    transport = ScriptedTransport([])
    service = RestQueueService(
        emulator_account(1), ManualClock(), transport=transport, signer=StuckSigner()
    )

    with pytest.raises(OSError, match="stuck"):
        await service.close()

    assert transport.closed


async def test_closing_is_done_once() -> None:
    services = QueueServices(lambda _account: Closing())
    services.of(emulator_account(1))

    await services.close()
    await services.close()
