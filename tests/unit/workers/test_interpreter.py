"""Which Python runs the functions, and the words for why."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from qtrigger.workers.interpreter import Interpreter, choose_interpreter

SETTING = "languageWorkers__python__defaultExecutablePath"


def environment(folder: Path) -> Path:
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    (folder / "pyvenv.cfg").touch()
    return python


@pytest.mark.parametrize("name", [SETTING, SETTING.replace("__", ":")])
def test_the_setting_wins(tmp_path: Path, name: str) -> None:
    environment(tmp_path / ".venv")

    chosen = choose_interpreter(tmp_path, {name: "/opt/python/bin/python3"})

    assert chosen == Interpreter(path=Path("/opt/python/bin/python3"), why=f"setting {name}")


def test_a_relative_setting_counts_from_the_project(tmp_path: Path) -> None:
    chosen = choose_interpreter(tmp_path, {SETTING: "tools/python"})

    assert chosen.path == tmp_path / "tools" / "python"


def test_a_bare_name_is_looked_up_on_the_search_path(tmp_path: Path) -> None:
    assert choose_interpreter(tmp_path, {SETTING: "sh"}).path.is_absolute()


@pytest.mark.parametrize("folder", [".venv", "venv", "env"])
def test_an_environment_in_the_project_beats_the_activated_one(tmp_path: Path, folder: str) -> None:
    active = tmp_path / "elsewhere"
    environment(active)
    python = environment(tmp_path / folder)

    chosen = choose_interpreter(tmp_path, {"VIRTUAL_ENV": str(active)})

    assert chosen == Interpreter(path=python, why=f"{folder} in the project")


def test_a_folder_that_is_no_environment_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "env" / "bin").mkdir(parents=True)
    (tmp_path / "env" / "bin" / "python").touch()
    python = environment(tmp_path / "active")

    chosen = choose_interpreter(tmp_path, {"VIRTUAL_ENV": str(tmp_path / "active")})

    assert chosen.path == python
    assert "VIRTUAL_ENV" in chosen.why


def test_the_hosts_own_python_is_the_last_choice(tmp_path: Path) -> None:
    chosen = choose_interpreter(tmp_path, {SETTING: "", "VIRTUAL_ENV": str(tmp_path / "gone")})

    assert chosen == Interpreter(path=Path(sys.executable), why="the Python that runs qtrigger")
