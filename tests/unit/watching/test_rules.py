"""Which files of a project are watched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qtrigger.watching.facts import Facts, read_facts
from qtrigger.watching.rules import Rules
from qtrigger.watching.snapshot import Snapshot, take


def facts_of(root: Path, **host: object) -> Facts:
    (root / "host.json").write_text(json.dumps({"version": "2.0", **host}))
    facts = read_facts(root, {}, "Development")
    assert facts is not None
    return facts


def watched(root: Path, rules: Rules) -> set[str]:
    found = take(root, rules, Snapshot(), now_ns=0, read=False)
    assert found is not None
    return set(found.files)


def put(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")


def test_modules_anywhere_and_the_configuration_are_watched(tmp_path: Path) -> None:
    names = ("shared/deep/a.py", "function_app.py", "requirements.txt", "local.settings.json")
    put(tmp_path, *names, "shared/data.json", "readme.md", "sub/requirements.txt")
    assert watched(tmp_path, Rules()) == set(names)


def test_everything_in_the_folder_of_a_function_is_watched(tmp_path: Path) -> None:
    names = ("functions/charge/function.json", "functions/charge/templates/mail.html")
    put(tmp_path, *names, "functions/charge/x.pyc", "functions/charge/__pycache__/y.py")
    put(tmp_path, "functions/readme.md", "functions/charge/.hidden")
    assert watched(tmp_path, Rules()) == set(names)


@pytest.mark.parametrize(
    "folder",
    [".venv", ".git", "node_modules", "__pycache__", ".azurite", ".qtrigger", ".mypy_cache",
     ".python_packages", "deep/.venv", "functions/charge/node_modules"],
)  # fmt: skip
def test_no_such_folder_is_entered(tmp_path: Path, folder: str) -> None:
    put(tmp_path, f"{folder}/a.py", f"{folder}/function.json")
    found = take(tmp_path, Rules(), Snapshot(), now_ns=0, read=False)
    assert found is not None
    assert not found.files
    assert not [path for path in found.folders if path.endswith(folder)]


def test_a_virtual_environment_is_known_by_its_mark_and_not_by_its_name(tmp_path: Path) -> None:
    put(tmp_path, "venv/a.py", "any/pyvenv.cfg", "any/lib/b.py")
    assert watched(tmp_path, Rules()) == {"venv/a.py"}


@pytest.mark.parametrize(
    "name", [".a.py.swp", "a.py~", ".#a.py", "#a.py#", "4913", "a.py.tmp", "run.log", "state.db"]
)
def test_what_editors_and_running_code_leave_behind_is_not_watched(
    tmp_path: Path, name: str
) -> None:
    put(tmp_path, "charge/function.json", f"charge/{name}")
    assert watched(tmp_path, Rules()) == {"charge/function.json"}


def test_what_funcignore_names_is_not_watched_but_the_settings_are(tmp_path: Path) -> None:
    put(tmp_path, "tests/a.py", "b_test.py", "kept.py", "local.settings.json", "charge/x/big.py")
    (tmp_path / ".funcignore").write_text(
        "tests\n*_test.py\nlocal.settings.json\n!\n[z-a]\n/charge/x/\n"
    )
    rules = facts_of(tmp_path).rules
    assert watched(tmp_path, rules) == {
        ".funcignore", "host.json", "kept.py", "local.settings.json",
    }  # fmt: skip


def test_host_json_names_further_files_and_folders(tmp_path: Path) -> None:
    names = {"prices.csv", "shared/prices.csv", "data/deep/x.bin", ".data/y.bin"}
    put(tmp_path, *names, "other/x.bin", "node_modules/a.js", "deep/node_modules/a.js")
    rules = facts_of(
        tmp_path,
        watchFiles=["Prices.csv"],
        watchDirectories=["/data/", ".data", "node_modules", "../up"],
    ).rules
    assert watched(tmp_path, rules) == {*names, "host.json"}


def test_file_watching_enabled_false_turns_watching_off(tmp_path: Path) -> None:
    assert facts_of(tmp_path).enabled
    assert not facts_of(tmp_path, fileWatchingEnabled=False).enabled


def test_a_host_json_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    put(tmp_path, "host.json")
    assert read_facts(tmp_path, {}, "Development") is None
