"""A project folder to be written and loaded in a test."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from qtrigger.project.loader import load_project
from qtrigger.project.model import FunctionDefinition, Problem, Project

KEY = "c2VjcmV0LWtleS1vZi10aGUtYWNjb3VudC0wMTIzNDU2Nzg5QUJDREVGR0hJSktMTU5PUFFSU1RVVg=="
CONNECTION = f"DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={KEY}"
TRIGGER: dict[str, Any] = {
    "type": "queueTrigger",
    "direction": "in",
    "name": "msg",
    "queueName": "orders",
}
OUTPUT: dict[str, Any] = {
    "type": "queue",
    "direction": "out",
    "name": "out",
    "queueName": "receipts",
}


class ProjectFolder:
    """Writes the files of a project and loads it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("host.json", {"version": "2.0"})

    def write(self, name: str, content: Any) -> Path:
        """Write a file: bytes and text as they are, anything else as JSON."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content)
            path.write_text(text, encoding="utf-8")
        return path

    def host(self, **keys: Any) -> None:
        """Write a host.json with these keys."""
        self.write("host.json", {"version": "2.0", **keys})

    def queues(self, **options: Any) -> None:
        """Write a host.json with these options of the queue trigger."""
        self.host(extensions={"queues": options})

    def values(self, **values: Any) -> None:
        """Write a local.settings.json with these values."""
        self.write("local.settings.json", {"IsEncrypted": False, "Values": values})

    def function(
        self, name: str = "resize", *bindings: Any, where: str = "functions", **keys: Any
    ) -> None:
        """Write a function folder; without bindings it has one queue trigger."""
        content = {"bindings": list(bindings or (TRIGGER,)), **keys}
        self.write(f"{where}/{name}/function.json", content)
        self.write(f"{where}/{name}/__init__.py", "def main(msg): ...\n")

    def load(
        self,
        environ: Mapping[str, str] | None = None,
        *,
        environment: str = "Development",
        only: Sequence[str] = (),
    ) -> Project:
        """Load the project; its default connection is there unless the test says otherwise."""
        variables = {"AzureWebJobsStorage": CONNECTION} if environ is None else environ
        return load_project(self.root, variables, environment=environment, only=only)

    def one(self, environ: Mapping[str, str] | None = None) -> FunctionDefinition:
        """Load the project, which must have one function without errors."""
        project = self.load({"AzureWebJobsStorage": CONNECTION, **(environ or {})})
        assert [str(one) for one in project.problems if one.severity == "error"] == []
        (function,) = project.functions
        return function


def errors(project: Project, function: str | None = None) -> list[Problem]:
    """The errors of a project, of one function when it is named."""
    return _of(project, "error", function)


def warnings(project: Project, function: str | None = None) -> list[Problem]:
    """The warnings of a project, of one function when it is named."""
    return _of(project, "warning", function)


def _of(project: Project, severity: str, function: str | None) -> list[Problem]:
    return [
        problem
        for problem in project.problems
        if problem.severity == severity and function in {None, problem.function}
    ]
