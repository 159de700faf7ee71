"""What users ran into with the configuration's files: each input comes out as it should."""

from __future__ import annotations

import codecs
import json
from typing import Any

import pytest

from tests.conformance.said import said, told
from tests.unit.project.folder import CONNECTION, OUTPUT, TRIGGER, ProjectFolder, errors, warnings

FILES = ("host.json", "functions/resize/function.json", "local.settings.json")
SOUND = {
    "host.json": '{"version": "2.0"}',
    "functions/resize/function.json": json.dumps({"bindings": [TRIGGER]}),
    "local.settings.json": json.dumps(
        {"IsEncrypted": False, "Values": {"AzureWebJobsStorage": CONNECTION}}
    ),
}


@pytest.fixture
def sound(folder: ProjectFolder) -> ProjectFolder:
    """A project of all three files, without a fault."""
    folder.function()
    for name, text in SOUND.items():
        folder.write(name, text)
    assert said(folder.load({})) == []
    return folder


# --- local.settings.json ------------------------------------------------------------------------


def test_one_nested_value_costs_only_itself_and_says_how_to_write_it(
    folder: ProjectFolder,
) -> None:
    folder.write(
        "local.settings.json",
        '{"IsEncrypted": false,\n "Values": {"A": "1",\n  "Obj": {"k": "v"}, "List": [1],\n'
        '  "N": 5, "T": true, "Z": null}}',
    )

    project = folder.load({})

    assert told(project, "local.settings.json:3:3: error", '"Obj"', "Obj__k")
    assert told(project, "local.settings.json:3:22: error", '"List"')
    assert (project.settings["A"], project.settings["N"]) == ("1", "5")
    assert project.settings["T"] == "True"
    assert "Z" not in project.settings
    assert len(errors(project)) == 2


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("text", "place"),
    [('{"a": 1\n "b": 2}', "2:2"), ('{"a": 1}\n}', "2:1"), ("", "1:1"), ("[]", "1:1")],
    ids=["missing comma", "extra brace", "empty", "array"],
)
def test_a_file_that_is_broken_is_an_error_with_its_place_and_nothing_runs_on_half_of_it(
    sound: ProjectFolder, name: str, text: str, place: str
) -> None:
    sound.write(name, text)

    project = sound.load()

    assert told(project, f"{name}:{place}: error")
    assert project.functions == ()


@pytest.mark.parametrize("name", FILES)
def test_comments_and_trailing_commas_are_taken_in_every_file(
    sound: ProjectFolder, name: str
) -> None:
    text = SOUND[name]
    sound.write(name, f"// one\n{{/* two */{text[1:-1]},\n}} // three")

    assert said(sound.load({})) == []
    assert len(sound.load({}).functions) == 1


