"""`qtrigger docker`: a Dockerfile on standard output or in a folder, never over what is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pathspec import GitIgnoreSpec

from qtrigger.cli.kubernetes import SECRET_FILE
from qtrigger.cli.main import cli


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project of `qtrigger init`."""
    CliRunner().invoke(cli, ["init", str(tmp_path), "--no-git"])
    return tmp_path


def docker(root: Path, *flags: str) -> Result:
    return CliRunner().invoke(cli, ["docker", str(root), *flags], prog_name="qtrigger")


def test_the_dockerfile_alone_is_on_standard_output(root: Path) -> None:
    said = docker(root)

    assert said.exit_code == 0
    assert said.stdout.startswith("# Made by `qtrigger docker`")
    assert "COPY requirements.txt /requirements/requirements.txt" in said.stdout
    assert "--out . also writes .dockerignore" in said.stderr
    assert not (root / "Dockerfile").exists()


def test_out_writes_both_files_and_never_over_what_is_there(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deploy"
    folder.mkdir()
    (folder / "Dockerfile").write_text("mine")

    said = docker(root, "--out", str(folder))

    assert (said.exit_code, (folder / "Dockerfile").read_text()) == (0, "mine")
    assert "left alone" in said.stderr
    assert "**/local.settings.json" in (folder / ".dockerignore").read_text()

    docker(root, "--out", str(folder), "--force")
    assert (folder / "Dockerfile").read_text() == docker(root).stdout


def test_files_that_requirements_include_are_copied_and_none_from_outside(root: Path) -> None:
    (root / "requirements.txt").write_text("-r more/base.txt\n-c ../outside.txt\n")
    (root / "more").mkdir()
    (root / "more" / "base.txt").write_text("azure-functions\n--requirement ../requirements.txt\n")

    copied = [each for each in docker(root).stdout.splitlines() if "/requirements/" in each]

    assert copied[:2] == [
        "COPY requirements.txt /requirements/requirements.txt",
        "COPY more/base.txt /requirements/more/base.txt",
    ]
    assert len(copied) == 3


def test_an_included_file_needs_no_space_before_its_name(root: Path) -> None:
    (root / "requirements.txt").write_text("-rbase.txt\n-r https://files.example/more.txt\n")
    (root / "base.txt").write_text("azure-functions\n")

    said = docker(root)

    assert "COPY base.txt /requirements/base.txt" in said.stdout
    assert "warning" not in said.stderr


@pytest.mark.parametrize("line", ["-r ../base.txt", "-c gone.txt", "./lib", "-e .", "file:///lib"])
def test_what_the_build_will_not_find_is_said_before_it(root: Path, line: str) -> None:
    (root / "requirements.txt").write_text(f"azure-functions\n{line}\n")

    said = docker(root)

    assert said.exit_code == 0
    assert f"warning: requirements.txt:2: {line} " in said.stderr


def test_what_the_dockerfile_copies_is_sent_whatever_funcignore_says(root: Path) -> None:
    """Azure needs neither wheels nor a second file of requirements, once it is deployed."""
    (root / "requirements.txt").write_text("-r requirements-base.txt\n")
    (root / "requirements-base.txt").write_text("azure-functions\n")
    (root / "wheels").mkdir()
    (root / "wheels" / "qtrigger-1-py3-none-any.whl").touch()
    (root / ".funcignore").write_text("wheels\n*.whl\nrequirements*.txt\n")

    docker(root, "--out", str(root))

    ignored = GitIgnoreSpec.from_lines((root / ".dockerignore").read_text().splitlines())
    for path in ("wheels/qtrigger-1-py3-none-any.whl", "requirements-base.txt", "requirements.txt"):
        assert not ignored.match_file(path), path


def test_a_dockerignore_that_the_builder_does_not_look_at_is_told(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("deploy")

    assert ".dockerignore counts in the folder that is built from" in (
        docker(root, "--out", str(elsewhere)).stderr
    )
    assert "counts in" not in docker(root, "--out", str(root)).stderr


def test_a_filled_secret_of_the_manifest_gets_into_no_image(root: Path) -> None:
    docker(root, "--out", str(root))

    ignored = GitIgnoreSpec.from_lines((root / ".dockerignore").read_text().splitlines())
    assert ignored.match_file(f"deploy/{SECRET_FILE}")
    assert f"-name {SECRET_FILE} " in (root / "Dockerfile").read_text()


def test_a_stop_takes_what_host_json_says_and_a_margin(root: Path) -> None:
    (root / "host.json").write_text(
        '{"version": "2.0", "qtrigger": {"shutdownTimeout": "00:02:00"}}'
    )

    assert "docker stop --time 135 " in docker(root).stdout


@pytest.mark.parametrize("python", ["3", "3.10", "2.7", "3.12-slim", "latest"])
def test_a_python_that_cannot_run_it_is_wrong_usage(root: Path, python: str) -> None:
    assert docker(root, "--python", python).exit_code == 2


@pytest.mark.parametrize("package", ['qtrigger"', "$(x)", "a\nb", ""])
def test_a_package_that_breaks_out_of_its_quotes_is_wrong_usage(root: Path, package: str) -> None:
    assert docker(root, "--package", package).exit_code == 2


def test_virtual_environments_are_left_out_by_their_mark(root: Path, tmp_path: Path) -> None:
    (root / "venv311").mkdir()
    (root / "venv311" / "pyvenv.cfg").touch()

    docker(root, "--out", str(tmp_path / "out"))

    assert "\nvenv311\n" in (tmp_path / "out" / ".dockerignore").read_text()
