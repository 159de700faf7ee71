"""What users ran into with connections: each input comes out as it should."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from qtrigger.clock import SystemClock
from qtrigger.errors import QueueUnavailable
from qtrigger.project.model import Project
from qtrigger.queues.account import Account, emulator_account
from qtrigger.queues.rest import RestQueueService
from tests.conformance.said import said, told
from tests.unit.project.folder import CONNECTION, KEY, TRIGGER, ProjectFolder, errors

ADDRESS = "https://acme.queue.core.windows.net"
NAME = "devstoreaccount1"


def load(folder: ProjectFolder, environ: dict[str, str], connection: str = "Q") -> Project:
    folder.function("resize", {**TRIGGER, "connection": connection})
    return folder.load(environ)


def account(folder: ProjectFolder, environ: dict[str, str], connection: str = "Q") -> Account:
    project = load(folder, environ, connection)
    assert errors(project) == []
    return project.functions[0].trigger.account


def test_an_address_without_a_scheme_shows_its_shape_and_the_right_one(
    folder: ProjectFolder,
) -> None:
    line = told(load(folder, {"Q__queueServiceUri": "acme.queue.core.windows.net"}), "error")

    assert "Q__queueServiceUri has no scheme" in line
    assert line.endswith("hint: write it as https://acme.queue.core.windows.net")


def test_an_address_of_another_service_alone_names_the_one_a_queue_needs(
    folder: ProjectFolder,
) -> None:
    environ = {"Q__blobServiceUri": "https://acme.blob.core.windows.net"}

    line = told(load(folder, environ), "error")

    assert "its keys are blobServiceUri" in line
    assert "blobServiceUri is for another service" in line
    assert "Q__queueServiceUri (https://<account>.queue.core.windows.net)" in line


@pytest.mark.parametrize("connection", ["AzureWebJobsStorage", "Storage", ""])
def test_the_default_connection_is_found_by_every_name_it_has(
    folder: ProjectFolder, connection: str
) -> None:
    assert account(folder, {"AzureWebJobsStorage": CONNECTION}, connection).name == "acme"


@pytest.mark.parametrize(
    ("connection", "names"),
    [
        ("AzureWebJobsFoo", ["AzureWebJobsAzureWebJobsFoo", "AzureWebJobsFoo"]),
        ("foo", ["AzureWebJobsfoo", "foo"]),
        ("", ["AzureWebJobsStorage", "Storage"]),
    ],
)
def test_a_connection_that_is_missing_says_exactly_what_was_looked_for(
    folder: ProjectFolder, connection: str, names: list[str]
) -> None:
    line = told(load(folder, {}, connection), "functions/resize/function.json:1:", "error")

    assert f"looked for {names[0]} and {names[1]}" in line
    assert "in the environment and, in Development, in local.settings.json" in line


def test_a_connection_in_other_letters_is_found(folder: ProjectFolder) -> None:
    assert account(folder, {"FOO": CONNECTION}, "foo").name == "acme"


def test_a_connection_that_is_set_but_empty_is_said_to_be(folder: ProjectFolder) -> None:
    line = told(load(folder, {"AzureWebJobsStorage": ""}, ""), "error")

    assert '"AzureWebJobsStorage" (environment) is set but empty' in line


def test_two_addresses_of_different_accounts_follow_one_rule_and_name_the_loser(
    folder: ProjectFolder,
) -> None:
    environ = {"Q__accountName": "winner", "Q__queueServiceUri": ADDRESS}

    project = load(folder, environ)

    assert project.functions[0].trigger.account.name == "winner"
    assert told(project, "warning", "Q__accountName counts", "Q__queueServiceUri has no effect")


TRICKY = "a+b/c" + KEY[5:]
SHAPES = {
    "a blank after each semicolon": f"AccountName=acme; AccountKey={KEY}; ",
    "a final semicolon": f"AccountName=acme;AccountKey={KEY};",
    "a line's end": f"AccountName=acme;AccountKey={KEY}\n",
    "small letters": f"accountname=acme;accountkey={KEY}",
    "signs in the key": f"AccountName=acme;AccountKey={TRICKY}",
    "an address with a final slash": f"AccountName=acme;AccountKey={KEY};QueueEndpoint={ADDRESS}/",
    "an address without one": f"AccountName=acme;AccountKey={KEY};QueueEndpoint={ADDRESS}",
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_a_connection_string_works_however_it_was_copied(folder: ProjectFolder, text: str) -> None:
    project = load(folder, {"Q": text})

    found = project.functions[0].trigger.account
    assert (found.name, found.endpoint) == ("acme", ADDRESS)
    assert said(project) == []


def test_quotes_around_a_connection_string_are_taken_off_with_a_word(
    folder: ProjectFolder,
) -> None:
    project = load(folder, {"Q": f'"{CONNECTION}"'})

    assert project.functions[0].trigger.account.name == "acme"
    assert told(project, "warning", "stands in quotes, which are taken off")


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        (
            "UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://azurite",
            "http://azurite:10001/devstoreaccount1",
        ),
        (
            f"AccountName={NAME};AccountKey={KEY};QueueEndpoint=http://azurite:10001/{NAME};",
            "http://azurite:10001/devstoreaccount1",
        ),
    ],
)
def test_an_emulator_in_a_container_is_reached_by_its_name_and_none_is_started_here(
    folder: ProjectFolder, text: str, endpoint: str
) -> None:
    found = account(folder, {"Q": text})

    assert (found.endpoint, found.emulator) == (endpoint, False)


def test_no_storage_account_is_needed_that_no_function_uses(folder: ProjectFolder) -> None:
    project = load(folder, {"Q": CONNECTION})

    assert len(project.functions) == 1
    assert said(project) == []


def test_a_user_assigned_identity_is_asked_for_and_not_the_systems(folder: ProjectFolder) -> None:
    environ = {
        "Q__queueServiceUri": ADDRESS,
        "Q__credential": "managedidentity",
        "Q__clientId": "3f1c",
    }

    credential: Any = account(folder, environ).credential

    assert (credential.kind, credential.client_id) == ("managedidentity", "3f1c")


# --- an emulator that is not there --------------------------------------------------------------


@asynccontextmanager
async def listening(greeting: bytes, answer: bytes) -> AsyncIterator[int]:
    """Something else on a port: it may speak first, and answers every request alike."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        await reader.read(1024)
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def unavailable(port: int) -> str:
    service = RestQueueService(emulator_account(port), SystemClock(), timeout_s=5.0)
    with pytest.raises(QueueUnavailable) as refused:
        await service.queue("orders").exists()
    await service.close()
    return str(refused.value)


async def test_an_emulator_that_does_not_run_is_asked_for_in_one_line() -> None:
    async with listening(b"", b"") as port:
        pass

    text = await unavailable(port)

    assert f"cannot connect to http://127.0.0.1:{port}/devstoreaccount1/orders" in text
    assert "is the emulator running?" in text
    assert "\n" not in text


async def test_another_program_on_its_port_answers_but_is_no_queue_service() -> None:
    html = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<hi>"

    async with listening(b"", html) as port:
        text = await unavailable(port)

    assert "answers (" in text
    assert "but is no queue service" in text


async def test_a_program_that_speaks_first_is_no_queue_service_either() -> None:
    async with listening(b"SSH-2.0-x\r\n", b"") as port:
        text = await unavailable(port)

    assert "\n" not in text
    assert f"127.0.0.1:{port}" in text
