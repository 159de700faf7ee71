"""`qtrigger pause` and `qtrigger resume`: names, times, the list, and what is said."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qtrigger.cli.main import cli
from qtrigger.cli.span import Span
from qtrigger.pauses import PauseFile
from tests.unit.project.folder import ProjectFolder


class Commands:
    """The verbs on a project with the functions charge and refund."""

    def __init__(self, root: Path) -> None:
        self.root = root
        folder = ProjectFolder(root)
        folder.host()
        folder.function("charge")
        folder.function("refund")
        self.file = PauseFile(root / ".qtrigger")

    def __call__(self, *arguments: str) -> Result:
        return CliRunner().invoke(cli, arguments, prog_name="qtrigger")


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    return Commands(tmp_path)


def test_a_pause_says_who_until_when_why_and_how_to_end_it(commands: Commands) -> None:
    said = commands("pause", "Charge", str(commands.root), "--for", "1d", "--reason", "bank\ndown")

    assert said.exit_code == 0, said.output
    (pause,) = commands.file.read().pauses.values()
    assert (pause.function, pause.reason) == ("charge", "bank down")
    assert pause.until is not None
    assert timedelta(hours=23) < pause.until - datetime.now(UTC) <= timedelta(days=1)
    assert "charge is paused by " in said.output
    assert f"qtrigger resume charge {commands.root}" in said.output


def test_a_name_that_no_function_has_is_refused_with_the_nearest(commands: Commands) -> None:
    said = commands("pause", "chrage", str(commands.root))

    assert said.exit_code != 0
    assert commands.file.read().pauses == {}
    said = CliRunner().invoke(cli, ["pause", "chrage", str(commands.root)], standalone_mode=True)
    assert (said.exit_code, 'did you mean "charge"?' in said.output) == (2, True)


def test_the_list_shows_what_is_paused(commands: Commands) -> None:
    commands("pause", "refund", str(commands.root), "--reason", "audit")
    commands("pause", "charge", str(commands.root))

    text = commands("pause", f"{commands.root}").output.splitlines()
    listed = json.loads(commands("pause", str(commands.root), "--format", "json").output)

    assert [line.split()[0] for line in text] == ["charge", "refund"]
    assert text[1].endswith("until resumed: audit")
    assert [each["function"] for each in listed["paused"]] == ["charge", "refund"]
    assert listed["paused"][1]["reason"] == "audit"


def test_an_empty_list_says_so(commands: Commands) -> None:
    assert commands("pause", str(commands.root)).output == "no function is paused by hand\n"


def test_a_resume_says_what_it_ended(commands: Commands) -> None:
    commands("pause", "charge", str(commands.root))

    said = commands("resume", "CHARGE", str(commands.root))

    assert said.output.startswith("charge is resumed; it was paused by ")
    assert commands.file.read().pauses == {}


def test_a_function_that_is_gone_can_be_resumed(commands: Commands) -> None:
    commands("pause", "charge", str(commands.root))
    (commands.root / "functions" / "charge" / "function.json").unlink()

    assert commands("resume", "charge", str(commands.root)).exit_code == 0
    assert commands.file.read().pauses == {}


def test_the_state_may_be_elsewhere(commands: Commands, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"

    said = commands("pause", "charge", str(commands.root), "--state", str(elsewhere))

    assert said.exit_code == 0, said.output
    assert list(PauseFile(elsewhere).read().pauses) == ["charge"]
    assert not (commands.root / ".qtrigger").exists()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("10m", 600),
        ("1.5h", 5400),
        ("2H", 7200),
        ("1d", 86_400),
        ("00:10:00", 600),
        ("1.00:00:00", 86_400),
    ],
)
def test_a_time_is_written_as_people_do(text: str, seconds: int) -> None:
    assert Span().convert(text, None, None) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["0", "soon", "-5", "10x", "99999d", "", "1 2"])
def test_what_is_no_time_is_refused(commands: Commands, text: str) -> None:
    said = commands("pause", "charge", str(commands.root), "--for", text)

    assert said.exit_code == 2
    assert commands.file.read().pauses == {}
