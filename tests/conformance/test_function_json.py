"""function.json: every key, and every rule for names, bindings, scripts and JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.said import said, told
from tests.unit.project.folder import OUTPUT, TRIGGER, ProjectFolder, errors

# --- the keys of the file ---------------------------------------------------------------------


@pytest.mark.parametrize("keys", [{}, {"bindings": []}, {"bindings": {}}, {"bindings": None}])
def test_bindings_are_an_array_with_at_least_one_element(
    folder: ProjectFolder, keys: dict[str, Any]
) -> None:
    folder.function()
    folder.write("functions/resize/function.json", keys)

    assert told(folder.load(), "functions/resize/function.json:1:", "error: bindings")


@pytest.mark.parametrize(
    ("value", "off"),
    [(True, True), (False, False), ("OFF", True), ("%WHICH%", True), ("ON", False)],
)
def test_disabled_is_a_truth_or_names_a_setting(
    folder: ProjectFolder, value: Any, off: bool
) -> None:
    folder.function(disabled=value)

    function = folder.one({"OFF": "1", "ON": "0", "WHICH": "OFF"})

    assert bool(function.disabled) is off


def test_a_script_file_may_lie_outside_its_folder(folder: ProjectFolder) -> None:
    folder.function(scriptFile="../common/run.py")
    script = folder.write("functions/common/run.py", "def main(msg): ...")

    assert folder.one().script_file == script


def test_a_script_file_must_exist(folder: ProjectFolder) -> None:
    folder.function(scriptFile="nope.py")

    assert told(folder.load(), "error: there is no file", "nope.py", "hint:")


def test_the_entry_point_is_main_unless_it_is_named(folder: ProjectFolder) -> None:
    folder.function("one")
    folder.function("two", entryPoint="run")

    one, two = folder.load().functions

    assert (one.entry_point, two.entry_point) == ("main", "run")


@pytest.mark.parametrize(("value", "said_"), [("config", 0), ("Attributes", 0), ("code", 1)])
def test_the_configuration_source_is_attributes_or_config(
    folder: ProjectFolder, value: str, said_: int
) -> None:
    folder.function(configurationSource=value)

    assert len(errors(folder.load())) == said_


def test_a_retry_policy_is_read(folder: ProjectFolder) -> None:
    folder.function(
        retry={"strategy": "fixedDelay", "maxRetryCount": 2, "delayInterval": "00:00:05"}
    )

    policy = folder.one().retry

    assert policy is not None
    assert (policy.strategy, policy.max_retries, policy.minimum_s) == ("fixedDelay", 2, 5.0)


def test_other_keys_are_ignored(folder: ProjectFolder) -> None:
    folder.function(generatedBy="x", excluded=False, functionName="y", language="python")

    assert said(folder.load()) == []


# --- bindings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("type_", ["queueTrigger", "QueueTrigger", "QUEUETRIGGER"])
@pytest.mark.parametrize("direction", ["in", "IN", "In"])
def test_types_and_directions_are_compared_without_case(
    folder: ProjectFolder, type_: str, direction: str
) -> None:
    folder.function("resize", {**TRIGGER, "type": type_, "direction": direction})

    assert folder.one().trigger.queue == "orders"


def test_direction_inout_is_refused(folder: ProjectFolder) -> None:
    folder.function("resize", TRIGGER, {**OUTPUT, "direction": "inout"})

    assert told(folder.load(), "bindings[1].direction", '"inout"')


@pytest.mark.parametrize("data_type", ["string", "binary", "stream", "Binary"])
def test_a_data_type_is_string_binary_or_stream(folder: ProjectFolder, data_type: str) -> None:
    folder.function("resize", {**TRIGGER, "dataType": data_type})

    assert folder.one().trigger.data_type == data_type.lower()


def test_another_data_type_is_an_error(folder: ProjectFolder) -> None:
    folder.function("resize", {**TRIGGER, "dataType": "json"})

    assert told(folder.load(), "dataType must be one of")


def test_queue_name_and_connection_are_the_triggers_own_keys(folder: ProjectFolder) -> None:
    folder.function("resize", {**TRIGGER, "connection": "AzureWebJobsStorage"})

    trigger = folder.one().trigger

    assert (trigger.queue, trigger.connection) == ("orders", "AzureWebJobsStorage")


# --- rules ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a", "A-b_9", "x" * 128])
def test_a_functions_name_is_its_folders(folder: ProjectFolder, name: str) -> None:
    folder.function(name)

    assert folder.one().name == name


@pytest.mark.parametrize("name", ["9a", "_a", "a.b", "a b", "ä", "host", "Host", "x" * 129])
def test_a_folder_whose_name_no_function_can_have_is_an_error(
    folder: ProjectFolder, name: str
) -> None:
    folder.function(name)

    assert told(folder.load(), "is no valid function name")


@pytest.mark.parametrize(
    ("name", "valid"),
    [
        ("msg", True),
        ("a_b", True),
        ("x" * 128, True),
        ("a__b", False),
        ("9a", False),
        ("a-b", False),
    ],
)
def test_a_bindings_name_is_one_of_a_parameter(
    folder: ProjectFolder, name: str, valid: bool
) -> None:
    folder.function("resize", {**TRIGGER, "name": name})

    assert bool(errors(folder.load())) is not valid


def test_only_what_goes_out_is_named_return(folder: ProjectFolder) -> None:
    folder.function("one", TRIGGER, {**OUTPUT, "name": "$return"})
    folder.function("two", {**TRIGGER, "name": "$return"})

    assert [problem.function for problem in errors(folder.load())] == ["two"]


@pytest.mark.parametrize("bindings", [[OUTPUT], [TRIGGER, {**TRIGGER, "name": "b"}]])
def test_a_function_has_exactly_one_trigger(folder: ProjectFolder, bindings: list[Any]) -> None:
    folder.function("resize", *bindings)

    assert told(folder.load(), "a function has exactly one")


def test_bindings_have_names_of_their_own(folder: ProjectFolder) -> None:
    folder.function("resize", TRIGGER, {**OUTPUT, "name": "MSG"})

    assert told(folder.load(), "stands in line 1 already")


@pytest.mark.parametrize(
    ("files", "script"),
    [
        (["anything.py"], "anything.py"),
        (["run.py", "other.py"], "run.py"),
        (["__init__.py", "other.py"], "__init__.py"),
        (["run.py", "__init__.py"], "run.py"),
    ],
)
def test_without_a_script_file_the_folder_tells(
    folder: ProjectFolder, files: list[str], script: str
) -> None:
    folder.write("functions/resize/function.json", {"bindings": [TRIGGER]})
    for file in files:
        folder.write(f"functions/resize/{file}", "")

    assert folder.one().script_file.name == script


@pytest.mark.parametrize("files", [[], ["a.py", "b.py"]])
def test_a_folder_without_a_clear_script_is_an_error_of_its_function(
    folder: ProjectFolder, files: list[str]
) -> None:
    folder.function("good")
    folder.write("functions/resize/function.json", {"bindings": [TRIGGER]})
    for file in files:
        folder.write(f"functions/resize/{file}", "")

    project = folder.load()

    assert [problem.function for problem in errors(project)] == ["resize"]
    assert [function.name for function in project.functions] == ["good"]


def test_functions_sort_by_name_without_case(folder: ProjectFolder) -> None:
    for name in ("beta", "Alpha", "gamma", "Delta"):
        folder.function(name)

    names = [function.name for function in folder.load().functions]

    assert names == ["Alpha", "beta", "Delta", "gamma"]


def test_a_folder_without_function_json_is_no_function(folder: ProjectFolder) -> None:
    folder.function("resize")
    folder.write("functions/shared/__init__.py", "")

    assert len(folder.load().functions) == 1
    assert said(folder.load()) == []


# --- JSON as the reference reads it -------------------------------------------------------------

LIBERTIES = {
    "line comments": '{"bindings": [%s] // here\n}',
    "block comments": '{/* here */ "bindings": [%s]}',
    "trailing commas": '{"bindings": [%s,],}',
    "single quotes": "{'bindings': [%s]}",
    "names without quotes": "{bindings: [%s]}",
    "a byte-order mark": '\ufeff{"bindings": [%s]}',
}


@pytest.mark.parametrize("text", LIBERTIES.values(), ids=LIBERTIES)
def test_the_liberties_of_the_reference_are_taken(folder: ProjectFolder, text: str) -> None:
    folder.function()
    folder.write("functions/resize/function.json", text % json.dumps(TRIGGER))

    assert folder.one().trigger.queue == "orders"
    assert said(folder.load()) == []


def test_of_a_repeated_key_the_last_counts_and_it_is_told(folder: ProjectFolder) -> None:
    folder.function()
    trigger = json.dumps(TRIGGER)
    folder.write(
        "functions/resize/function.json",
        f'{{"entryPoint": "a",\n"bindings": [{trigger}],\n"entryPoint": "b"}}',
    )

    assert folder.one().entry_point == "b"
    assert told(folder.load(), "function.json:3:1: warning", "stands in line 1 already")


def test_a_key_in_other_letters_is_taken_with_the_right_spelling(folder: ProjectFolder) -> None:
    folder.function()
    folder.write("functions/resize/function.json", {"Bindings": [TRIGGER]})

    assert folder.one().trigger.queue == "orders"
    assert told(folder.load(), '"Bindings" is taken as "bindings"', 'hint: write "bindings"')
