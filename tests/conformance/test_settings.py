"""local.settings.json, app settings, `%NAME%` and disabling."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.said import said, told
from tests.unit.project.folder import CONNECTION, TRIGGER, ProjectFolder, errors

# --- local.settings.json ------------------------------------------------------------------------


def test_values_become_settings_where_the_environment_has_none(folder: ProjectFolder) -> None:
    folder.function()
    folder.values(AzureWebJobsStorage=CONNECTION, A="file", B="file")

    project = folder.load({"A": "shell"})

    assert (project.settings["A"], project.settings["B"]) == ("shell", "file")
    assert told(project, "local.settings.json:1:", "the environment has another value", '"A"')


@pytest.mark.parametrize(("value", "text"), [(5, "5"), (True, "True"), (1.5, "1.5")])
def test_numbers_and_truths_become_text_with_a_word(
    folder: ProjectFolder, value: Any, text: str
) -> None:
    folder.values(A=value)

    project = folder.load({})

    assert project.settings["A"] == text
    assert told(project, "warning", '"A" is no text')


@pytest.mark.parametrize("value", [{"k": "v"}, ["v"]])
def test_objects_and_arrays_are_refused_and_cost_only_themselves(
    folder: ProjectFolder, value: Any
) -> None:
    folder.values(A="1", Obj=value)

    project = folder.load({})

    assert project.settings["A"] == "1"
    assert told(project, "error", '"Obj" must be a text', "write one setting for each part")
    assert not project.blocked


def test_values_without_a_word_on_encryption_are_plain_with_a_warning(
    folder: ProjectFolder,
) -> None:
    folder.write("local.settings.json", {"Values": {"A": "1"}})

    project = folder.load({})

    assert project.settings["A"] == "1"
    assert told(project, "IsEncrypted is missing")


def test_encrypted_values_are_refused_with_the_command_that_decrypts(
    folder: ProjectFolder,
) -> None:
    folder.function()
    folder.write("local.settings.json", {"IsEncrypted": True, "Values": {"A": "CfDJ8"}})

    project = folder.load()

    assert project.blocked
    assert told(project, "local.settings.json:1:17: error", 'run "func settings decrypt"')


def test_the_file_is_not_read_in_production(folder: ProjectFolder) -> None:
    folder.values(A="1")

    project = folder.load({}, environment="Production")

    assert "A" not in project.settings
    assert told(project, "local.settings.json:1: warning: the file is not read in Production")


@pytest.mark.parametrize(
    "entry", [CONNECTION, {"ConnectionString": CONNECTION, "ProviderName": ""}]
)
def test_connection_strings_are_a_section_of_their_own(folder: ProjectFolder, entry: Any) -> None:
    folder.function("resize", {**TRIGGER, "connection": "Media"})
    folder.write(
        "local.settings.json", {"IsEncrypted": False, "ConnectionStrings": {"Media": entry}}
    )

    assert folder.load({}).functions[0].trigger.account.name == "acme"


def test_the_options_of_the_core_tools_are_ignored(folder: ProjectFolder) -> None:
    folder.write(
        "local.settings.json",
        {"IsEncrypted": False, "Host": {"LocalHttpPort": 7071, "CORS": "*"}, "Values": {}},
    )

    assert said(folder.load()) == []


# --- names --------------------------------------------------------------------------------------


def test_levels_of_a_name_are_parted_by_colon_or_two_underscores(folder: ProjectFolder) -> None:
    folder.function("one", {**TRIGGER, "queueName": "%A:B%"})
    folder.function("two", {**TRIGGER, "queueName": "%A__B%"})

    project = folder.load({"AzureWebJobsStorage": CONNECTION, "A__B": "orders"})

    assert [function.trigger.queue for function in project.functions] == ["orders", "orders"]


def test_of_two_names_that_differ_in_case_the_exact_one_is_taken(folder: ProjectFolder) -> None:
    folder.function("one", {**TRIGGER, "queueName": "%Queue%"})

    function = folder.one({"QUEUE": "loud", "Queue": "exact", "queue": "quiet"})

    assert function.trigger.queue == "exact"


# --- %NAME% -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "queue"),
    [
        ("%Q%", "orders"),
        ("pre-%Q%-post", "pre-orders-post"),
        ("%q%", "orders"),
        ("%Q%%Q%", "ordersorders"),
    ],
)
def test_a_setting_stands_in_a_queues_name(folder: ProjectFolder, text: str, queue: str) -> None:
    folder.function("one", {**TRIGGER, "queueName": text})

    assert folder.one({"Q": "orders"}).trigger.queue == queue


def test_a_setting_stands_in_a_connections_name(folder: ProjectFolder) -> None:
    folder.function("one", {**TRIGGER, "connection": "%WHICH%"})

    assert folder.one({"WHICH": "Media", "Media": CONNECTION}).trigger.connection == "Media"


def test_a_setting_is_not_looked_for_within_a_setting(folder: ProjectFolder) -> None:
    folder.function("one", {**TRIGGER, "queueName": "%Q%"})

    project = folder.load({"AzureWebJobsStorage": CONNECTION, "Q": "%R%", "R": "orders"})

    assert len(errors(project, "one")) == 1


def test_two_percent_signs_are_a_literal_one(folder: ProjectFolder) -> None:
    folder.function("one", {**TRIGGER, "queueName": "a%%b"})

    assert told(folder.load(), 'may not hold "%"')


def test_a_setting_that_is_missing_stops_its_function_and_is_named(folder: ProjectFolder) -> None:
    folder.function("good")
    folder.function("one", {**TRIGGER, "queueName": "%Missing%"})

    project = folder.load()

    assert [function.name for function in project.functions] == ["good"]
    assert told(project, '"Missing"', "neither in the environment nor in Values")


# --- disabling ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["AzureWebJobs.a-b.Disabled", "AzureWebJobs_a-b_Disabled"])
@pytest.mark.parametrize(
    ("value", "off"),
    [("1", True), ("true", True), ("TRUE", True), ("0", False), ("false", False), ("yes", False)],
)
def test_a_setting_of_the_functions_name_disables_by_1_or_true(
    folder: ProjectFolder, name: str, value: str, off: bool
) -> None:
    folder.function("a-b")

    assert bool(folder.one({name: value}).disabled) is off


@pytest.mark.parametrize(("value", "off"), [("1", True), ("true", True), ("yes", False)])
def test_a_setting_that_the_file_names_disables_by_1_or_true(
    folder: ProjectFolder, value: str, off: bool
) -> None:
    folder.function(disabled="OFF")

    assert bool(folder.one({"OFF": value}).disabled) is off


def test_what_azure_would_run_all_the_same_is_told(folder: ProjectFolder) -> None:
    folder.function(disabled=True)

    assert told(folder.load(), "Azure would run the function", "AzureWebJobs.resize.Disabled")


def test_the_hosts_list_and_the_command_line_leave_functions_out(folder: ProjectFolder) -> None:
    for name in ("one", "two", "three"):
        folder.function(name)
    folder.host(functions=["one"])

    listed = {each.name: bool(each.disabled) for each in folder.load().functions}
    asked = {
        each.name: bool(each.disabled) for each in folder.load(only=["two", "THREE"]).functions
    }

    assert listed == {"one": False, "two": True, "three": True}
    assert asked == {"one": True, "two": False, "three": False}
