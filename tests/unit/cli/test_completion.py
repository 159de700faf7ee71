"""What a shell is proposed: verbs, flags, and the project's functions and queues."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from qtrigger.cli.main import VERBS, cli
from tests.unit.project.folder import OUTPUT, TRIGGER, ProjectFolder

SCRIPT = """\
import azure.functions as func

app = func.FunctionApp()

@app.function_name("charge-card")
@app.queue_trigger("msg", "orders", "AzureWebJobsStorage")
@app.queue_output(arg_name="out", queue_name="receipts", connection="AzureWebJobsStorage")
def charge(msg, out): ...

@app.queue_trigger(arg_name="msg", queue_name="%RETURNS%", connection="AzureWebJobsStorage")
async def refund(msg): ...

@app.route("hello")
def hello(req): ...

def helper(): ...

raise RuntimeError("imported")
"""


def proposed(*words: str, folder: Path | None = None) -> list[str]:
    """What is proposed for the last of the words."""
    *before, incomplete = words
    at = ["-C", str(folder)] if folder else []
    complete = ShellComplete(cli, {}, "qtrigger", "_QTRIGGER_COMPLETE")
    return [item.value for item in complete.get_completions([*at, *before], incomplete)]


@pytest.fixture
def folder(tmp_path: Path) -> ProjectFolder:
    return ProjectFolder(tmp_path)


def test_all_verbs_are_proposed_and_none_of_them_is_imported() -> None:
    assert proposed("") == list(VERBS)
    assert "send" in proposed("se")

    program = (
        "import sys\nfrom click.shell_completion import ShellComplete\n"
        "from qtrigger.cli.main import cli\n"
        "ShellComplete(cli, {}, 'qtrigger', 'X').get_completions([], '')\n"
        "assert 'qtrigger.cli.send' not in sys.modules"
    )
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", program]) == 0


def test_flags_are_proposed() -> None:
    assert "--queue" in proposed("new", "--q")


def test_functions_and_queues_of_folders_are_proposed(folder: ProjectFolder) -> None:
    folder.function("charge", TRIGGER, OUTPUT)
    folder.function("refund", {**TRIGGER, "queueName": "%RETURNS%"})

    assert proposed("pause", "", folder=folder.root) == ["charge", "refund"]
    assert proposed("start", "--functions", "r", folder=folder.root) == ["refund"]
    assert proposed("send", "", folder=folder.root) == ["orders", "receipts"]


def test_those_of_decorators_are_proposed_without_running_the_script(
    folder: ProjectFolder,
) -> None:
    folder.write("function_app.py", SCRIPT)

    assert proposed("pause", "", folder=folder.root) == ["charge-card", "refund", "hello"]
    assert proposed("send", "o", folder=folder.root) == ["orders"]


@pytest.mark.parametrize("script", ["def broken(:", "\0", "app = " + "(" * 500])
def test_a_script_that_cannot_be_read_has_no_proposals(folder: ProjectFolder, script: str) -> None:
    folder.write("function_app.py", script)

    assert proposed("pause", "", folder=folder.root) == []


def test_without_a_project_there_is_nothing_to_propose(tmp_path: Path) -> None:
    assert proposed("pause", "", folder=tmp_path) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: str) -> None:
    said = CliRunner().invoke(cli, ["completion", shell])

    assert said.exit_code == 0
    assert f"_QTRIGGER_COMPLETE={shell}_complete" in said.output