@pytest.mark.parametrize("name", FILES)
def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(
    sound: ProjectFolder, name: str
) -> None:
    sound.write(name, codecs.BOM_UTF8 + SOUND[name].replace(",", ",\r\n").encode())

    assert said(sound.load({})) == []


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("encode", "words"),
    [
        (lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"), "UTF-16 LE"),
        (lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"), "UTF-16 BE"),
        (lambda text: text.replace("{", '{"ö": 1, ', 1).encode("latin-1"), "Latin-1"),
    ],
    ids=["UTF-16 LE", "UTF-16 BE", "Latin-1"],
)
def test_another_encoding_is_named_with_what_to_do(
    sound: ProjectFolder, name: str, encode: Any, words: str
) -> None:
    sound.write(name, encode(SOUND[name]))

    assert told(sound.load({}), f"{name}:1:", "error", words, "save it as UTF-8")


def test_the_environment_wins_and_the_key_is_named_but_not_the_value(
    folder: ProjectFolder,
) -> None:
    folder.values(Q="new-value")

    project = folder.load({"Q": "old-value"})

    line = told(project, "local.settings.json:1:", "the environment has another value", '"Q"')
    assert project.settings["Q"] == "old-value"
    assert "new-value" not in line
    assert "old-value" not in line


def test_an_empty_variable_does_not_hide_the_files_value_and_is_said_to_be_empty(
    folder: ProjectFolder,
) -> None:
    folder.values(Q="new")

    project = folder.load({"Q": ""})

    assert project.settings["Q"] == "new"
    assert told(project, '"Q" is set but empty in the environment')


def test_encrypted_values_are_refused_with_the_way_out(folder: ProjectFolder) -> None:
    folder.write("local.settings.json", {"IsEncrypted": True, "Values": {"A": "CfDJ8N"}})

    assert told(folder.load(), "local.settings.json:1:17: error", "func settings decrypt")


# --- host.json ----------------------------------------------------------------------------------


def test_keys_in_the_first_runtimes_place_are_told_with_the_right_nesting(
    folder: ProjectFolder,
) -> None:
    folder.host(queues={"batchSize": 1}, http={"routePrefix": ""})

    project = folder.load()

    assert project.host.queues.batch_size == 16
    assert told(project, "host.json:1:", '"queues" has no effect here', '"extensions": { "queues"')
    assert told(project, '"http" has no effect here', "extensions.http")


@pytest.mark.parametrize("text", ["{}x", '{"x": 1}', "1", '"2"', '"3.0"', "2.0"])
def test_a_version_that_is_not_2_0_is_an_error_with_the_right_spelling(
    folder: ProjectFolder, text: str
) -> None:
    content = text if text.startswith("{") else f'{{"version": {text}}}'
    folder.write("host.json", content)

    line = told(folder.load(), "host.json:1:", "error")

    assert "2.0" in line or "JSON" in line


def test_a_bare_number_is_milliseconds_where_azure_reads_days(folder: ProjectFolder) -> None:
    folder.queues(maxPollingInterval=5000)

    project = folder.load()

    assert project.host.queues.max_polling_interval_s == 5.0
    assert told(project, "warning", "Azure reads it as days")


def test_twenty_four_hours_as_hours_are_days_and_one_day_is_offered(folder: ProjectFolder) -> None:
    folder.queues(maxPollingInterval="24:00:00")

    assert told(folder.load(), "24 days", "1.00:00:00")


@pytest.mark.parametrize(
    ("name", "value", "batch_size", "words"),
    [
        ("AzureFunctionsJobHost__extensions__queues__batchSize", "4", 4, ""),
        ("AZUREFUNCTIONSJOBHOST__Extensions__QUEUES__batchsize", "4", 4, ""),
        ("AzureFunctionsJobHost__extensions__queues__batchSize", "abc", 16, "batchSize must be"),
        ("AzureFunctionsJobHost__extensions__queues__batchsizee", "4", 16, 'mean "batchSize"?'),
    ],
)
def test_an_override_is_applied_or_named(
    folder: ProjectFolder, name: str, value: str, batch_size: int, words: str
) -> None:
    project = folder.load({name: value})

    assert project.host.queues.batch_size == batch_size
    if words:
        assert told(project, name, words)
    else:
        (shown,) = [one for one in project.effective if one.key == "extensions.queues.batchSize"]
        assert (shown.value, shown.origin) == ("4", "environment")


# --- function.json ------------------------------------------------------------------------------

MISTAKES: dict[str, tuple[Any, str]] = {
    "path in place of queueName": (
        {"bindings": [{**{k: TRIGGER[k] for k in ("type", "direction", "name")}, "path": "x"}]},
        '"path" has no effect here; queueName is meant',
    ),
    "bindings an object": ({"bindings": TRIGGER}, "bindings must be an array, not an object"),
    "bindings empty": ({"bindings": []}, "bindings is empty"),
    "bindings missing": ({}, "bindings is missing"),
    "direction missing": (
        {"bindings": [{k: v for k, v in TRIGGER.items() if k != "direction"}]},
        'direction is missing; taken as "in"',
    ),
    "name missing": (
        {"bindings": [{k: v for k, v in TRIGGER.items() if k != "name"}]},
        "bindings[0].name is missing",
    ),
    "queueName a number": (
        {"bindings": [{**TRIGGER, "queueName": 5}]},
        "bindings[0].queueName must be a text, not 5",
    ),
}


@pytest.mark.parametrize(("content", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_function_says_file_line_and_what_was_meant(
    folder: ProjectFolder, content: Any, words: str
) -> None:
    folder.function()
    folder.write("functions/resize/function.json", content)

    assert told(folder.load(), "functions/resize/function.json:1:", words)


def test_a_misspelt_type_gets_the_nearest_one(folder: ProjectFolder) -> None:
    folder.function("resize", {**TRIGGER, "type": "queuTrigger"})

    assert told(folder.load(), "error", '"queuTrigger"', 'did you mean "queueTrigger"?')


def test_a_function_with_a_binding_that_does_not_run_here_says_so(folder: ProjectFolder) -> None:
    folder.function("resize", TRIGGER, {"type": "blob", "direction": "out", "name": "b"})
    folder.function("http", {"type": "httpTrigger", "direction": "in", "name": "req"})

    project = folder.load()

    assert told(project, "functions/resize/function.json:1:", 'type "blob" is not run here')
    assert told(project, "functions/http/function.json:1:1: warning: not run here")
    assert project.not_run == {"http": "httpTrigger"}


def test_an_old_key_of_an_output_gets_the_new_one(folder: ProjectFolder) -> None:
    folder.function("resize", TRIGGER, {**OUTPUT, "storageAccount": "X"})

    assert told(folder.load(), '"storageAccount" has no effect here; connection is meant')


@pytest.mark.parametrize("name", ["resize", "a-b"])
@pytest.mark.parametrize(
    ("keys", "environ", "off"),
    [
        ({"disabled": True}, {}, True),
        ({"disabled": "OFF"}, {"OFF": "1"}, True),
        ({"disabled": "OFF"}, {"OFF": "true"}, True),
        ({"disabled": "OFF"}, {"OFF": "yes"}, False),
        ({}, {"AzureWebJobs.%s.Disabled": "true"}, True),
        ({}, {"AzureWebJobs_%s_Disabled": "1"}, True),
        ({}, {"AzureWebJobs.%s.Disabled": "yes"}, False),
    ],
)
def test_a_function_is_off_in_each_documented_case_and_in_no_other(
    folder: ProjectFolder, name: str, keys: dict[str, Any], environ: dict[str, str], off: bool
) -> None:
    folder.function(name, **keys)

    function = folder.one({key.replace("%s", name): value for key, value in environ.items()})

    assert bool(function.disabled) is off


@pytest.mark.parametrize(
    ("text", "environ", "queue"),
    [("%A:B%", {"A__B": "orders"}, "orders"), ("pre-%X%-post", {"X": "y"}, "pre-y-post")],
)
def test_a_setting_in_a_name_is_resolved(
    folder: ProjectFolder, text: str, environ: dict[str, str], queue: str
) -> None:
    folder.function("resize", {**TRIGGER, "queueName": text})

    assert folder.one(environ).trigger.queue == queue


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("%Missing%", '"Missing", which is neither in the environment nor in Values'),
        ("%X", "a percent sign without a partner"),
        ("%%", 'may not hold "%"'),
    ],
)
def test_a_setting_in_a_name_that_cannot_be_resolved_is_named_with_the_places(
    folder: ProjectFolder, text: str, words: str
) -> None:
    folder.function("resize", {**TRIGGER, "queueName": text})

    assert told(folder.load(), "functions/resize/function.json:1:", "error", words)


@pytest.mark.parametrize("name", ["a_b", "foo.bar", "ab", "a--b", "-ab", "x" * 64, "bücher"])
def test_a_name_that_no_queue_can_have_is_an_error_with_the_rule(
    folder: ProjectFolder, name: str
) -> None:
    folder.function("resize", {**TRIGGER, "queueName": name})

    assert told(folder.load(), "error", "hint: a queue name has 3 to 63 letters a-z")


def test_capitals_of_a_queues_name_are_lowered(folder: ProjectFolder) -> None:
    folder.function("resize", {**TRIGGER, "queueName": "Orders"})

    assert folder.one().trigger.queue == "orders"


def test_two_functions_of_one_name_are_a_finding_with_both_places_and_the_rest_runs(
    folder: ProjectFolder,
) -> None:
    for name in ("foo", "Foo", "other"):
        folder.function(name)

    project = folder.load()

    line = told(project, "error", "a function of this name stands in")
    assert "functions/foo/function.json" in line
    assert "functions/Foo/function.json" in line
    assert [function.name for function in project.functions] == ["other"]


# --- options of single functions ----------------------------------------------------------------


def test_two_functions_have_different_options_and_each_shows_which_applies(
    folder: ProjectFolder,
) -> None:
    folder.function("one")
    folder.function("two")
    own = {
        "one": {"batchSize": 1, "visibilityTimeout": "00:00:10", "messageEncoding": "none"},
        "two": {"maxPollingInterval": "00:00:30", "maxDequeueCount": 9, "messageEncoding": "auto"},
    }
    folder.host(qtrigger={"functions": own})

    project = folder.load()
    one, two = (function.options for function in project.functions)

    assert (one.batch_size, one.new_batch_threshold, one.visibility_timeout_s) == (1, 0, 10.0)
    assert (two.batch_size, two.max_polling_interval_s, two.max_dequeue_count) == (16, 30.0, 9)
    assert (one.message_encoding, two.message_encoding) == ("none", "auto")
    shown = {each.key for each in project.effective if each.origin == "host.json:1"}
    assert {f"qtrigger.functions.{name}.{key}" for name in own for key in own[name]} <= shown
    assert warnings(project) == []
