"""Functions that take lists: what their files and parameters may say."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import Any

import azure.functions as func
import pytest

from qtrigger.workers.python.annotations import SignatureError
from qtrigger.workers.python.signature import Plan, plan
from tests.conformance.said import said, told
from tests.unit.project.folder import OUTPUT, TRIGGER, ProjectFolder
from tests.unit.workers.test_signature import annotated

MANY = {**TRIGGER, "cardinality": "many"}
RETRY = {"strategy": "fixedDelay", "maxRetryCount": 2, "delayInterval": "00:00:05"}


def made(**annotations: Any) -> Plan:
    return plan(
        name="f", function=annotated(**annotations), directory="/f", bindings=[MANY], mode="azure"
    )


@pytest.mark.parametrize(
    ("annotation", "takes"),
    [
        (..., "message"),
        (list, "message"),
        (list[func.QueueMessage], "message"),
        (Sequence[func.QueueMessage], "message"),
        (list[str], "str"),
        (list[bytes], "bytes"),
        (typing.List[dict[str, int]], "json"),  # noqa: UP006
        (list[list[int]], "json"),
    ],
)
def test_an_element_is_read_as_a_single_parameter_is(annotation: Any, takes: str) -> None:
    found = made(msg=annotation)

    assert (found.many, found.takes) == (True, takes)


@pytest.mark.parametrize("annotation", [func.QueueMessage, str, dict, tuple[str], list[str] | str])
def test_a_parameter_that_is_annotated_as_no_list_is_refused(annotation: Any) -> None:
    with pytest.raises(SignatureError, match='cardinality "many" gives it a list'):
        made(msg=annotation)


def test_an_element_of_no_known_type_is_refused() -> None:
    with pytest.raises(SignatureError, match="does not match its Python annotation"):
        made(msg=list[int])


def test_parameters_named_after_properties_are_lists() -> None:
    assert set(made(msg=..., id=list[str], dequeue_count=...).properties) == {"id", "dequeue_count"}
    with pytest.raises(SignatureError, match='"dequeue_count" is annotated int'):
        made(msg=..., dequeue_count=int)
    with pytest.raises(SignatureError, match="must be annotated int, not str"):
        made(msg=..., dequeue_count=list[str])


@pytest.mark.parametrize("binding", [TRIGGER, MANY])
@pytest.mark.parametrize(("said", "many"), [("many", True), ("One", False)])
def test_host_json_may_say_it_and_goes_before_the_binding(
    folder: ProjectFolder, binding: Any, said: str, many: bool
) -> None:
    """Azure ignores it there; in a binding it makes a queue's body an array of texts."""
    folder.function("resize", binding)
    folder.host(qtrigger={"functions": {"Resize": {"cardinality": said}}})

    function = folder.one()
    found = plan(
        name="f", function=annotated(msg=...), directory="/f", bindings=function.bindings, mode=""
    )

    assert (function.trigger.many, found.many) == (many, many)


def test_a_cardinality_that_is_none_stops_the_function_with_its_place(
    folder: ProjectFolder,
) -> None:
    folder.function("resize")
    folder.host(qtrigger={"functions": {"resize": {"cardinality": "several"}}})

    assert told(folder.load(), "host.json:1:", "error: ", 'one of "one", "many"')


def test_a_retry_policy_is_not_carried_out_and_that_is_said(folder: ProjectFolder) -> None:
    folder.function("resize", MANY, retry=RETRY)

    assert folder.one().retry is None
    (line,) = said(folder.load())
    assert "warning" in line
    assert 'the retry policy is not carried out with cardinality "many"' in line


def test_host_jsons_retry_policy_is_not_carried_out_either(folder: ProjectFolder) -> None:
    folder.host(retry=RETRY)
    folder.function("resize", MANY)
    folder.function("single", TRIGGER)

    functions = {each.name: each.retry for each in folder.load().functions}

    assert functions["resize"] is None
    assert functions["single"] is not None
    assert told(folder.load(), "functions/resize/function.json", "retry policy is not carried out")


def test_messages_of_a_list_have_no_order(folder: ProjectFolder) -> None:
    folder.function("resize", MANY)
    folder.host(qtrigger={"functions": {"resize": {"orderBy": "$.id"}}})

    assert folder.one().own.order_by == ""
    assert told(folder.load(), "host.json:1:", "warning", "orderBy is not applied")


def test_an_outputs_name_cannot_be_made_from_one_of_several_messages(folder: ProjectFolder) -> None:
    folder.function("resize", MANY, {**OUTPUT, "queueName": "for-{customer}"})

    project = folder.load()

    assert project.failed == ("resize",)
    assert told(project, "error", "queueName", "{customer} has no value")


def test_an_outputs_name_may_be_made_from_what_is_always_there(folder: ProjectFolder) -> None:
    folder.function("resize", MANY, {**OUTPUT, "queueName": "out-{rand-guid}"})

    assert folder.one().trigger.many
