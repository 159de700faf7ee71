"""The verbs for queues on a project of the test's own, in the test's process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner, Result

from qtrigger.cli.main import cli
from qtrigger.errors import QtriggerError, exit_code
from tests.unit.cli.account import Account
from tests.unit.project.folder import TRIGGER, ProjectFolder


@dataclass(frozen=True)
class Said:
    """What a verb wrote, and its exit code."""

    code: int
    stdout: str
    stderr: str


class Desk:
    """The verbs on a project with the functions charge (on orders) and ship (on shipments)."""

    def __init__(self, root: Path, there: Account) -> None:
        self.account = there
        self.folder = ProjectFolder(root)
        self.root = root
        self.folder.values(AzureWebJobsStorage=there.connection)
        self.folder.function("charge", TRIGGER)
        self.folder.function("ship", {**TRIGGER, "queueName": "shipments"})

    def __call__(self, *arguments: str, code: int = 0) -> Said:
        verb = arguments[0]
        where = [str(self.root)] if verb in ("list", "queues") else ["--project", str(self.root)]
        run = CliRunner().invoke(
            cli, [*arguments, *where], prog_name="qtrigger", standalone_mode=False
        )
        said = _said(run)
        assert said.code == code, f"{said.stdout}\n{said.stderr}"
        return said

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--format", "json").stdout)


def _said(run: Result) -> Said:
    """As `main` tells it."""
    match run.exception:
        case None:
            return Said(int(run.return_value or 0), run.stdout, run.stderr)
        case click.ClickException() as error:
            return Said(error.exit_code, run.stdout, run.stderr + error.format_message())
        case QtriggerError() as error:
            return Said(exit_code(error), run.stdout, f"{run.stderr}{error}")
        case error:
            raise error
