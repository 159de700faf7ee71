"""When `qtrigger start` watches files, and under which name of the project."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from qtrigger.cli import wiring
from qtrigger.cli.reload_options import changes_of, reload_options, watches
from qtrigger.clock import SystemClock
from qtrigger.errors import ProjectError
from qtrigger.watching.changes import NoChanges
from tests.unit.watching.support import Said, a_project


@pytest.mark.parametrize(
    ("environment", "reload", "poll", "expected"),
    [
        ("Development", None, False, True),
        ("development", False, False, False),
        ("Production", None, False, False),
        ("Staging", None, False, False),
        ("Production", True, False, True),
        ("Production", None, True, True),
        ("Development", False, True, False),
    ],
)
async def test_files_are_watched_in_development_and_elsewhere_when_asked(
    tmp_path: Path, environment: str, *, reload: bool | None, poll: bool, expected: bool
) -> None:
    wanted = watches(environment, reload=reload, poll=poll)
    opens = changes_of(
        a_project(tmp_path),
        environment=environment,
        wanted=wanted,
        poll=poll,
        clock=SystemClock(),
        sink=Said(),
    )
    source = opens(lambda: None)
    assert isinstance(source, NoChanges) != expected
    await source.close()


@pytest.mark.parametrize(
    ("arguments", "variable", "expected"),
    [
        ([], None, (None, False)),
        (["--reload"], None, (True, False)),
        (["--no-reload"], "1", (False, False)),
        ([], "0", (False, False)),
        (["--reload-poll"], "1", (True, True)),
    ],
)
def test_the_options_come_from_the_command_line_then_from_the_environment(
    arguments: list[str], variable: str | None, expected: tuple[bool | None, bool]
) -> None:
    got = []

    @click.command()
    @reload_options
    def start(reload: bool | None, reload_poll: bool) -> None:
        got.append((reload, reload_poll))

    CliRunner(env={"QTRIGGER_START_RELOAD": variable}).invoke(
        start, arguments, auto_envvar_prefix="QTRIGGER_START", catch_exceptions=False
    )
    assert got == [expected]


def test_a_link_in_the_name_of_the_project_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = a_project(tmp_path / "release-1")
    current = tmp_path / "current"
    current.symlink_to("release-1")
    monkeypatch.chdir(current / "functions")
    monkeypatch.setenv("PWD", str(current / "functions"))
    assert wiring.named_root(None) == current
    assert wiring.named_root(str(current)) == current
    assert wiring.named_root("../") == release
    monkeypatch.setenv("PWD", "/nowhere")
    assert wiring.named_root(None) == release
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    assert wiring.named_root("current") == current
    assert wiring.named_root("./release-1/") == release
    with pytest.raises(ProjectError):
        wiring.named_root("nowhere")
