"""`qtrigger new`: one more function, in the model and the place that the project has."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import azure.functions
import pytest
from click.testing import CliRunner, Result

from qtrigger.cli.main import cli
from tests.unit.project.folder import KEY, ProjectFolder

SCRIPT = '''\
"""What the shop does."""
import azure.functions as func

app = func.FunctionApp()

# The end.
'''


class Commands:
    """The verb in a project."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = ProjectFolder(root)
        self.folder.values(AzureWebJobsStorage="UseDevelopmentStorage=true")
        self.script = root / "function_app.py"

    def new(self, *arguments: str) -> Result:
        given = ["-C", str(self.root), "new", *arguments]
        return CliRunner().invoke(cli, given, prog_name="qtrigger")

    def check(self, *flags: str) -> str:
        environ = {"AzureWebJobsStorage": None}
        given = ["check", str(self.root), "--strict", *flags]
        return CliRunner().invoke(cli, given, env=environ).output

    def declared(self) -> list[str]:
        """The names of the functions that Azure's own library finds in the script."""
        found = runpy.run_path(str(self.script)).values()
        (app,) = [each for each in found if isinstance(each, azure.functions.FunctionApp)]
        return [str(each.get_function_name()) for each in app.get_functions()]


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    monkeypatch.chdir(tmp_path)  # given back after the test; the verb itself changes it
    return Commands(tmp_path)


def test_a_script_gets_it_at_its_end_and_keeps_what_it_has(commands: Commands) -> None:
    commands.script.write_text(SCRIPT)

    said = commands.new("charge", "--queue", "orders", "--output", "receipts", "--async")

    assert said.exit_code == 0, said.output
    text = commands.script.read_text()
    head, _, tail = text.partition("@app.queue_trigger(")
    assert head.replace("import logging\n", "").rstrip() == SCRIPT.rstrip()
    assert 'queue_name="orders"' in tail
    assert "async def charge(msg: func.QueueMessage, out: func.Out[str]) -> None:" in tail
    assert commands.check() == "0 errors, 0 warnings in 1 function\n"


def test_it_says_which_file_and_how_to_try_it(commands: Commands) -> None:
    commands.script.write_text(SCRIPT)

    said = commands.new("charge", "--queue", "orders")

    assert said.stdout == "changed function_app.py\n"
    assert "qtrigger send orders " in said.stderr


def test_several_in_a_row_stand_side_by_side(commands: Commands) -> None:
    for name in ("one", "two", "three"):
        assert commands.new(name, "--queue", f"{name}-queue").exit_code == 0

    assert commands.script.read_text().count("import logging\n") == 1
    assert commands.declared() == ["one", "two", "three"]


@pytest.mark.parametrize("name", ["charge-card", "class", "Charge"])
def test_every_name_that_azure_allows_is_written_as_python(commands: Commands, name: str) -> None:
    commands.script.write_text(SCRIPT)

    assert commands.new(name, "--queue", "orders").exit_code == 0

    assert commands.declared() == [name]


@pytest.mark.parametrize("name", ["1st", "host", "a.b", "", "a" * 129, "a b"])
def test_other_names_are_refused(commands: Commands, name: str) -> None:
    said = commands.new(name, "--queue", "orders")

    assert (said.exit_code, commands.script.exists()) == (2, False)


def test_a_name_that_is_there_is_refused_and_nothing_changes(commands: Commands) -> None:
    commands.new("charge", "--queue", "orders")
    before = commands.script.read_text()

    for name in ("charge", "Charge"):
        said = commands.new(name, "--queue", "orders")
        assert said.exit_code == 2
        assert "'charge' already" in said.output

    assert commands.script.read_text() == before


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("def broken(:\n", "function_app.py:1: "),
        ("import azure.functions as func\n", "no app"),
        (SCRIPT + "def charge(): ...\n", "function_app.py:7: charge stands here already"),
        (SCRIPT + "charge = 1\n", "uses the name charge"),
    ],
)
def test_a_script_that_cannot_take_it_says_why_and_stays(
    commands: Commands, script: str, why: str
) -> None:
    commands.script.write_text(script)

    said = commands.new("charge", "--queue", "orders")

    assert why in str(said.exception)
    assert commands.script.read_text() == script


