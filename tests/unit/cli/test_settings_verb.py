"""`qtrigger settings`: what applies, where it comes from, and nothing that is secret."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from qtrigger.cli.settings import settings
from tests.unit.project.folder import CONNECTION, KEY, TRIGGER, ProjectFolder


@pytest.fixture
def folder(tmp_path: Path) -> ProjectFolder:
    return ProjectFolder(tmp_path)


def shown(folder: ProjectFolder, *flags: str, env: Mapping[str, str] | None = None) -> str:
    given = {"AzureWebJobsStorage": CONNECTION, **(env or {})}
    result = CliRunner().invoke(settings, [str(folder.root), *flags], env=given)
    assert result.exception is None, result.output
    return result.output


def rows(text: str) -> dict[str, list[str]]:
    return {line.split()[0]: line.split()[1:] for line in text.splitlines() if line}


def as_json(folder: ProjectFolder, **env: str) -> Any:
    return json.loads(shown(folder, "--format", "json", env=env))


def test_each_option_shows_its_value_and_where_it_comes_from(folder: ProjectFolder) -> None:
    folder.write("host.json", '{"version": "2.0",\n"extensions": {"queues": {"batchSize": 4}}}')

    text = shown(folder, env={"AzureFunctionsJobHost__extensions__queues__maxDequeueCount": "9"})

    assert rows(text)["extensions.queues.batchSize"] == ["4", "host.json:2"]
    assert rows(text)["extensions.queues.newBatchThreshold"] == ["2", "default"]
    assert rows(text)["extensions.queues.maxDequeueCount"] == ["9", "environment"]


def test_options_of_single_functions_show_which_applies(folder: ProjectFolder) -> None:
    folder.function("resize")
    folder.host(qtrigger={"functions": {"resize": {"batchSize": 1, "messageEncoding": "auto"}}})

    found = rows(shown(folder))

    assert found["qtrigger.functions.resize.batchSize"] == ["1", "host.json:1"]
    assert found["qtrigger.functions.resize.newBatchThreshold"] == ["0", "default"]
    assert found["qtrigger.functions.resize.messageEncoding"] == ["auto", "host.json:1"]
    assert found["extensions.queues.batchSize"] == ["16", "default"]


def test_the_pause_after_failures_is_told_from_the_lease(folder: ProjectFolder) -> None:
    assert [
        line
        for line in shown(folder).splitlines()
        if "visibilityTimeout is the pause" in line and "is qtrigger.lease" in line
    ]


def test_log_levels_and_listed_names_are_options_too(folder: ProjectFolder) -> None:
    folder.host(functions=["resize"], logging={"logLevel": {"Function": "Debug"}}, watchFiles=["x"])

    found = rows(shown(folder))

    assert found["functions"] == ["resize", "host.json:1"]
    assert found["logging.logLevel.Function"] == ["Debug", "host.json:1"]
    assert found["watchFiles"][-2:] == ["x", "host.json:1"]


def test_values_of_app_settings_are_hidden_but_for_azures_harmless_ones(
    folder: ProjectFolder,
) -> None:
    folder.values(Mine="something", FUNCTIONS_WORKER_RUNTIME="python", Empty="")

    found = rows(shown(folder, env={"AzureWebJobs.resize.Disabled": "true"}))

    assert found["Mine"] == ["(hidden)", "local.settings.json:1"]
    assert found["Empty"] == ["(empty)", "local.settings.json:1"]
    assert found["FUNCTIONS_WORKER_RUNTIME"] == ["python", "local.settings.json:1"]
    assert found["AzureWebJobs.resize.Disabled"] == ["true", "environment"]
    # The second line of that name is the connection's.
    assert "AzureWebJobsStorage" in found
    assert KEY not in shown(folder)


def test_a_harmless_name_does_not_show_what_looks_secret(folder: ProjectFolder) -> None:
    folder.values(FUNCTIONS_WORKER_RUNTIME=KEY)

    assert KEY not in shown(folder)


def test_of_the_environment_only_what_the_project_speaks_of_is_shown(
    folder: ProjectFolder,
) -> None:
    folder.function("resize", {**TRIGGER, "queueName": "%QUEUE%", "connection": "Media"})

    names = {
        each["name"]
        for each in as_json(
            folder,
            QUEUE="orders",
            Media__queueServiceUri="https://acme.queue.core.windows.net",
            UNRELATED="x",
        )["app_settings"]
    }

    assert {"QUEUE", "Media__queueServiceUri", "AzureWebJobsStorage"} <= names
    assert not {"UNRELATED", "PATH", "HOME"} & names


def test_connections_show_account_and_kind_of_authentication(folder: ProjectFolder) -> None:
    folder.function("resize")

    assert as_json(folder)["connections"] == [
        {"name": "Storage", "account": "acme", "authentication": "account key"}
    ]


def test_where_values_come_from_can_be_left_away(folder: ProjectFolder) -> None:
    text = shown(folder, "--hide-origin")

    assert "FROM" not in text
    assert "default" not in text


def test_a_project_that_cannot_be_used_says_why_and_shows_its_settings(
    folder: ProjectFolder,
) -> None:
    folder.write("host.json", '{"version": "4.0"}')

    result = CliRunner().invoke(settings, [str(folder.root)], standalone_mode=False)

    assert result.return_value == 3
    assert "host.json:1:13: error: version must be" in result.stderr
    assert "OPTION" not in result.stdout
