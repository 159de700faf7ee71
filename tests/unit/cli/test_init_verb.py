"""`qtrigger init`: the files of a new project, and never over what is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qtrigger.cli.main import cli
from tests.unit.project.folder import ProjectFolder

ALWAYS = {"host.json", "local.settings.json", "requirements.txt", ".gitignore", ".funcignore"}
OF_MODEL = {
    "v1": {"process_order/function.json", "process_order/__init__.py"},
    "v2": {"function_app.py"},
}


def init(root: Path, *flags: str) -> Result:
    return CliRunner().invoke(cli, ["init", str(root), "--no-git", *flags], prog_name="qtrigger")


def files(root: Path) -> dict[str, str]:
    found = (each for each in root.rglob("*") if each.is_file() and ".git" not in each.parts)
    return {each.relative_to(root).as_posix(): each.read_text() for each in found}


@pytest.mark.parametrize("model", ["v1", "v2"])
def test_a_new_project_is_faultless(tmp_path: Path, model: str) -> None:
    root = tmp_path / "shop"

    said = init(root, "--model", model)

    assert said.exit_code == 0, said.output
    assert set(files(root)) == ALWAYS | OF_MODEL[model]
    checked = CliRunner().invoke(
        cli, ["check", str(root), "--strict"], env={"AzureWebJobsStorage": None}
    )
    assert checked.output == "0 errors, 0 warnings in 1 function\n"


def test_each_file_is_a_line_of_the_output_and_the_next_commands_are_beside_it(
    tmp_path: Path,
) -> None:
    said = init(tmp_path / "shop")

    assert {line.partition("shop/")[2] for line in said.stdout.splitlines()} == (
        ALWAYS | OF_MODEL["v2"]
    )
    assert all(line.startswith("wrote ") for line in said.stdout.splitlines())
    assert "qtrigger start" in said.stderr
    assert "qtrigger send orders " in said.stderr


def test_without_a_folder_it_is_this_one_and_decorators(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    said = CliRunner().invoke(cli, ["init", "--no-git"])

    assert said.exit_code == 0
    assert "wrote function_app.py\n" in said.stdout
    assert "cd " not in said.stderr


def test_azure_finds_what_it_needs(tmp_path: Path) -> None:
    """The bundle brings the queue trigger; a function's folder stands in the project's own."""
    init(tmp_path, "--model", "v1")

    written = files(tmp_path)
    bundle = json.loads(written["host.json"])["extensionBundle"]
    assert bundle["id"] == "Microsoft.Azure.Functions.ExtensionBundle"
    assert written["requirements.txt"].split() == ["azure-functions"]
    assert "local.settings.json" in written[".funcignore"].split()


def test_settings_are_kept_out_of_git(tmp_path: Path) -> None:
    init(tmp_path)

    assert "local.settings.json" in (tmp_path / ".gitignore").read_text().splitlines()


def test_what_is_there_is_left_alone_and_named(tmp_path: Path) -> None:
    (tmp_path / "host.json").write_text('{"version": "2.0"}')
    (tmp_path / "function_app.py").write_text("# mine\n")

    said = init(tmp_path)

    assert said.exit_code == 0
    assert (tmp_path / "host.json").read_text() == '{"version": "2.0"}'
    assert (tmp_path / "function_app.py").read_text() == "# mine\n"
    (line,) = [each for each in said.stderr.splitlines() if each.startswith("left alone: ")]
    assert "host.json" in line
    assert "function_app.py" in line
    assert "requirements.txt" not in line


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    init(tmp_path)
    before = files(tmp_path)

    said = init(tmp_path)

    assert (said.exit_code, said.stdout, files(tmp_path)) == (0, "", before)


def test_force_replaces_what_is_there(tmp_path: Path) -> None:
    init(tmp_path)
    before = files(tmp_path)
    (tmp_path / "host.json").write_text("{")

    assert init(tmp_path, "--force").exit_code == 0
    assert files(tmp_path) == before


def test_a_link_to_nowhere_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "host.json").symlink_to(tmp_path / "elsewhere.json")

    init(tmp_path / "shop")

    assert not (tmp_path / "elsewhere.json").exists()


@pytest.mark.parametrize(("has", "wanted"), [("v1", "v2"), ("v2", "v1")])
def test_a_project_of_the_other_model_is_not_mixed(tmp_path: Path, has: str, wanted: str) -> None:
    init(tmp_path, "--model", has)
    before = files(tmp_path)

    said = init(tmp_path, "--model", wanted)

    assert said.exit_code == 2
    assert f"--model {has}" in said.stderr
    assert files(tmp_path) == before


def test_functions_that_are_there_get_no_example_beside_them(tmp_path: Path) -> None:
    ProjectFolder(tmp_path).function("charge")

    said = init(tmp_path, "--model", "v1")

    assert said.exit_code == 0, said.output
    assert not (tmp_path / "process_order").exists()


def test_git_is_made_where_there_is_none(tmp_path: Path) -> None:
    first = CliRunner().invoke(cli, ["init", str(tmp_path / "one")])
    (tmp_path / "two" / ".git").mkdir(parents=True)
    second = CliRunner().invoke(cli, ["init", str(tmp_path / "two" / "inner")])

    assert (tmp_path / "one" / ".git" / "HEAD").is_file(), first.output
    assert not (tmp_path / "two" / "inner" / ".git").exists()
    assert "git repository" not in second.output


def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    said = CliRunner().invoke(cli, ["init", str(tmp_path / "file" / "shop")])

    assert said.exit_code != 0
    assert "cannot be written: Not a directory" in str(said.exception)
