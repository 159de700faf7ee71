"""`qtrigger emulator`: what listens, and removing data that nobody uses."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from qtrigger.cli.main import cli
from qtrigger.errors import EmulatorError
from qtrigger.queues.azurite_process import DataFolder
from tests.unit.project.folder import ProjectFolder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project's folder."""
    return ProjectFolder(tmp_path).root


@pytest.fixture
def held(root: Path) -> Iterator[DataFolder]:
    """Its data folder, as a running host has it, with a message in it."""
    folder = DataFolder(root / ".azurite")
    assert folder.claim()
    folder.note(port=9)
    (folder.path / "queues").write_text("x" * 200_000)
    yield folder
    folder.release()


def emulator(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["emulator", *arguments], standalone_mode=False)


def test_status_looks_where_a_host_of_the_project_listens(root: Path, held: DataFolder) -> None:
    said = emulator("status", str(root), "--format", "json")

    assert said.return_value == 4  # nobody listens on port 9
    assert json.loads(said.stdout) == {
        "schema_version": 1,
        "state": "not running",
        "address": "127.0.0.1:9",
        "version": None,
        "data": str(held.path),
        "host_pid": os.getpid(),
    }


def test_a_host_that_is_gone_is_nobody(root: Path, held: DataFolder) -> None:
    held.release()

    said = emulator("status", str(root), "--port", "9")

    assert said.stdout.splitlines()[1].split() == (
        ["not", "running", "127.0.0.1:9", "-", str(held.path), "-"]
    )


def test_looking_makes_nothing(root: Path) -> None:
    emulator("status", str(root), "--port", "9")

    assert not (root / ".azurite").exists()


def test_clean_removes_what_nobody_uses(root: Path, held: DataFolder) -> None:
    held.release()

    said = emulator("clean", str(root), "--yes")

    assert (said.return_value, said.stdout) == (0, f"removed {held.path} (0.2 MB)\n")
    assert not held.path.exists()


def test_clean_leaves_what_is_in_use(root: Path, held: DataFolder) -> None:
    said = emulator("clean", str(root), "--yes")

    assert isinstance(said.exception, EmulatorError)
    assert f"in use by process {os.getpid()}" in str(said.exception)
    assert (held.path / "queues").exists()


def test_clean_asks_first_and_without_a_terminal_wants_yes(root: Path, held: DataFolder) -> None:
    held.release()

    said = emulator("clean", str(root))

    assert isinstance(said.exception, click.UsageError)
    assert "--yes" in str(said.exception)
    assert held.path.exists()


def test_a_dry_run_removes_nothing(root: Path, held: DataFolder) -> None:
    said = emulator("clean", str(root), "--dry-run")

    assert (said.return_value, said.stdout.startswith("would remove ")) == (0, True)
    assert held.path.exists()


def test_there_may_be_nothing_to_remove(root: Path) -> None:
    said = emulator("clean", str(root))

    assert said.return_value == 0
    assert said.stdout.startswith("nothing to remove")
