"""`qtrigger send`: texts from arguments, a file or standard input, encoded as the project wants."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest

from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, qtrigger

PLAIN = "def main(msg: str):\n    note(msg)\n"


async def test_each_argument_is_one_message_and_the_queue_is_made(
    folder: ProjectFolder, service: Service
) -> None:
    queue = folder.queue("new")

    ended = qtrigger(
        "send", "--project", str(folder.root), queue, "a", "ü{}", environ=folder.environ
    )

    assert (ended.returncode, ended.stdout) == (0, f"sent 2 to {queue} (base64)\n")
    assert sorted(await service.texts(queue)) == ["a", "ü{}"]


async def test_a_name_that_is_nearly_a_functions_queue_is_pointed_out(
    folder: ProjectFolder,
) -> None:
    folder.function("orders", PLAIN)
    queue = folder.queue("ordres")

    ended = qtrigger("send", "--project", str(folder.root), queue, "x", environ=folder.environ)

    assert ended.returncode == 0
    assert f"did you mean {folder.queue('orders')}?" in ended.stderr


@pytest.mark.parametrize("by_file", [True, False])
async def test_a_file_and_standard_input_hold_one_message_a_line(
    folder: ProjectFolder, service: Service, tmp_path: Path, by_file: bool
) -> None:
    queue, lines = folder.queue("lines"), 'first\r\n\n{"id": 2}\n third \n'
    file = tmp_path / "lines.txt"
    file.write_text(lines)
    source = ["--file", str(file)] if by_file else []

    ended = qtrigger(
        "send",
        *("--project", str(folder.root), queue),
        *source,
        environ=folder.environ,
        given="" if by_file else lines,
    )

    assert ended.returncode == 0
    assert sorted(await service.texts(queue)) == [" third ", "first", '{"id": 2}']


async def test_count_repeats_each_text(folder: ProjectFolder, service: Service) -> None:
    queue = folder.queue("many")

    qtrigger(
        "send",
        *("--project", str(folder.root), queue, "x", "y", "--count", "10"),
        environ=folder.environ,
    )

    assert sorted(await service.texts(queue)) == ["x"] * 10 + ["y"] * 10


async def test_the_projects_encoding_and_the_functions_own_are_used(
    folder: ProjectFolder, service: Service
) -> None:
    own = {"functions": {"encoded": {"messageEncoding": "base64"}}}
    folder.host_json({"messageEncoding": "none"}, **own)
    folder.function("encoded", PLAIN)

    for queue in (folder.queue("plain"), folder.queue("encoded")):
        qtrigger("send", "--project", str(folder.root), queue, "x", environ=folder.environ)

    assert await service.raw(folder.queue("plain")) == ["x"]
    assert await service.raw(folder.queue("encoded")) == [base64.b64encode(b"x").decode()]


async def test_another_connection_can_be_named(folder: ProjectFolder, service: Service) -> None:
    environ = {**folder.environ, "AzureWebJobsOther": folder.connection}
    environ["AzureWebJobsStorage"] = "UseDevelopmentStorage=true"
    queue = folder.queue("elsewhere")

    ended = qtrigger(
        "send",
        *("--project", str(folder.root), queue, "x", "--connection", "Other"),
        environ=environ,
    )

    assert ended.returncode == 0
    assert await service.texts(queue) == ["x"]


async def test_any_bytes_can_be_sent_in_base64(
    folder: ProjectFolder, service: Service, tmp_path: Path
) -> None:
    queue, file = folder.queue("bytes"), tmp_path / "bytes"
    file.write_bytes(b"\xff\xfe\x00\nplain")

    ended = qtrigger(
        "send",
        *("--project", str(folder.root), queue, "--file", str(file)),
        environ=folder.environ,
    )

    assert ended.returncode == 0
    assert sorted(await service.bodies(queue)) == [b"plain", b"\xff\xfe\x00"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["a_b", "x"], 2, "underscore"),
        (["good-queue"], 2, "nothing to send"),
        (["good-queue", "x" * 49_153], 2, "65,536"),
        (["good-queue", "x", "--connection", "Nowhere"], 3, "AzureWebJobsNowhere"),
        (["good-queue", "x", "--file", "/nowhere"], 2, "/nowhere"),
        (["good-queue", "x", "--count", "9" * 23], 2, "--count"),
    ],
)
def test_what_cannot_be_sent_is_said_in_a_line_or_two(
    folder: ProjectFolder, arguments: list[str], code: int, words: str
) -> None:
    ended = qtrigger("send", "--project", str(folder.root), *arguments, environ=folder.environ)

    assert ended.returncode == code
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "AccountKey" not in ended.stderr


def test_a_service_that_does_not_answer_is_named(folder: ProjectFolder) -> None:
    environ = {**folder.environ, "AzureWebJobsStorage": _on_port(folder.connection, 9)}

    ended = qtrigger("send", "--project", str(folder.root), "orders", "x", environ=environ)

    assert ended.returncode == 4
    assert "127.0.0.1:9" in ended.stderr
    assert "emulator" in ended.stderr


def test_a_broken_host_json_does_not_keep_send_from_working(folder: ProjectFolder) -> None:
    (folder.root / "host.json").write_text(json.dumps({"version": "4.0"}))

    ended = qtrigger(
        "send", "--project", str(folder.root), folder.queue("x"), "x", environ=folder.environ
    )

    assert ended.returncode == 0


def _on_port(connection: str, port: int) -> str:
    head, _, tail = connection.partition("127.0.0.1:")
    return f"{head}127.0.0.1:{port}/{tail.partition('/')[2]}"


@pytest.mark.parametrize(("environment", "told"), [("Development", True), ("Production", False)])
def test_an_emulator_that_is_not_there_is_told_with_what_brings_it(
    folder: ProjectFolder, environment: str, told: bool
) -> None:
    dead = re.sub(r":\d+/", ":1/", folder.connection)
    given = {"AzureWebJobsStorage": dead, "AZURE_FUNCTIONS_ENVIRONMENT": environment}

    ended = qtrigger(
        "send", "--project", str(folder.root), "orders", "x", environ={**folder.environ, **given}
    )

    assert ended.returncode == 4
    assert "error: cannot connect" in ended.stderr
    assert ("qtrigger start brings one for as long as it runs" in ended.stderr) == told
