"""`qtrigger docker`: a Dockerfile on standard output or in a folder, never over what is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

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
