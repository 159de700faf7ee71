"""Settings under AzureFunctionsJobHost override host.json key by key."""

from __future__ import annotations

import pytest

from qtrigger.project.model import Project
from tests.unit.project.folder import ProjectFolder, errors, warnings

QUEUES = "AzureFunctionsJobHost__extensions__queues__"


def load(folder: ProjectFolder, **variables: str) -> Project:
    return folder.load(variables)


@pytest.mark.parametrize(
    "name",
    [
        f"{QUEUES}batchSize",
        "azurefunctionsjobhost__EXTENSIONS__queues__BATCHSIZE",
        "AzureFunctionsJobHost:extensions:queues:batchSize",
    ],
)
def test_a_setting_wins_over_the_file_however_it_is_spelt(folder: ProjectFolder, name: str) -> None:
    folder.queues(batchSize=8)

    project = load(folder, **{name: "4"})

    assert project.host.queues.batch_size == 4
    assert project.problems == ()


def test_values_of_every_kind_are_read_from_text(folder: ProjectFolder) -> None:
    project = load(
        folder,
        AzureFunctionsJobHost__functionTimeout="00:02:00",
        AzureFunctionsJobHost__concurrency__dynamicConcurrencyEnabled="TRUE",
        AzureFunctionsJobHost__qtrigger__functions__resize__outputs="EXACT",
        AzureFunctionsJobHost__logging__logLevel__Host="warning",
        **{f"{QUEUES}messageEncoding": "None"},
    )

    assert project.host.function_timeout_s == 120.0
    assert project.host.queues.message_encoding == "none"
    assert project.host.log_levels == {"Host": "Warning"}
    assert errors(project) == []


def test_a_local_setting_overrides_too_and_is_the_origin(folder: ProjectFolder) -> None:
    folder.values(**{f"{QUEUES}batchSize": "4"})

    project = folder.load({})

    (shown,) = [one for one in project.effective if one.key == "extensions.queues.batchSize"]
    assert (shown.value, shown.origin) == ("4", "local.settings.json:1")


@pytest.mark.parametrize("value", ["abc", "", "0", "33", "1.5"])
def test_a_bad_value_is_an_error_that_names_the_variable(folder: ProjectFolder, value: str) -> None:
    project = load(folder, **{f"{QUEUES}batchSize": value})

    (problem,) = errors(project)
    assert f"{QUEUES}batchSize must be a whole number from 1 to 32, not " in problem.message
    assert project.blocked


def test_a_bad_local_value_has_its_place(folder: ProjectFolder) -> None:
    folder.values(**{f"{QUEUES}maxPollingInterval": "5s"})

    (problem,) = errors(folder.load({}))

    assert (problem.file, problem.line) == ("local.settings.json", 1)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        (f"{QUEUES}batchSizee", "batchSize"),
        ("AzureFunctionsJobHost__qtrigger__leese", "lease"),
        ("AzureFunctionsJobHost__functionTimout", "functionTimeout"),
    ],
)
def test_an_unknown_key_is_told_with_the_nearest(
    folder: ProjectFolder, name: str, near: str
) -> None:
    (problem,) = warnings(load(folder, **{name: "4"}))

    assert name in problem.message
    assert problem.hint == f'did you mean "{near}"?'


@pytest.mark.parametrize(
    "name", ["AzureFunctionsJobHost__version", "AzureFunctionsJobHost__extensions__queues"]
)
def test_what_no_setting_can_say_has_no_effect(folder: ProjectFolder, name: str) -> None:
    project = load(folder, **{name: "3"})

    assert "has no effect" in warnings(project)[0].message
    assert not project.blocked


def test_arrays_are_overridden_by_index(folder: ProjectFolder) -> None:
    for name in ("a", "b", "c"):
        folder.function(name)
    folder.host(functions=["a", "b"])

    project = folder.load(
        {
            "AzureWebJobsStorage": "UseDevelopmentStorage=true",
            "AzureFunctionsJobHost__functions__0": "c",
            "AzureFunctionsJobHost__functions__7": "B",
        }
    )

    enabled = [one.name for one in project.functions if not one.disabled]
    assert project.host.functions == ("c", "b", "B")
    assert enabled == ["b", "c"]


def test_an_override_of_a_file_that_is_no_object_does_no_harm(folder: ProjectFolder) -> None:
    folder.write("host.json", "[]")

    project = load(folder, **{f"{QUEUES}batchSize": "4"})

    assert project.blocked
    assert "version is missing" in errors(project)[0].message


def test_a_functions_own_option_can_be_overridden(folder: ProjectFolder) -> None:
    folder.function("resize")
    folder.host(qtrigger={"functions": {"Resize": {"batchSize": 8}}})

    project = folder.load(
        {
            "AzureWebJobsStorage": "UseDevelopmentStorage=true",
            "AzureFunctionsJobHost__qtrigger__functions__resize__batchSize": "2",
        }
    )

    assert project.functions[0].options.batch_size == 2


def test_overrides_apply_where_there_is_no_host_json(folder: ProjectFolder) -> None:
    (folder.root / "host.json").unlink()
    folder.function()

    assert load(folder, **{f"{QUEUES}batchSize": "4"}).host.queues.batch_size == 4
