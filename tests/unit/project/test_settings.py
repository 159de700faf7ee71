"""App settings: the environment over local settings, found by name or section."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from qtrigger.project.findings import Findings, Place
from qtrigger.project.settings import Setting, Settings, layered

PLACE = Place(file="local.settings.json", line=7, column=3)


def of(**values: str) -> Settings:
    return Settings(Setting(name=name, value=value) for name, value in values.items())


def layers(environ: Mapping[str, str], local: Mapping[str, str]) -> tuple[Settings, list[str]]:
    findings = Findings()
    settings = layered(
        environ,
        [Setting(name=name, value=value, place=PLACE) for name, value in local.items()],
        findings,
    )
    return settings, [str(problem) for problem in findings.problems]


@pytest.mark.parametrize("name", ["A__B", "A:B", "a__b", "a:B"])
def test_levels_are_parted_by_colon_or_double_underscore_and_case_is_free(name: str) -> None:
    assert of(A__B="x").get(name) == "x"
    assert Settings([Setting(name="A:B", value="x")]).get(name) == "x"


def test_of_two_that_differ_in_case_the_exact_one_is_taken() -> None:
    settings = of(Queue="first", QUEUE="second")

    assert settings.get("QUEUE") == "second"
    assert settings.get("Queue") == "first"
    assert settings.get("queue") == "first"


def test_an_empty_value_is_a_value_and_a_missing_one_is_none() -> None:
    assert of(A="").get("A") == ""
    assert of(A="").get("B") is None


def test_a_section_has_children_by_the_rest_of_their_key() -> None:
    settings = of(Q__queueServiceUri="u", q__credential__accountKey="k", Q="own", Q2__x="no")

    children = settings.children("Q")

    assert {key: child.value for key, child in children.items()} == {
        "queueserviceuri": "u",
        "credential:accountkey": "k",
    }


@pytest.mark.parametrize(
    "name",
    [
        *("CUSTOMCONNSTR_Q", "SQLCONNSTR_Q", "SQLAZURECONNSTR_Q", "MYSQLCONNSTR_Q"),
        *("ConnectionStrings__Q", "ConnectionStrings:Q"),
    ],
)
def test_connection_strings_have_a_section_of_their_own(name: str) -> None:
    settings = Settings([Setting(name=name, value="x")])

    assert settings.get("ConnectionStrings:Q") == "x"
    assert settings.get(name) == "x"


def test_each_value_knows_where_it_came_from() -> None:
    settings, _ = layers({"A": "1"}, {"B": "2"})

    origins = [found.origin for name in "AB" if (found := settings.find(name))]
    assert origins == ["environment", "local.settings.json:7"]


def test_the_environment_wins_and_a_difference_is_told_without_the_values() -> None:
    settings, said = layers({"Q": "old-value"}, {"Q": "new-value"})

    assert settings.get("Q") == "old-value"
    assert len(said) == 1
    assert 'local.settings.json:7:3: warning: the environment has another value for "Q"' in said[0]
    assert "value" not in said[0].replace("another value", "").replace("use the value", "")


def test_equal_values_are_not_worth_a_word() -> None:
    _, said = layers({"Q": "same", "A__B": "x"}, {"Q": "same", "A:B": "x"})

    assert said == []


def test_an_empty_variable_does_not_hide_a_local_value_and_is_told() -> None:
    settings, said = layers({"Q": ""}, {"Q": "local"})

    assert settings.get("Q") == "local"
    assert "set but empty in the environment" in said[0]
    assert settings.as_environment() == {"Q": "local"}


def test_the_nearest_name_is_found_whatever_its_case() -> None:
    assert of(OrdersQueue="", Other="").nearest("ordersqueu") == "OrdersQueue"
    assert of(OrdersQueue="").nearest("xyz") == ""


def test_workers_get_every_setting_under_the_name_it_was_given() -> None:
    settings, _ = layers({"PATH": "/bin", "A__B": "1"}, {"C:D": "2", "A__B": "1"})

    assert settings.as_environment() == {"PATH": "/bin", "A__B": "1", "C:D": "2"}


def test_names_are_shown_and_values_never() -> None:
    settings = of(Password="hunter2")

    assert repr(settings) == "Settings(Password)"
    assert "hunter2" not in repr(settings.find("Password"))
