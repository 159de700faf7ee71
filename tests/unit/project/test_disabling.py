"""A function is off when a setting, its own file or the list of functions says so."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.project.folder import CONNECTION, ProjectFolder, errors, warnings


@pytest.mark.parametrize("value", ["1", "true", "TRUE", "True"])
@pytest.mark.parametrize("name", ["AzureWebJobs.a-b.Disabled", "AzureWebJobs_a-b_Disabled"])
def test_a_setting_disables_by_1_or_true(folder: ProjectFolder, name: str, value: str) -> None:
    folder.function("a-b")

    function = folder.one({name: value})

    assert function.disabled == f"setting {name} (environment)"


def test_the_settings_name_is_known_in_any_case(folder: ProjectFolder) -> None:
    folder.function("resize")
    folder.values(**{"azurewebjobs.RESIZE.disabled": "1"})

    assert "local.settings.json:1" in folder.one().disabled


@pytest.mark.parametrize(("value", "words"), [("0", 0), ("false", 0), ("", 0), ("yes", 1)])
def test_any_other_value_enables(folder: ProjectFolder, value: str, words: int) -> None:
    folder.function("resize")

    project = folder.load(
        {"AzureWebJobsStorage": CONNECTION, "AzureWebJobs.resize.Disabled": value}
    )

    assert project.functions[0].disabled == ""
    assert len(warnings(project)) == words


def test_one_setting_cannot_enable_what_the_other_disables(folder: ProjectFolder) -> None:
    folder.function("f")

    function = folder.one({"AzureWebJobs.f.Disabled": "0", "AzureWebJobs_f_Disabled": "1"})

    assert function.disabled


@pytest.mark.parametrize(
    ("given", "off"),
    [
        (True, True),
        (False, False),
        ("OFF", True),
        ("off", True),
        ("ON", False),
        ("%OFF%", True),
        ("%NAME%", True),
        ("%ON%", False),
        ("true", True),
        ("false", False),
        ("", False),
    ],
)
def test_the_file_disables_itself_or_by_a_setting_with_a_word(
    folder: ProjectFolder, given: Any, off: bool
) -> None:
    folder.function("resize", disabled=given)

    project = folder.load(
        {"AzureWebJobsStorage": CONNECTION, "OFF": "1", "ON": "no", "NAME": "OFF"}
    )

    assert errors(project) == []
    assert bool(project.functions[0].disabled) is off
    said = [problem for problem in warnings(project) if "Azure would run" in problem.message]
    assert len(said) == off
    assert all("AzureWebJobs.resize.Disabled" in problem.hint for problem in said)


def test_a_setting_that_does_not_exist_is_told(folder: ProjectFolder) -> None:
    folder.function("resize", disabled="Swtch")

    project = folder.load({"AzureWebJobsStorage": CONNECTION, "Switch": "1"})

    assert project.functions[0].disabled == ""
    assert warnings(project)[0].hint == 'did you mean "Switch"?'


def test_an_expansion_that_fails_is_an_error(folder: ProjectFolder) -> None:
    folder.function("resize", disabled="%Nope%")

    assert 'app setting "Nope"' in errors(folder.load(), "resize")[0].message


def test_only_the_listed_functions_run_compared_without_case(folder: ProjectFolder) -> None:
    folder.function("a")
    folder.function("b")
    folder.host(functions=["A"])

    project = folder.load()

    assert {one.name: bool(one.disabled) for one in project.functions} == {"a": False, "b": True}


@pytest.mark.parametrize("listed", [[], None])
def test_an_empty_list_means_all(folder: ProjectFolder, listed: Any) -> None:
    folder.function("a")
    folder.host(functions=listed)

    project = folder.load()

    assert project.functions[0].disabled == ""
    assert len(warnings(project)) == (listed == [])


def test_a_listed_name_without_function_is_told(folder: ProjectFolder) -> None:
    folder.function("resize")
    folder.host(functions=["resize", "resise"])

    assert warnings(folder.load())[0].hint == 'did you mean "resize"?'


def test_the_command_lines_functions_replace_the_list(folder: ProjectFolder) -> None:
    folder.function("a")
    folder.function("b")
    folder.host(functions=["a"])

    project = folder.load(only=["B"])

    assert {one.name: bool(one.disabled) for one in project.functions} == {"a": True, "b": False}


def test_an_unknown_name_on_the_command_line_is_an_error(folder: ProjectFolder) -> None:
    folder.function("resize")

    (problem,) = errors(folder.load(only=["resise"]))

    assert problem.message == 'there is no function "resise"'
    assert problem.hint == 'did you mean "resize"?'


def test_errors_of_a_function_that_was_left_out_are_of_no_interest(folder: ProjectFolder) -> None:
    folder.function("a")
    folder.function("bad", {"type": "queueTrigger"})

    project = folder.load(only=["a"])

    assert (project.failed, project.problems) == ((), ())


def test_errors_of_a_disabled_function_still_show(folder: ProjectFolder) -> None:
    folder.function("bad", {"type": "queueTrigger"}, disabled=True)

    assert folder.load().failed == ("bad",)
