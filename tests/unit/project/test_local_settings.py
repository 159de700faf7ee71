"""local.settings.json gives app settings in Development, and one bad value costs only itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.project.folder import ProjectFolder, errors, warnings


def test_values_and_connection_strings_become_settings(folder: ProjectFolder) -> None:
    folder.write(
        "local.settings.json",
        {
            "IsEncrypted": False,
            "Values": {"A": "1"},
            "ConnectionStrings": {
                "Plain": "p",
                "Sql": {"ConnectionString": "s", "ProviderName": "n"},
            },
            "Host": {"LocalHttpPort": 7072, "CORS": "*"},
        },
    )

    project = folder.load({})

    assert project.settings["A"] == "1"
    assert project.settings["ConnectionStrings:Plain"] == "p"
    assert project.settings["ConnectionStrings:Sql"] == "s"
    assert project.problems == ()


@pytest.mark.parametrize(
    ("value", "text"),
    [(5, "5"), (1.5, "1.5"), (2.0, "2"), (True, "True"), (False, "False")],
)
def test_numbers_and_truths_become_text_with_a_word(
    folder: ProjectFolder, value: Any, text: str
) -> None:
    folder.values(A=value)

    project = folder.load({})

    assert project.settings["A"] == text
    assert '"A" is no text' in warnings(project)[0].message


@pytest.mark.parametrize(
    ("value", "said", "hint"),
    [
        ({"k": "v"}, "must be a text, not an object", '"Obj__k"'),
        (["x", "y"], "must be a text, not an array", '"Obj__0", "Obj__1"'),
        ({}, "not an object", '"Obj__key"'),
    ],
)
def test_a_nested_value_is_an_error_with_its_place_and_costs_only_itself(
    folder: ProjectFolder, value: Any, said: str, hint: str
) -> None:
    folder.write(
        "local.settings.json",
        f'{{"IsEncrypted": false, "Values": {{"A": "1",\n   "Obj": {json.dumps(value)}}}}}',
    )
    folder.function()

    project = folder.load()

    (problem,) = errors(project)
    assert said in problem.message
    assert hint in problem.hint
    assert (problem.file, problem.line, problem.column) == ("local.settings.json", 2, 4)
    assert project.settings["A"] == "1"
    assert "Obj" not in project.settings
    assert [function.name for function in project.functions] == ["resize"]


def test_null_counts_as_not_set(folder: ProjectFolder) -> None:
    folder.values(A=None)

    project = folder.load({})

    assert "A" not in project.settings
    assert "taken as not set" in warnings(project)[0].message


@pytest.mark.parametrize("name", ["", "A=B", "A\0"])
def test_a_name_that_no_variable_can_have_is_skipped(folder: ProjectFolder, name: str) -> None:
    folder.values(**{name: "x", "B": "y"})

    project = folder.load({})

    assert name not in project.settings
    assert project.settings["B"] == "y"
    assert "without = in it" in warnings(project)[0].message


def test_a_value_with_a_null_character_is_an_error(folder: ProjectFolder) -> None:
    folder.values(A="x\0y")

    assert "U+0000" in errors(folder.load({}))[0].message


def test_encrypted_values_are_refused_with_the_command_that_decrypts(
    folder: ProjectFolder,
) -> None:
    folder.write("local.settings.json", {"IsEncrypted": True, "Values": {"A": "CfDJ8"}})
    folder.function()

    project = folder.load()

    assert project.blocked
    assert project.functions == ()
    assert "A" not in project.settings
    assert "func settings decrypt" in errors(project)[0].hint


def test_encryption_without_values_does_no_harm(folder: ProjectFolder) -> None:
    folder.write("local.settings.json", {"IsEncrypted": True, "Values": {}})

    assert folder.load({}).problems == ()


@pytest.mark.parametrize("flag", [{}, {"IsEncrypted": None}, {"IsEncrypted": "no"}])
def test_without_a_clear_flag_values_are_plain_with_a_word(
    folder: ProjectFolder, flag: dict[str, Any]
) -> None:
    folder.write("local.settings.json", {**flag, "Values": {"A": "1"}})

    project = folder.load({})

    assert project.settings["A"] == "1"
    assert "IsEncrypted" in warnings(project)[0].message


def test_a_flag_in_quotes_is_understood(folder: ProjectFolder) -> None:
    folder.write("local.settings.json", {"IsEncrypted": "false", "Values": {"A": "1"}})

    project = folder.load({})

    assert project.settings["A"] == "1"
    assert "leave the quotes away" in warnings(project)[0].hint


@pytest.mark.parametrize(
    "text",
    ['{"Values": {"A": "1" "B": "2"}}', '{"Values": {}}}', "", "[]", '{"Values": "x"}', '{"Values'],
)
def test_a_broken_file_stops_the_project(folder: ProjectFolder, text: str) -> None:
    folder.write("local.settings.json", text)
    folder.function()

    project = folder.load()

    assert project.blocked
    assert project.functions == ()
    (problem,) = errors(project)
    assert problem.file == "local.settings.json"
    assert problem.line == 1
    assert problem.column > 0


def test_comments_and_trailing_commas_are_taken(folder: ProjectFolder) -> None:
    folder.write("local.settings.json", "{ // local\n IsEncrypted: false, Values: {'A': '1',}, }")

    project = folder.load({})

    assert project.settings["A"] == "1"
    assert project.problems == ()


def test_a_misspelt_section_gets_the_nearest_name(folder: ProjectFolder) -> None:
    folder.write("local.settings.json", {"IsEncrypted": False, "values": {"A": "1"}})

    project = folder.load({})

    assert "A" not in project.settings
    assert warnings(project)[0].hint == 'did you mean "Values"?'


def test_a_repeated_key_is_told_and_the_last_one_counts(folder: ProjectFolder) -> None:
    folder.write("local.settings.json", '{"IsEncrypted": false, "Values": {"A": "1",\n "A": "2"}}')

    project = folder.load({})

    assert project.settings["A"] == "2"
    assert warnings(project)[0].line == 2
    assert "line 1 already" in warnings(project)[0].message


@pytest.mark.parametrize("environment", ["Production", "Staging"])
def test_the_file_is_not_read_outside_development_and_that_is_told(
    folder: ProjectFolder, environment: str
) -> None:
    folder.values(A="1")

    project = folder.load({}, environment=environment)

    assert "A" not in project.settings
    (problem,) = warnings(project)
    assert f"not read in {environment}" in problem.message
    assert (problem.file, problem.line) == ("local.settings.json", 1)


def test_the_environment_is_not_decided_by_the_file(folder: ProjectFolder) -> None:
    folder.values(AZURE_FUNCTIONS_ENVIRONMENT="Production")

    project = folder.load({})

    assert project.settings["AZURE_FUNCTIONS_ENVIRONMENT"] == "Development"
    assert "has no effect in this file" in warnings(project)[0].message
