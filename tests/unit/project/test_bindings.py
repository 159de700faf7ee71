"""A function's bindings are checked one by one, and only its own mistakes stop it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.project.folder import CONNECTION, OUTPUT, TRIGGER, ProjectFolder, errors, warnings


def test_trigger_and_outputs_are_resolved(folder: ProjectFolder) -> None:
    folder.function(
        "resize",
        {**TRIGGER, "queueName": "%Q%", "connection": "%C%", "dataType": "BINARY"},
        OUTPUT,
        {**OUTPUT, "name": "$return", "queueName": "Results-%Q%"},
        {**OUTPUT, "name": "third", "queueName": "out-{OrderId}-%Q%"},
    )

    function = folder.one({"Q": "Orders", "C": "Mine", "AzureWebJobsMine": CONNECTION})

    assert (function.trigger.name, function.trigger.queue) == ("msg", "orders")
    assert (function.trigger.connection, function.trigger.data_type) == ("Mine", "binary")
    assert function.trigger.account.endpoint == "https://acme.queue.core.windows.net"
    assert [output.name for output in function.outputs] == ["out", "$return", "third"]
    assert [output.queue for output in function.outputs] == [
        "receipts",
        "results-orders",
        "out-{OrderId}-Orders",
    ]
    assert all(output.account == function.trigger.account for output in function.outputs)


def test_types_directions_and_keys_are_known_in_any_case(folder: ProjectFolder) -> None:
    folder.function(
        "resize",
        {"Type": "QUEUETRIGGER", "DIRECTION": "IN", "Name": "msg", "queuename": "orders"},
        {"type": "Queue", "direction": "Out", "name": "out", "QueueName": "x-{id}"},
    )

    function = folder.one()

    assert function.bindings == (
        {"type": "queueTrigger", "direction": "in", "name": "msg", "queueName": "orders"},
        {"type": "queue", "direction": "out", "name": "out", "queueName": "x-{id}"},
    )


def test_without_a_connection_the_default_one_is_meant(folder: ProjectFolder) -> None:
    folder.function("resize", {**TRIGGER, "connection": ""}, {**OUTPUT, "connection": None})

    function = folder.one()

    assert function.trigger.connection == "Storage"
    assert function.outputs[0].connection == "Storage"


@pytest.mark.parametrize(
    ("changes", "said", "hint"),
    [
        ({"queueName": None}, "queueName must be a text, not null", ""),
        ({"queueName": 5}, "queueName must be a text, not 5", ""),
        ({"queueName": "a_b"}, 'queueName "a_b" may not hold an underscore', "3 to 63"),
        ({"queueName": ""}, 'queueName "" is empty', ""),
        ({"queueName": "a-{id}"}, 'may not hold "{"', "only an output's"),
        ({"queueName": "%Nope%"}, 'names the app setting "Nope"', "set Nope"),
        ({"queueName": "50%"}, "without a partner", '"%%"'),
        ({"connection": 1}, "connection must be a text, not 1", ""),
        ({"connection": "Nope"}, "looked for AzureWebJobsNope and Nope", "set AzureWebJobsNope"),
        ({"connection": "%Nope%"}, 'names the app setting "Nope"', ""),
        ({"name": None}, "name must be letters", ""),
        ({"name": "1st"}, "name must be letters, digits and single underscores", ""),
        ({"name": "a\n"}, "name must be letters", ""),
        ({"name": "a__b"}, "name must be letters", ""),
        ({"name": "$return"}, 'only a binding of direction "out" can be named $return', ""),
        ({"direction": "out"}, 'direction must be "in", not "out"', ""),
        ({"direction": 1}, 'direction must be "in", not 1', ""),
        ({"direction": "inout"}, 'direction must be "in", not "inout"', ""),
        ({"direction": "inn"}, 'direction must be "in", not "inn"', 'did you mean "in"?'),
        ({"dataType": "text"}, "dataType must be one of", ""),
        ({"type": "queuTrigger"}, 'unknown binding type "queuTrigger"', '"queueTrigger"'),
        ({"type": 5}, "type must be a text, not 5", ""),
    ],
)
def test_a_mistake_in_the_trigger_stops_the_function(
    folder: ProjectFolder, changes: dict[str, Any], said: str, hint: str
) -> None:
    folder.function("bad", {**TRIGGER, **changes})
    folder.function("good")

    project = folder.load()

    assert [function.name for function in project.functions] == ["good"]
    assert project.failed == ("bad",)
    problem = errors(project, "bad")[0]
    assert said in problem.message
    assert hint in problem.hint
    assert (problem.file, problem.line) == ("functions/bad/function.json", 1)


@pytest.mark.parametrize("key", ["queueName", "name", "type"])
def test_a_missing_key_is_named(folder: ProjectFolder, key: str) -> None:
    folder.function("bad", {k: value for k, value in TRIGGER.items() if k != key})

    assert f"bindings[0].{key} is missing" in errors(folder.load(), "bad")[0].message


def test_a_missing_direction_is_taken_as_in_with_a_word(folder: ProjectFolder) -> None:
    folder.function("resize", {k: v for k, v in TRIGGER.items() if k != "direction"})

    project = folder.load()

    assert len(project.functions) == 1
    assert 'direction is missing; taken as "in"' in warnings(project)[0].message


@pytest.mark.parametrize(
    ("binding", "said"),
    [
        ({**OUTPUT, "direction": "in"}, 'direction must be "out", not "in"'),
        ({**OUTPUT, "direction": "inout"}, 'direction must be "out"'),
        ({**OUTPUT, "queueName": "a..b"}, 'may not hold "."'),
        ({**OUTPUT, "queueName": "out-{"}, "has no partner"),
        ({**OUTPUT, "queueName": "out-{a b}"}, "is no expression"),
        ({**OUTPUT, "name": "MSG"}, 'a binding named "MSG" stands in line 1 already'),
        ({**OUTPUT, "type": "blob"}, 'a binding of type "blob" is not run here'),
        ({**OUTPUT, "type": "bloob"}, 'unknown binding type "bloob"'),
        ({**OUTPUT, "type": "serviceBus", "name": "$return"}, '"serviceBus" is not run here'),
        ({**TRIGGER, "name": "second"}, "2 triggers are declared; a function has exactly one"),
        ("text", "bindings[1] must be an object"),
    ],
)
def test_a_mistake_in_another_binding_stops_the_function(
    folder: ProjectFolder, binding: Any, said: str
) -> None:
    folder.function("bad", TRIGGER, binding)

    project = folder.load()

    assert project.failed == ("bad",)
    assert any(said in problem.message for problem in errors(project, "bad"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({}, "bindings is missing"),
        ({"bindings": []}, "bindings is empty"),
        ({"bindings": {}}, "bindings must be an array, not an object"),
        ({"bindings": [OUTPUT]}, "no trigger is declared"),
        ([], "the file must be an object"),
        ("{,}", "not valid JSON"),
    ],
)
def test_a_file_without_proper_bindings_stops_the_function(
    folder: ProjectFolder, content: Any, said: str
) -> None:
    folder.function("bad")
    folder.write("functions/bad/function.json", content)

    project = folder.load()

    assert project.failed == ("bad",)
    assert said in errors(project, "bad")[0].message


@pytest.mark.parametrize(
    ("key", "meant"),
    [("path", "queueName"), ("storageAccount", "connection"), ("conection", "connection")],
)
def test_an_unknown_key_of_a_binding_is_told_with_what_is_meant(
    folder: ProjectFolder, key: str, meant: str
) -> None:
    folder.function("resize", {**TRIGGER, key: "x"})

    project = folder.load()

    (problem,) = warnings(project)
    assert meant in problem.message + problem.hint
    assert len(project.functions) == 1


def test_a_key_of_the_file_in_other_letters_is_taken_with_a_word(folder: ProjectFolder) -> None:
    folder.function("resize")
    folder.write(
        "functions/resize/function.json",
        {"Bindings": [TRIGGER], "EntryPoint": "run", "CONFIGURATIONSOURCE": "CONFIG"},
    )

    project = folder.load()

    assert project.functions[0].entry_point == "run"
    assert [problem.hint for problem in warnings(project)] == [
        'write "bindings"',
        'write "entryPoint"',
    ]


def test_an_output_whose_connection_is_missing_fails_only_what_is_written_to_it(
    folder: ProjectFolder,
) -> None:
    folder.function("resize", TRIGGER, {**OUTPUT, "connection": "Nope"})

    project = folder.load()

    (output,) = project.functions[0].outputs
    assert output.account is None
    assert "looked for AzureWebJobsNope and Nope" in output.account_error
    assert 'what is written to "out" will fail' in warnings(project)[0].message


@pytest.mark.parametrize("kind", ["httpTrigger", "TimerTrigger", "blobTrigger", "somebodysTrigger"])
def test_a_function_of_another_trigger_is_neither_failed_nor_run(
    folder: ProjectFolder, kind: str
) -> None:
    folder.function("web", {"type": kind, "name": "??", "direction": "in", "authLevel": 1})

    project = folder.load()

    assert (project.functions, project.failed, project.not_run) == ((), (), {"web": kind})
    (problem,) = project.problems
    assert problem.severity == "warning"
    assert f'not run here: its trigger is of type "{kind}"' in problem.message


def test_every_mistake_of_a_function_is_told_at_once(folder: ProjectFolder) -> None:
    folder.function("bad", {**TRIGGER, "queueName": "a_b", "connection": "Nope"}, scriptFile="x.py")

    said = " ".join(problem.message for problem in errors(folder.load(), "bad"))

    assert "may not hold an underscore" in said
    assert "no file" in said


def test_warnings_about_a_connection_are_told_once(folder: ProjectFolder) -> None:
    folder.function("a")
    folder.function("b", TRIGGER, OUTPUT)

    project = folder.load({"AzureWebJobsStorage": f"'{CONNECTION}'"})

    (problem,) = warnings(project)
    assert "quotes" in problem.message
    assert len(project.functions) == 2


@pytest.mark.parametrize(
    ("permissions", "function", "said"),
    [
        ("raup", "one", []),
        ("rap", "one", ["lacks the permission u (update)"]),
        ("p", "one", ["lacks the permissions r (read) and u (update) and a (add)"]),
        ("raup", "two", []),
        ("rup", "two", ["lacks the permission a (add)", "lacks the permission a (add)"]),
    ],
)
def test_what_a_sas_does_not_allow_is_told_before_the_first_message(
    folder: ProjectFolder, permissions: str, function: str, said: list[str]
) -> None:
    folder.function(function, TRIGGER, *([OUTPUT] if function == "two" else []))
    address = "QueueEndpoint=https://acme.queue.core.windows.net"
    sas = f"{address};SharedAccessSignature=sv=2021-12-02&sp={permissions}&sig=c2ln"

    project = folder.load({"AzureWebJobsStorage": sas})

    assert [function.name for function in project.functions] == [function]
    found = warnings(project, function)
    assert len(found) == len(said)
    for problem, words in zip(found, said, strict=True):
        assert words in problem.message
        assert "c2ln" not in str(problem)
