"""What users ran into with whole projects, seen from outside: a host, a real service, files."""

from __future__ import annotations

import asyncio
import json
import re
import signal
from typing import Any

import pytest

from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, qtrigger, running

PLAIN = "def main(msg: str):\n    note(msg)\n"
RAISES = "def main(msg: str):\n    note(msg)\n    raise ValueError('no')\n"


async def test_a_printed_bytes_literal_goes_to_poison_once_and_is_named(
    folder: ProjectFolder, service: Service
) -> None:
    text = "b'eyJhIjoxfQ=='"
    folder.function("good", PLAIN)
    await service.put_raw(folder.queue("good"), [text])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert await service.raw(folder.queue("good-poison")) == [text]
    assert folder.notes() == []
    (line,) = [line for line in host.lines if "POISON" in line]
    assert "printed Python bytes literal" in line
    assert "messageEncoding" in line


async def test_plain_json_is_poisoned_with_the_setting_that_takes_it_and_taken_by_auto(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("strict", PLAIN)
    folder.function("kind", PLAIN)
    folder.host_json(functions={"kind": {"messageEncoding": "auto"}})
    for name in ("strict", "kind"):
        await service.put_raw(folder.queue(name), ['{"a":1}'])
    await service.put(folder.queue("kind"), ["encoded"])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert sorted(folder.notes()) == ["encoded", '{"a":1}']
    assert await service.raw(folder.queue("strict-poison")) == ['{"a":1}']
    (line,) = [line for line in host.lines if "POISON" in line]
    assert "plain JSON, which messageEncoding none would take" in line


async def test_each_function_reads_its_queue_in_its_own_encoding(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("encoded", PLAIN)
    folder.function("bare", PLAIN)
    folder.host_json(functions={"bare": {"messageEncoding": "none"}})
    await service.put(folder.queue("encoded"), ["one"])
    await service.put_raw(folder.queue("bare"), ["two"])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert sorted(folder.notes()) == ["one", "two"]


async def test_each_function_has_its_own_number_of_tries(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("once", RAISES)
    folder.function("thrice", RAISES)
    own = {"once": {"maxDequeueCount": 1}, "thrice": {"maxDequeueCount": 3, "batchSize": 1}}
    folder.host_json(functions=own)
    for name in own:
        await service.put(folder.queue(name), [name])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert sorted(folder.notes()) == ["once", "thrice", "thrice", "thrice"]
    shown = qtrigger("settings", str(folder.root), environ=folder.environ).stdout
    assert re.search(r"qtrigger\.functions\.once\.maxDequeueCount +1 +host\.json:1", shown)
    assert re.search(r"qtrigger\.functions\.thrice\.newBatchThreshold +0 +default", shown)


async def test_a_renewed_key_is_told_once_with_its_account_and_mended_by_a_reload(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("good", PLAIN)
    wrong = re.sub("AccountKey=[^;]+", "AccountKey=QUFBQQ==", folder.connection)
    write_settings(folder, wrong)
    await service.put(folder.queue("good"), ["x"])

    with running(folder) as host:
        host.wait_for("the key is not one of account 'devstoreaccount1'; was it renewed?")
        write_settings(folder, folder.connection)
        host.signal(signal.SIGHUP)
        host.wait_for("  ok  ")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert folder.notes() == ["x"]
    assert len([line for line in host.lines if "was it renewed?" in line]) == 1


async def test_one_bad_connection_of_three_costs_its_function_alone_and_restarts_nothing(
    folder: ProjectFolder, service: Service
) -> None:
    for name, connection in (("good", "Good"), ("lost", "Nowhere"), ("locked", "Locked")):
        folder.function(name, PLAIN)
        file = folder.root / "functions" / name / "function.json"
        file.write_text(file.read_text().replace("AzureWebJobsStorage", connection))
    folder.environ["Good"] = folder.connection
    folder.environ["Locked"] = re.sub("AccountKey=[^;]+", "AccountKey=QUFBQQ==", folder.connection)
    await service.put(folder.queue("good"), ["x", "y"])
    await service.put(folder.queue("locked"), ["z"])

    with running(folder) as host:
        host.wait_for("the key is not one of account")
        host.wait_for("  ok  ", count=2)
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert sorted(folder.notes()) == ["x", "y"]
    assert len([line for line in host.lines if "the key is not one of account" in line]) == 1
    assert len([line for line in host.lines if "AzureWebJobsNowhere" in line]) == 1
    assert len([line for line in host.lines if "ready in" in line]) == 1


async def test_a_function_that_is_switched_off_is_not_polled_until_a_reload_after_the_switch(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("good", PLAIN)
    folder.function("off", PLAIN)
    write_settings(folder, folder.connection, {"AzureWebJobs.off.Disabled": "true"})
    await service.put(folder.queue("good"), ["y"])
    await service.put(folder.queue("off"), ["x"])

    with running(folder, "--log-level", "debug") as host:
        host.wait_for(f"found in {folder.queue('good')}", count=2)
        assert f"found in {folder.queue('off')}" not in host.output
        write_settings(folder, folder.connection, {"AzureWebJobs.off.Disabled": "false"})
        host.signal(signal.SIGHUP)
        host.wait_for("  ok  ", count=2)
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert sorted(folder.notes()) == ["x", "y"]


def write_settings(
    folder: ProjectFolder, connection: str, further: dict[str, Any] | None = None
) -> None:
    folder.environ.pop("AzureWebJobsStorage", None)
    values = {"AzureWebJobsStorage": connection, **(further or {})}
    (folder.root / "local.settings.json").write_text(
        json.dumps({"IsEncrypted": False, "Values": values})
    )


def test_a_managed_identity_that_is_not_there_is_said_within_seconds_while_the_host_is_up(
    folder: ProjectFolder,
) -> None:
    folder.function("good", PLAIN)
    folder.environ |= {
        "AzureWebJobsStorage": "",
        "AzureWebJobsStorage__queueServiceUri": "https://127.0.0.1:1/acme",
        "AzureWebJobsStorage__credential": "managedidentity",
        "IDENTITY_ENDPOINT": "http://127.0.0.1:1/msi/token",
        "IDENTITY_HEADER": "x",
    }

    with running(folder) as host:
        host.wait_for("no token for the identity (managedidentity)", limit_s=15.0)
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert "Traceback" not in host.output


@pytest.mark.parametrize("name", ["host.json", "local.settings.json"])
def test_a_host_does_not_start_on_half_a_file(folder: ProjectFolder, name: str) -> None:
    folder.function("good", PLAIN)
    (folder.root / name).write_text('{"version": "2.0"\n "x": 1}')

    with running(folder) as host:
        assert host.wait() == 3

    assert f"{name}:2:2: not valid JSON" in host.output


async def test_a_module_that_crashes_its_process_is_one_clear_finding_and_the_others_run(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("good", PLAIN)
    folder.function("bad", "import ctypes\nctypes.string_at(0)\n" + PLAIN)
    await service.put(folder.queue("good"), ["x"])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert folder.notes() == ["x"]
    (line,) = [line for line in host.lines if "hint: leave away half of its imports" in line]
    assert "functions/bad/__init__.py:1: the worker process failed while importing it" in line
    assert "signal 11" in host.output


def test_the_interpreter_and_why_it_was_chosen_stand_in_the_banner(folder: ProjectFolder) -> None:
    folder.function("good", PLAIN)

    with running(folder, "--exit-when-idle", "0") as host:
        assert host.wait() == 0

    assert "on the Python that runs qtrigger" in host.output


async def test_another_program_on_the_emulators_port_is_told_from_an_emulator(
    folder: ProjectFolder,
) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1024)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi")
        writer.close()

    folder.function("good", PLAIN)
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    connection = re.sub(r":\d+/", f":{port}/", folder.connection)
    async with server:
        environ = {**folder.environ, "AzureWebJobsStorage": connection}
        ended = await asyncio.to_thread(
            lambda: qtrigger("check", str(folder.root), "--connect", environ=environ)
        )

    assert ended.returncode == 4
    assert "answers (" in ended.stdout
    assert "but is no queue service" in ended.stdout
