"""Going on to the queues: what is asked, what is told, and what is left as it was."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from qtrigger.cli.connect import Queue, look_at, problems
from qtrigger.cli.report import Report, as_text
from qtrigger.errors import AccessDenied, QueueUnavailable
from qtrigger.project.model import Project
from qtrigger.queues.account import Account
from qtrigger.queues.look import Inspected
from qtrigger.queues.memory import MemoryQueueService
from qtrigger.testing.clock import ManualClock
from tests.unit.project.folder import CONNECTION, OUTPUT, TRIGGER, ProjectFolder

SAS = "QueueEndpoint=https://acme.queue.core.windows.net;SharedAccessSignature="


@pytest.fixture
def folder(tmp_path: Path) -> ProjectFolder:
    return ProjectFolder(tmp_path)


class Services:
    """Memory services by account; an account in `unusable` cannot even be opened."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self._services: dict[str, MemoryQueueService] = {}
        self.unusable: dict[str, AccessDenied] = {}

    def __call__(self, account: Account) -> Inspected:
        if account.name in self.unusable:
            raise self.unusable[account.name]
        return self.of(account.name)

    def of(self, name: str) -> MemoryQueueService:
        return self._services.setdefault(name, MemoryQueueService(self._clock, account=name))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def services(clock: ManualClock) -> Services:
    return Services(clock)


def states(queues: list[Queue]) -> Mapping[str, str]:
    return {queue.name: queue.state for queue in queues}


def text_of(project: Project, queues: list[Queue]) -> str:
    report = Report(
        root=project.root, environment="", problems=(), functions=1, queues=tuple(queues)
    )
    return as_text(report)


async def test_every_queue_is_looked_at_once_whatever_it_is_used_for(
    folder: ProjectFolder, services: Services, clock: ManualClock
) -> None:
    folder.function("one", TRIGGER, OUTPUT)
    folder.function("two", {**TRIGGER, "queueName": "receipts"})
    folder.function("off", {**TRIGGER, "queueName": "elsewhere"}, disabled=True)
    services.of("acme").make("orders")
    services.of("acme").make("receipts")

    queues = await look_at(folder.load(), services, clock)

    assert states(queues) == {
        "orders": "ok",
        "orders-poison": "missing",
        "receipts": "ok",
        "receipts-poison": "missing",
    }
    (receipts,) = [queue for queue in queues if queue.name == "receipts"]
    assert [(use.role, use.function) for use in receipts.uses] == [
        ("output", "one"),
        ("trigger", "two"),
    ]
    assert problems(queues) == []


async def test_looking_asks_for_properties_and_peeks_and_nothing_else(
    folder: ProjectFolder, services: Services, clock: ManualClock
) -> None:
    folder.function("one", TRIGGER, OUTPUT)
    service = services.of("acme")
    service.make("orders")

    await look_at(folder.load(), services, clock)

    assert set(service.requests) == {"count", "peek"}
    assert service.names() == ["orders"]


async def test_a_triggers_missing_queue_is_a_warning_with_its_place(
    folder: ProjectFolder, services: Services, clock: ManualClock
) -> None:
    folder.function("one")

    (problem,) = problems(await look_at(folder.load(), services, clock))

    assert str(problem).startswith("functions/one/function.json:1:")
    assert "warning: there is no queue 'orders' in account acme; the function waits" in str(problem)
    assert "qtrigger send orders" in problem.hint


async def test_an_account_that_does_not_answer_is_told_once(
    folder: ProjectFolder, services: Services, clock: ManualClock
) -> None:
    folder.function("one", TRIGGER, OUTPUT)
    for verb in ("count", "peek"):
        services.of("acme").fail(verb, QueueUnavailable("nobody there"), times=None)

    queues = await look_at(folder.load(), services, clock)

    assert set(states(queues).values()) == {"unreachable"}
    assert [problem.message for problem in problems(queues)] == ["nobody there"]
    assert services.of("acme").requests == {"count": 1, "peek": 1}


async def test_an_account_that_never_answers_is_given_up_after_some_seconds(
    folder: ProjectFolder, services: Services, clock: ManualClock
) -> None:
    folder.function("one", TRIGGER, {**OUTPUT, "connection": "Other"})
    services.of("acme").slow("count", 3600.0, times=None)
    services.of("other").make("receipts")
    environ = {"AzureWebJobsStorage": CONNECTION, "Other": CONNECTION.replace("acme", "other")}

    queues = await clock.run(look_at(folder.load(environ), services, clock), limit_s=10.0)

    assert states(queues) == {
        "orders": "unreachable",
        "orders-poison": "unreachable",
        "receipts": "ok",
    }
    assert "did not answer within 8 s" in problems(queues)[0].message


async def test_a_refusal_is_told_for_each_queue_and_request(
    folder: ProjectFolder, services: Services, clock: ManualClock
) -> None:
    folder.function("one")
    service = services.of("acme")
    service.make("orders")
    service.fail("count", AccessDenied("no reading of properties"), queue="orders")
    service.fail("count", AccessDenied("no reading here either"), queue="orders-poison")
    service.fail("peek", AccessDenied("no peeking"), queue="orders-poison")

    queues = await look_at(folder.load(), services, clock)

    assert states(queues) == {"orders": "refused", "orders-poison": "refused"}
    assert [problem.message for problem in problems(queues)] == [
        "no reading of properties",
        "no reading here either",
        "no peeking",
    ]


async def test_a_credential_that_cannot_even_be_tried_is_a_refusal(
    folder: ProjectFolder, services: Services, clock: ManualClock
) -> None:
    folder.function("one")
    services.unusable["acme"] = AccessDenied("the key is not base64")

    queues = await look_at(folder.load(), services, clock)

    assert {problem.message for problem in problems(queues)} == {"the key is not base64"}


async def test_an_output_named_by_the_message_is_not_looked_at(
    folder: ProjectFolder, services: Services, clock: ManualClock
) -> None:
    folder.function("one", TRIGGER, {**OUTPUT, "queueName": "out-{id}"})
    project = folder.load()

    queues = await look_at(project, services, clock)

    assert states(queues)["out-{id}"] == "unknown"
    assert "its name depends on the message" in text_of(project, queues)


async def test_rights_that_only_a_change_would_prove_are_said_not_to_be_tried(
    folder: ProjectFolder, services: Services, clock: ManualClock
) -> None:
    folder.function("one")
    services.of("acme").make("orders")
    project = folder.load(
        {"AzureWebJobsStorage__queueServiceUri": "https://acme.queue.core.windows.net"}
    )

    text = text_of(project, await look_at(project, services, clock))

    assert "not tried, since it changes something: get messages, delete a message" in text
    assert "Storage Queue Data Message Processor and Storage Queue Data Contributor" in text


async def test_a_key_may_do_everything_so_nothing_is_left_to_try(
    folder: ProjectFolder, services: Services, clock: ManualClock
) -> None:
    folder.function("one")
    project = folder.load()

    assert "not tried" not in text_of(project, await look_at(project, services, clock))


async def test_a_missing_queue_that_the_sas_may_not_create_is_a_warning(
    folder: ProjectFolder, services: Services, clock: ManualClock
) -> None:
    folder.function("one")
    services.of("acme").make("orders")
    project = folder.load({"AzureWebJobsStorage": f"{SAS}sv=1&sp=raup&sig=c2ln"})

    (problem,) = problems(await look_at(project, services, clock))

    assert "no queue 'orders-poison' in account acme, and the SAS may not create it" in str(problem)
