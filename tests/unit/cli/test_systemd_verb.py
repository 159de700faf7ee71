"""`qtrigger systemd`: what it writes is what systemd's own tools find right and tight."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qtrigger.cli.main import cli
from qtrigger.cli.unit import Unit, in_homes, quoted
from qtrigger.errors import ProjectError
from tests.unit.project.folder import TRIGGER, ProjectFolder

# In tenths, as systemd-analyze wants it; a unit without hardening has 96.
EXPOSURE = "15"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = ProjectFolder(tmp_path / "my orders 100%")
    folder.host(qtrigger={"shutdownTimeout": "00:02:00"})
    folder.values(AzureWebJobsStorage="UseDevelopmentStorage=true", FUNCTIONS_WORKER_RUNTIME="x")
    folder.function("charge", TRIGGER)
    return folder.root


def called(*arguments: object) -> Result:
    return CliRunner().invoke(
        cli, ["systemd", *map(str, arguments)], prog_name="qtrigger", standalone_mode=False
    )


def analyzed(file: Path, *arguments: str, manager: str = "--system") -> str:
    """What systemd-analyze says, which has to be well."""
    runtime = file.parent / "runtime"
    runtime.mkdir(exist_ok=True)
    ended = subprocess.run(
        ["systemd-analyze", manager, *arguments, str(file)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env={**os.environ, "XDG_RUNTIME_DIR": str(runtime), "LC_ALL": "C.UTF-8"},
    )
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said
    return said


VARIANTS: dict[str, tuple[str, ...]] = {
    "made-up account": (),
    "an account": ("--user", "daemon"),
    "template": ("--template",),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_system_unit_is_understood_and_exposes_little(
    variant: str, project: Path, tmp_path: Path
) -> None:
    flags = VARIANTS[variant]
    place = () if "--template" in flags else (project,)
    file = tmp_path / ("qtrigger@.service" if "--template" in flags else "qtrigger-orders.service")
    file.write_text(called(*place, *flags).stdout)

    assert analyzed(file, "verify") == ""
    analyzed(file, "security", "--offline=true", f"--threshold={EXPOSURE}")


def test_the_threshold_would_tell_of_a_unit_that_exposes_much(tmp_path: Path) -> None:
    file = tmp_path / "bare.service"
    file.write_text("[Service]\nExecStart=/bin/true\n")

    with pytest.raises(AssertionError):
        analyzed(file, "security", "--offline=true", f"--threshold={EXPOSURE}")


def test_a_unit_of_ones_own_is_understood(project: Path, tmp_path: Path) -> None:
    file = tmp_path / "qtrigger-orders.service"
    file.write_text(called(project, "--user-unit").stdout)

    assert analyzed(file, "verify", manager="--user") == ""
    assert "DynamicUser" not in file.read_text()
    assert "WantedBy=default.target" in file.read_text()


def test_a_stop_has_the_time_that_the_project_asks_for(project: Path) -> None:
    assert "TimeoutStopSec=135s" in called(project).stdout


def test_a_secret_has_a_line_for_a_file_of_its_own_and_no_value_is_shown(project: Path) -> None:
    unit = called(project, "--name", "orders").stdout
    example = called(project, "--name", "orders", "--environment-file").stdout

    assert "#LoadCredential=AzureWebJobsStorage:%E/qtrigger/orders/AzureWebJobsStorage" in unit
    assert "LoadCredential=FUNCTIONS" not in unit
    assert "#AzureWebJobsStorage=\n" in example
    assert "UseDevelopmentStorage" not in unit + example


def test_the_unit_alone_goes_to_standard_output(project: Path) -> None:
    result = called(project)

    assert result.stdout.startswith("[Unit]\n")
    assert "Next:" in result.stderr
    assert "qtrigger-my-orders-100.service" in result.stderr


def test_what_is_told_next_can_be_typed_as_it_stands(project: Path) -> None:
    told = called(project, "--name", "orders", "--user", "daemon").stderr
    command = next(line.strip() for line in told.splitlines() if "--install" in line)
    root, verb, *arguments = shlex.split(command)[1:]

    assert command.startswith("sudo ")
    assert Path(root).is_absolute()
    assert [verb, *arguments] == [
        *("systemd", str(project), "--name", "orders", "--user", "daemon", "--install"),
    ]


def test_who_has_installed_a_unit_is_sent_to_its_settings_before_it_is_started(
    project: Path, tmp_path: Path
) -> None:
    told = called(project, "--name", "orders", "--install", "--root", tmp_path).stderr

    assert "--install" not in told
    assert -1 < told.find("/etc/qtrigger/orders.env") < told.find("enable --now")


def test_what_is_installed_is_what_is_printed(project: Path, tmp_path: Path) -> None:
    result = called(project, "--name", "orders", "--install", "--root", tmp_path)

    unit = tmp_path / "etc/systemd/system/qtrigger-orders.service"
    settings = tmp_path / "etc/qtrigger/orders.env"
    assert unit.read_text() == called(project, "--name", "orders").stdout
    assert unit.stat().st_mode & 0o777 == 0o644
    assert settings.stat().st_mode & 0o777 == 0o600
    assert result.stdout.splitlines() == [f"wrote {unit}", f"wrote {settings}"]


def test_a_second_installation_changes_nothing_and_keeps_the_settings(
    project: Path, tmp_path: Path
) -> None:
    install = (project, "--name", "orders", "--install", "--root", tmp_path)
    called(*install)
    settings = tmp_path / "etc/qtrigger/orders.env"
    settings.write_text("AzureWebJobsStorage=mine\n")

    result = called(*install)

    assert result.stdout.count("left as it is") == 2
    assert settings.read_text() == "AzureWebJobsStorage=mine\n"


def test_a_unit_that_somebody_changed_is_replaced_by_force_alone(
    project: Path, tmp_path: Path
) -> None:
    install = (project, "--name", "orders", "--install", "--root", tmp_path)
    called(*install)
    unit = tmp_path / "etc/systemd/system/qtrigger-orders.service"
    unit.write_text("mine")

    refused = called(*install)

    assert isinstance(refused.exception, ProjectError)
    assert "systemctl edit" in str(refused.exception)
    assert unit.read_text() == "mine"
    called(*install, "--force")
    assert unit.read_text().startswith("[Unit]")


@pytest.mark.parametrize(
    "flags",
    [
        ("--user", "ann", "--user-unit"),
        ("--template", "--name", "x"),
        ("--force",),
        ("--name", "a/b"),
        ("--name", "x\ny"),
    ],
)
def test_what_contradicts_itself_is_wrong_usage(flags: tuple[str, ...], project: Path) -> None:
    place = () if "--template" in flags else (project,)

    assert getattr(called(*place, *flags).exception, "exit_code", None) == 2


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("/srv/orders", "/srv/orders"),
        ("/srv/my orders", '"/srv/my orders"'),
        ("/srv/100%", "/srv/100%%"),
        ('/srv/a"b\\c', '"/srv/a\\"b\\\\c"'),
        ("/srv/$HOME", '"/srv/$$HOME"'),
        ("/srv/%i", "/srv/%%i"),
    ],
)
def test_a_path_is_written_as_systemd_reads_it_back(text: str, written: str) -> None:
    assert quoted(text) == written


def test_a_path_that_no_unit_can_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot hold"):
        Unit(name="x", project=Path("/srv/a\nb"), command=["/bin/true"]).text()


def test_of_folders_in_homes_the_outermost_are_shown_to_the_service() -> None:
    paths = [Path("/home/ann/orders"), Path("/home/ann/orders/.venv"), Path("/opt/python")]

    assert in_homes(paths) == [Path("/home/ann/orders")]


def test_a_project_in_a_home_can_be_seen_by_its_service_alone() -> None:
    unit = Unit(
        name="x",
        project=Path("/home/ann/orders"),
        command=["/bin/true"],
        private=[Path("/home/ann/orders")],
    ).text()

    assert "ProtectHome=tmpfs\nBindReadOnlyPaths=/home/ann/orders\n" in unit