@pytest.mark.parametrize(
    ("first", "app", "annotation"),
    [
        ("import azure.functions as af", "af.FunctionApp()", "af.QueueMessage"),
        ("import azure.functions", "azure.functions.FunctionApp()", "azure.functions.QueueMessage"),
        ("from azure.functions import FunctionApp", "FunctionApp()", "func.QueueMessage"),
        ("from azure import functions", "functions.FunctionApp()", "functions.QueueMessage"),
    ],
)
def test_it_uses_the_names_that_the_script_has(
    commands: Commands, first: str, app: str, annotation: str
) -> None:
    commands.script.write_text(f"{first}\n\nshop = {app}\n")

    assert commands.new("charge", "--queue", "orders").exit_code == 0

    assert f"msg: {annotation}" in commands.script.read_text()
    assert "@shop.queue_trigger(" in commands.script.read_text()
    assert commands.declared() == ["charge"]


def test_ends_of_lines_the_mark_and_the_rights_are_kept(commands: Commands) -> None:
    commands.script.write_bytes(b"\xef\xbb\xbf" + SCRIPT.replace("\n", "\r\n").encode())
    commands.script.chmod(0o755)

    assert commands.new("charge", "--queue", "orders").exit_code == 0

    written = commands.script.read_bytes()
    assert written.startswith(b"\xef\xbb\xbf")
    assert written.count(b"\n") == written.count(b"\r\n")
    assert commands.script.stat().st_mode & 0o777 == 0o755
    assert commands.declared() == ["charge"]


@pytest.mark.parametrize("where", [".", "functions"])
def test_a_folder_is_written_beside_the_others(commands: Commands, where: str) -> None:
    commands.folder.function("refund", where=where)

    said = commands.new("charge", "--queue", "orders", "--output", "receipts")

    assert said.exit_code == 0, said.output
    written = json.loads((commands.root / where / "charge" / "function.json").read_text())
    assert [each["queueName"] for each in written["bindings"]] == ["orders", "receipts"]
    assert commands.check("--no-import") == "0 errors, 0 warnings in 2 functions\n"


def test_the_first_function_is_decorated_unless_said_otherwise(commands: Commands) -> None:
    assert commands.new("charge", "--queue", "orders", "--model", "v1").exit_code == 0
    assert (commands.root / "charge" / "function.json").is_file()

    said = commands.new("refund", "--queue", "orders", "--model", "v2")

    assert (said.exit_code, commands.script.exists()) == (2, False)


def test_a_queue_that_cannot_be_one_is_refused(commands: Commands) -> None:
    for flags in (["--queue", "a_b"], ["--queue", "orders", "--output", "x"]):
        assert commands.new("charge", *flags).exit_code == 2
    assert not commands.script.exists()


def test_a_queue_by_a_setting_is_taken(commands: Commands) -> None:
    assert commands.new("charge", "--queue", "%ORDERS%").exit_code == 0
    assert "%ORDERS%" in commands.script.read_text()


def test_a_connection_without_a_setting_is_named_and_none_is_written(commands: Commands) -> None:
    before = (commands.root / "local.settings.json").read_text()

    said = commands.new("charge", "--queue", "orders", "--connection", "Bank")

    assert said.exit_code == 0
    assert "set AzureWebJobsBank or Bank" in said.stderr
    assert (commands.root / "local.settings.json").read_text() == before


def test_a_connection_string_in_place_of_its_name_is_refused_and_not_shown(
    commands: Commands,
) -> None:
    secret = f"AccountName=acme;AccountKey={KEY}"

    said = commands.new("charge", "--queue", "orders", "--connection", secret)

    assert said.exit_code == 2
    assert KEY not in said.output
    assert not commands.script.exists()


def test_it_works_from_a_folder_below(commands: Commands) -> None:
    (commands.root / "deep" / "er").mkdir(parents=True)
    given = ["-C", str(commands.root / "deep" / "er"), "new", "charge", "--queue", "orders"]

    said = CliRunner().invoke(cli, given)

    assert said.exit_code == 0, said.output
    assert commands.script.is_file()
