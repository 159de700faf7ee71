"""A worker that comes up while the project is read: taken where it fits, else ended."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from qtrigger.assembly import function_spec
from qtrigger.cli import projects
from qtrigger.cli.ahead import Ahead, launch_ahead
from qtrigger.clock import SystemClock
from qtrigger.errors import ProjectError
from qtrigger.events import UserLog, WorkerStarted
from qtrigger.project.glance import environment_at_a_glance
from qtrigger.project.loader import load_project
from qtrigger.testing.probe import Probe

CLOCK = SystemClock()
TRIGGER = {
    "type": "queueTrigger",
    "direction": "in",
    "name": "msg",
    "queueName": "orders",
    "connection": "AzureWebJobsStorage",
}
ENVIRON = {"PATH": os.environ["PATH"]}
STORAGE = {"AzureWebJobsStorage": "UseDevelopmentStorage=true"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with one function that prints a line while it is imported."""
    folder = tmp_path / "functions" / "charge"
    folder.mkdir(parents=True)
    (tmp_path / "host.json").write_text('{"version": "2.0"}')
    (folder / "function.json").write_text(json.dumps({"bindings": [TRIGGER]}))
    (folder / "__init__.py").write_text("print('imported')\ndef main(msg: str): pass\n")
    local_settings(tmp_path, {"Values": STORAGE})
    return tmp_path


def local_settings(root: Path, content: Mapping[str, object]) -> None:
    text = json.dumps({"IsEncrypted": False, **content})
    (root / "local.settings.json").write_text(text)


async def ahead_of(root: Path, environ: Mapping[str, str] = ENVIRON) -> Ahead:
    ahead = await launch_ahead(root, environ, "Development", clock=CLOCK, sink=Probe())
    assert ahead is not None
    return ahead


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_the_worker_that_came_up_beside_the_reading_is_the_one_that_runs_the_functions(
    root: Path,
) -> None:
    probe = Probe()
    loaded = await projects.load(root, ENVIRON, "Development", clock=CLOCK, sink=probe)
    assert loaded.worker is not None
    pid = loaded.worker.pid

    pool, _ = loaded.open_workers(1, CLOCK, probe)
    try:
        await pool.start([function_spec(each) for each in loaded.project.functions])
    finally:
        await pool.stop(0.0)

    assert [each.pid for each in probe.of(WorkerStarted)] == [pid]


async def test_lines_of_a_worker_started_ahead_obey_the_levels_of_host_json(root: Path) -> None:
    level = {"logging": {"logLevel": {"default": "None"}}}
    (root / "host.json").write_text(json.dumps({"version": "2.0", **level}))
    probe = Probe()
    loaded = await projects.load(root, ENVIRON, "Development", clock=CLOCK, sink=probe)
    pool, _ = loaded.open_workers(1, CLOCK, probe)
    try:
        await pool.start([function_spec(each) for each in loaded.project.functions])
    finally:
        await pool.stop(0.0)

    assert probe.of(WorkerStarted)
    assert not probe.of(UserLog)


@pytest.mark.parametrize(
    "environ",
    [{**ENVIRON, "MORE": "1"}, {**ENVIRON, "AzureWebJobsStorage": "UseDevelopmentStorage=true;"}],
    ids=["one setting more", "another value"],
)
async def test_a_worker_started_ahead_with_other_settings_than_the_projects_is_ended(
    root: Path, environ: Mapping[str, str]
) -> None:
    ahead = await ahead_of(root, environ)
    pid = ahead.pid

    taken = await ahead.worker_for(load_project(root, ENVIRON, environment="Development"))

    assert taken is None
    assert not is_there(pid)


async def test_a_worker_started_ahead_for_a_project_that_must_not_run_is_ended(root: Path) -> None:
    (root / "host.json").write_text('{"version": "1.0"}')
    ahead = await ahead_of(root)
    pid = ahead.pid

    taken = await ahead.worker_for(load_project(root, ENVIRON, environment="Development"))

    assert taken is None
    assert not is_there(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="the children are listed by /proc")
async def test_a_folder_that_is_no_project_leaves_no_process_behind(tmp_path: Path) -> None:
    before = children()

    with pytest.raises(ProjectError):
        await projects.load(tmp_path, ENVIRON, "Development", clock=CLOCK, sink=Probe())

    assert children() <= before


def children() -> set[str]:
    listed = Path("/proc/self/task").glob("*/children")
    return {pid for each in listed for pid in each.read_text().split()}


async def test_an_interpreter_that_is_not_there_is_told_by_the_start_and_not_before(
    root: Path,
) -> None:
    setting = "languageWorkers__python__defaultExecutablePath"
    local_settings(root, {"Values": {**STORAGE, setting: "/nowhere/python"}})

    loaded = await projects.load(root, ENVIRON, "Development", clock=CLOCK, sink=Probe())

    assert loaded.worker is None
    assert [each.name for each in loaded.project.functions] == ["charge"]


@pytest.mark.parametrize("environment", ["Development", "Production"])
@pytest.mark.parametrize(
    "content",
    [
        {"Values": {**STORAGE, "A": "1", "B": 2, "C": True, "D": None}},
        {"Values": STORAGE, "ConnectionStrings": {"db": "x", "other": {"ConnectionString": "y"}}},
        {"Values": {**STORAGE, "PATH": "hidden"}, "Host": {"LocalHttpPort": 7071}},
    ],
    ids=["values", "connection strings", "values that the environment has too"],
)
def test_a_glance_sees_the_settings_that_the_reading_finds(
    root: Path, content: Mapping[str, object], environment: str
) -> None:
    local_settings(root, content)

    project = load_project(root, ENVIRON, environment=environment)

    assert environment_at_a_glance(root, ENVIRON, environment) == project.settings


@pytest.mark.parametrize("text", ["{", "[]", '{"Values": 3}', '{"Values": {}, "Values": 3}'])
def test_a_glance_at_settings_that_cannot_be_read_raises_nothing(root: Path, text: str) -> None:
    (root / "local.settings.json").write_text(text)

    environment_at_a_glance(root, ENVIRON, "Development")
