"""`qtrigger invoke`: one function, once, in a real worker and without a queue."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, qtrigger

COPY = """
import logging

def main(msg: str, copy) -> str:
    logging.getLogger("shop").warning("copying %s", msg)
    print("printed")
    copy.set("copy of " + msg)
    return "receipt for " + msg
"""
NOWHERE = "DefaultEndpointsProtocol=http;AccountName=a;AccountKey=YQ==;QueueEndpoint=http://127.0.0.1:1/a;"


def invoke(folder: ProjectFolder, *arguments: str, given: str = "") -> tuple[int, str, str]:
    """Run it; exit code, what stood on standard output, and on standard error."""
    ended = qtrigger(
        *("invoke", "--project", str(folder.root), *arguments), environ=folder.environ, given=given
    )
    assert "qtrigger/" not in ended.stderr, ended.stderr
    return ended.returncode, ended.stdout, ended.stderr


def test_a_function_runs_without_a_queue_service_and_says_what_it_would_write(
    folder: ProjectFolder,
) -> None:
    folder.environ["AzureWebJobsStorage"] = NOWHERE
    folder.function("charge", COPY, out={"copy": "copies", "$return": "receipts"})

    code, out, err = invoke(folder, "charge", "--message", "x")

    assert code == 0
    assert out.startswith("charge succeeded  ")
    assert f"set copy, not written to {folder.queue('copies')}:\n  copy of x\n" in out
    assert f"returned, not written to {folder.queue('receipts')}:\n  receipt for x\n" in out
    assert f"a message on {folder.queue('charge')} would now be deleted" in out
    assert "WARNING copying x" in err
    assert "INFO printed" in err


async def test_outputs_are_written_for_real_when_asked_for(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("charge", COPY, out={"copy": "copies", "$return": "receipts"})

    code, out, _ = invoke(folder, "charge", "--message", "-", "--write-outputs", given="x")

    assert (code, out.count("written to"), out.count("not written")) == (0, 2, 0)
    assert await service.texts(folder.queue("copies")) == ["copy of x"]
    assert await service.texts(folder.queue("receipts")) == ["receipt for x"]


def test_a_failure_shows_the_users_frames_and_has_an_exit_code_of_its_own(
    folder: ProjectFolder,
) -> None:
    code = """
    def inner(msg):
        raise ValueError("no " + msg)

    def main(msg: str):
        inner(msg)
    """
    folder.function("charge", code)

    ended, out, err = invoke(folder, "charge", "--message", "x", "--metadata", "dequeueCount=5")

    assert (ended, out) == (6, "")
    assert "charge failed: ValueError: no x  (functions/charge/__init__.py:" in err
    assert [line.strip().rpartition(", ")[2] for line in err.splitlines() if "File " in line] == [
        "in main",
        "in inner",
    ]
    assert "-poison, after its try 5 of 5" in err


def test_machines_get_one_object_and_people_the_lines_beside_it(
    folder: ProjectFolder, tmp_path: Path
) -> None:
    folder.function("charge", COPY, out={"copy": "copies", "$return": "receipts"})
    body = tmp_path / "body.txt"
    body.write_text("x")

    code, out, err = invoke(
        folder,
        *("charge", "--file", str(body), "--format", "json"),
        *("--metadata", "id=m1", "dequeueCount=3"),
    )

    told = json.loads(out)
    assert code == 0
    assert (told["outcome"], told["disposition"], told["written"]) == ("succeeded", "acked", False)
    assert (told["message"]["id"], told["message"]["dequeue_count"]) == ("m1", 3)
    assert told["outputs"] == [
        {"binding": "copy", "queue": folder.queue("copies"), "body": "copy of x"},
        {"binding": "$return", "queue": folder.queue("receipts"), "body": "receipt for x"},
    ]
    assert told["logs"] == [
        {"level": "warning", "logger": "shop", "message": "copying x"},
        {"level": "info", "logger": "stdout", "message": "printed"},
    ]
    assert "copying x" in err


def test_debug_lines_come_when_the_setting_asks_and_host_json_lets_them(
    folder: ProjectFolder,
) -> None:
    folder.environ["PYTHON_ENABLE_DEBUG_LOGGING"] = "1"
    code = """
    import logging

    def main(msg: str):
        logging.getLogger("my function").debug("in detail")
        logging.getLogger("my function").error("an error")
    """
    folder.function("charge", code)

    _, _, every = invoke(folder, "charge")
    (folder.root / "host.json").write_text(
        '{"version": "2.0", "logging": {"logLevel": {"Function.charge.User": "Error"}}}'
    )
    _, _, errors = invoke(folder, "charge")

    assert ("DEBUG in detail" in every, "ERROR an error" in every) == (True, True)
    assert ("in detail" in errors, "ERROR an error" in errors) == (False, True)


def test_a_function_of_decorators_is_run_by_its_name(folder: ProjectFolder) -> None:
    (folder.root / "function_app.py").write_text(
        "import azure.functions as func\n"
        "app = func.FunctionApp()\n"
        "@app.function_name('charge')\n"
        "@app.queue_trigger('msg', 'orders', 'AzureWebJobsStorage')\n"
        "@app.queue_output('$return', 'receipts', 'AzureWebJobsStorage')\n"
        "async def any_name(msg: func.QueueMessage, context) -> str:\n"
        "    return f'{msg.get_json()} {context.function_name}'\n"
        "@app.route('hello')\n"
        "def hello(req: func.HttpRequest) -> str:\n"
        "    return 'x'\n"
    )

    code, out, _ = invoke(folder, "charge", "--message", '{"id": 1}')
    assert (code, "  {'id': 1} charge\n" in out) == (0, True)

    code, _, err = invoke(folder, "hello")
    assert (code, "its trigger is of type httpTrigger" in err) == (3, True)


def test_the_function_timeout_ends_a_run_that_cannot_be_cancelled(folder: ProjectFolder) -> None:
    (folder.root / "host.json").write_text('{"version": "2.0", "functionTimeout": "00:00:01"}')
    folder.function("slow", "import time\ndef main(msg: str):\n    time.sleep(600)\n")

    code, _, err = invoke(folder, "slow")

    assert code == 6
    assert "slow timed out after 1 s (functionTimeout)" in err


def test_what_cannot_run_is_said_in_a_few_lines(folder: ProjectFolder) -> None:
    folder.function("charge", "def main(msg: str):\n    pass\n")
    folder.function("broken", "import nowhere_to_be_found\ndef main(msg: str):\n    pass\n")
    folder.function("ends", "import os\ndef main(msg: str):\n    os._exit(3)\n")

    for arguments, code, said in (
        (["broken"], 3, "No module named 'nowhere_to_be_found'"),
        (["ends"], 6, "ended its worker process: exit code 3"),
        (["charge", "--message", "x" * 50_000], 0, "no such message can stand on"),
    ):
        ended, _, err = invoke(folder, *arguments)
        assert (ended, said in err) == (code, True), err
        assert len(err.splitlines()) <= 16, err
