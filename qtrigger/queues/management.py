"""What is asked of an account now and then, by the SDK's own client.

Owns listing queues; the hot verbs are `rest`'s. The SDK takes a fifth of a second to import and
a millisecond a request, which only matters where requests are many.
"""

from __future__ import annotations

import asyncio
from typing import Any

from qtrigger.clock import Clock
from qtrigger.errors import AccessDenied, QueueError, QueueRejected
from qtrigger.queues.account import Account, Identity, Sas, SharedKey
from qtrigger.queues.credentials import build_credential
from qtrigger.queues.faults import Attempt, from_response, from_silence
from qtrigger.queues.transport import NoAnswer, Response, Silence
from qtrigger.queues.wire import API_VERSION, LIST_QUEUES

LIST_TIMEOUT_S = 30.0


async def list_queues(account: Account, clock: Clock, *, prefix: str = "") -> list[str]:
    """The names of the account's queues that begin with `prefix`, sorted.

    Raises the `QueueError` family; ends within 30 seconds.
    """
    if isinstance(account.credential, Identity) and not account.endpoint.startswith("https:"):
        raise AccessDenied(f"{account.endpoint}: an identity's token may travel over https only")
    attempt = Attempt(operation=LIST_QUEUES, address=account.endpoint, account=account)
    try:
        async with clock.timeout(LIST_TIMEOUT_S):
            # Importing the SDK in the loop would hold up every lease of the process.
            client = await asyncio.to_thread(_client, account)
            async with client:
                names = [queue.name async for queue in client.list_queues(prefix or None)]
    except TimeoutError as error:
        silence = NoAnswer(Silence.TIMED_OUT, f"{LIST_TIMEOUT_S:g} s")
        raise from_silence(attempt, silence) from error
    except QueueError:
        raise
    except Exception as error:
        raise _classified(attempt, error, clock) from error
    return sorted(names)


def _client(account: Account) -> Any:
    from azure.core.credentials import (  # noqa: PLC0415 - see the module's docstring
        AzureNamedKeyCredential,
        AzureSasCredential,
    )
    from azure.storage.queue.aio import QueueServiceClient  # noqa: PLC0415 - the same

    credential: Any
    match account.credential:
        case SharedKey(account=name, key=key):
            credential = AzureNamedKeyCredential(name, key)
        case Sas(token=token):
            credential = AzureSasCredential(token.strip().lstrip("?&"))
        case Identity() as identity:
            credential = build_credential(identity)
    return QueueServiceClient(
        account.endpoint, credential=credential, api_version=API_VERSION, retry_total=0
    )


def _classified(attempt: Attempt, error: Exception, clock: Clock) -> QueueError:
    """The SDK's error in our own family; told apart by what it carries, not by its text."""
    response = getattr(error, "response", None)
    if response is not None and hasattr(response, "headers"):
        answer = Response(status=response.status_code, headers=response.headers, body=b"")
        return from_response(attempt, answer, clock.utcnow())
    line = next(iter(str(error).splitlines()), "") or type(error).__name__
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "ClientAuthenticationError" in kinds:
        return AccessDenied(f"{attempt.address} refused to {attempt.operation.words}: {line}")
    if kinds & {"ServiceRequestError", "ServiceResponseError"}:
        return from_silence(attempt, NoAnswer(Silence.BROKEN_OFF, line))
    return QueueRejected(f"{attempt.address} refused to {attempt.operation.words}: {line}")
