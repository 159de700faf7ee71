"""The options that Azure has no word for: where they stand, what they mean, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from qtrigger.project.options import (
    CircuitBreaker,
    JournalOptions,
    OwnOptions,
    PoisonNotice,
    Price,
    TracingOptions,
)
from tests.conformance.said import said, told
from tests.unit.project.folder import ProjectFolder

GIVEN: list[tuple[str, Any, dict[str, Any]]] = [
    ("retryDelays", ["00:00:30", "00:05:00"], {"retry_delays_s": (30.0, 300.0)}),
    ("retryJitter", 0.2, {"retry_jitter": 0.2}),
    ("poisonQueueName", "Failed-Orders", {"poison_queue": "failed-orders"}),
    ("poisonQueueName", "%DEAD%", {"poison_queue": "dead-letters"}),
    ("poisonTimeToLive", "7.00:00:00", {"poison_ttl_s": 604_800.0}),
    ("poisonTimeToLive", "-1", {"poison_ttl_s": -1.0}),
    ("slowRunAfter", "00:00:05", {"slow_run_after_s": 5.0}),
    ("maxPerMinute", 60, {"max_per_minute": 60}),
    ("maxPerMinute", 0, {"max_per_minute": None}),
    (
        "onPoison",
        {"command": ["./tell", "x"], "includeBody": True},
        {"on_poison": PoisonNotice(command=("./tell", "x"), include_body=True)},
    ),
    (
        "onPoison",
        {"url": "%HOOK%"},
        {"on_poison": PoisonNotice(url="https://hooks.example/s3cret")},
    ),
    (
        "circuitBreaker",
        {"failures": 10, "distinctMessages": 4, "pause": "00:02:00"},
        {"breaker": CircuitBreaker(failures=10, distinct_messages=4, pause_s=120.0)},
    ),
    (
        "circuitBreaker",
        {"failures": 2},
        {"breaker": CircuitBreaker(failures=2, distinct_messages=2, pause_s=60.0)},
    ),
    ("circuitBreaker", {"failures": 0}, {"breaker": None}),
]
IDS = [f"{key}-{index}" for index, (key, _, _) in enumerate(GIVEN)]
SETTINGS = {"DEAD": "dead-letters", "HOOK": "https://hooks.example/s3cret"}


@pytest.mark.parametrize(("key", "value", "meant"), GIVEN, ids=IDS)
def test_an_option_for_all_holds_for_every_function(
    folder: ProjectFolder, key: str, value: Any, meant: dict[str, Any]
) -> None:
    folder.function()
    folder.host(qtrigger={key: value})

    assert folder.one(SETTINGS).own == OwnOptions(**meant)


@pytest.mark.parametrize(("key", "value", "meant"), GIVEN, ids=IDS)
def test_a_functions_own_one_goes_before_it(
    folder: ProjectFolder, key: str, value: Any, meant: dict[str, Any]
) -> None:
    folder.function()
    others: dict[str, Any] = {
        "retryDelays": ["00:00:01"],
        "retryJitter": 1,
        "poisonQueueName": "others",
        "poisonTimeToLive": "00:01:00",
        "maxPerMinute": 5,
        "slowRunAfter": "00:10:00",
        "onPoison": {"command": ["others"]},
        "circuitBreaker": {"failures": 99},
    }
    folder.host(qtrigger={key: others[key], "functions": {"resize": {key: value}}})

    assert folder.one(SETTINGS).own == OwnOptions(**meant)


def test_order_and_a_most_of_its_own_are_a_functions_alone(folder: ProjectFolder) -> None:
    folder.function()
    own = {"orderBy": "$.customer.ids[0]", "maxConcurrent": 3}
    folder.host(qtrigger={"maxConcurrent": 10, "functions": {"Resize": own}})

    project = folder.load()

    assert project.functions[0].own == OwnOptions(order_by="$.customer.ids[0]", max_concurrent=3)
    assert project.host.max_concurrent == 10


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("retryDelays", ["soon"], "retryDelays[0]"),
        ("retryDelays", "00:00:30", 'an array of durations such as ["00:00:30", "00:05:00"]'),
        ("retryDelays", ["8.00:00:00"], 'to "7.00:00:00"'),
        ("retryJitter", 2, "a number from 0 to 1"),
        ("poisonQueueName", "no_good", "an underscore"),
        ("poisonQueueName", "%NOWHERE%", '"NOWHERE", which is neither'),
        ("poisonTimeToLive", "00:00:00", 'or "-1" for no limit'),
        ("maxPerMinute", -1, "of at least 0"),
        ("onPoison", {"includeBody": True}, "neither a command nor a url"),
        ("onPoison", {"command": "./tell"}, "an array of a program and its arguments"),
        ("onPoison", {"url": "ftp://x"}, "url is no http or https address"),
        ("circuitBreaker", {"pause": "00:01:00"}, "failures is missing"),
        ("circuitBreaker", {"failures": 5, "pause": "0"}, "circuitBreaker.pause"),
        ("orderBy", "customer", 'such as "$.customer.id"'),
    ],
)
def test_what_means_nothing_stops_the_function_with_its_place(
    folder: ProjectFolder, key: str, value: Any, said: str
) -> None:
    folder.function()
    folder.host(qtrigger={"functions": {"resize": {key: value}}})

    project = folder.load()

    assert project.failed == ("resize",)
    assert told(project, "host.json:1:", "error: ", said)


@pytest.mark.parametrize(
    ("key", "value", "hint"),
    [
        ("retryDelays", "00:00:10", 'write an array, such as ["00:00:30"]'),
        ("retryDelays", ["10s"], 'write "00:00:10"'),
        ("onPoison", "python3 tell.py", '"command": ["python3", "tell.py"]'),
        ("onPoison", {"command": "python3 tell.py"}, 'write ["python3", "tell.py"]'),
        ("circuitBreaker", 10, 'write { "failures": 10 }'),
        ("circuitBreaker", {"failures": 5, "pause": "1m"}, 'write "00:01:00"'),
        ("poisonTimeToLive", "30d", 'write "30.00:00:00"'),
        ("orderBy", "customer.id", 'it begins with "$."'),
    ],
)
def test_the_likeliest_slip_is_told_with_what_to_write(
    folder: ProjectFolder, key: str, value: Any, hint: str
) -> None:
    folder.function()
    folder.host(qtrigger={"functions": {"resize": {key: value}}})

    assert hint in told(folder.load(), "error: ").partition("hint: ")[2]


@pytest.mark.parametrize("key", ["orderBy", "cardinality"])
def test_what_is_one_functions_alone_is_sent_to_its_place(folder: ProjectFolder, key: str) -> None:
    folder.function()
    folder.host(qtrigger={key: "$.id"})

    assert told(folder.load(), "warning: ", f"its place is qtrigger.functions.<function>.{key}")


@pytest.mark.parametrize("key", ["retryDelays", "maxConcurrent", "orderBy", "onPoison"])
def test_an_option_among_azures_is_sent_to_its_place(folder: ProjectFolder, key: str) -> None:
    folder.function()
    folder.host(extensions={"queues": {key: "x"}})

    assert told(folder.load(), "warning: ", f'"{key}" has no effect here; its place is qtrigger.')


def test_an_address_is_never_shown_in_full(folder: ProjectFolder) -> None:
    folder.function()
    folder.host(qtrigger={"onPoison": {"url": "https://hooks.example/s3cret?key=s3cret"}})

    shown = {each.key: each.value for each in folder.load().effective}

    assert shown["qtrigger.onPoison.url"] == "https://hooks.example/…"
    assert not any("s3cret" in value for value in shown.values())


@pytest.mark.parametrize(
    "url",
    [
        "https://user:s3cret@hooks.example/s3cret?key=s3cret",
        "https://[s3cret",
        "https://hooks.example:99999/s3cret",
        "ftp://hooks.example/s3cret",
        "s3cret",
        "%NOPE%/s3cret",
        "https://hooks.example/a%2Fs3cret%3D",
        "https://hooks.example/s3cret%20",
        ["https://hooks.example/s3cret"],
        {"s3cret": "s3cret"},
    ],
    ids=repr,
)
@pytest.mark.parametrize("own", [False, True], ids=["for all", "of one"])
def test_whatever_is_wrong_with_an_address_nothing_shows_it(
    folder: ProjectFolder, url: Any, own: bool
) -> None:
    folder.function()
    option = {"onPoison": {"url": url}}
    folder.host(qtrigger={"functions": {"resize": option}} if own else option)

    project = folder.load()

    shown = [each.value for each in project.effective if each.key.endswith("url")]
    texts = [*said(project), *shown, repr(project.functions)]
    assert not [text for text in texts if "s3cret" in text]
    assert project.functions or said(project)


@pytest.mark.parametrize(
    ("command", "value"),
    [(["curl", "https://h.example/s3cret"], '"curl", …'), ("curl -H s3cret", None)],
)
def test_of_a_command_the_program_alone_is_shown(
    folder: ProjectFolder, command: Any, value: str | None
) -> None:
    folder.function()
    folder.host(qtrigger={"onPoison": {"command": command}})

    project = folder.load()

    shown = {each.key: each.value for each in project.effective}
    assert not [text for text in (*said(project), *shown.values()) if "s3cret" in text]
    assert shown.get("qtrigger.onPoison.command") == value


@pytest.mark.parametrize("own", [False, True], ids=["for all", "of one"])
@pytest.mark.parametrize("value", ["https://hooks.example/s3cret", ["https://h.example/s3cret"]])
def test_an_address_in_the_place_of_the_option_is_not_shown(
    folder: ProjectFolder, value: Any, own: bool
) -> None:
    folder.function()
    option = {"onPoison": value}
    folder.host(qtrigger={"functions": {"resize": option}} if own else option)

    project = folder.load()

    shown = [*said(project), *(each.value for each in project.effective)]
    assert not [text for text in shown if "s3cret" in text]
    assert told(project, "error: ", "onPoison must be an object")


def test_a_missing_setting_for_an_address_is_named(folder: ProjectFolder) -> None:
    folder.function()
    folder.host(qtrigger={"onPoison": {"url": "%HOOK%"}})

    assert told(folder.load(), 'onPoison.url: "%HOOK%"', "set HOOK")


def test_options_that_are_not_given_are_shown_as_none(folder: ProjectFolder) -> None:
    folder.function()

    shown = {each.key: (each.value, each.origin) for each in folder.load().effective}

    assert shown["qtrigger.circuitBreaker"] == ("none", "default")
    assert shown["qtrigger.retryDelays"] == ("none: visibilityTimeout applies", "default")
    assert shown["qtrigger.maxPerMinute"] == ("0", "default")


def test_many_messages_at_once_are_asked_for_by_the_binding(folder: ProjectFolder) -> None:
    trigger = {"type": "queueTrigger", "direction": "in", "name": "msgs", "queueName": "orders"}
    folder.function("one", trigger)
    folder.function("many", {**trigger, "cardinality": "Many"})

    many, one = folder.load().functions

    assert (one.trigger.many, many.trigger.many) == (False, True)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (False, None),
        (True, JournalOptions()),
        ({}, JournalOptions()),
        ({"maxEntries": 5}, JournalOptions(max_entries=5)),
        ({"maxAge": "1.00:00:00"}, JournalOptions(max_age_s=86_400.0)),
    ],
)
def test_the_journal_is_bounded_or_off(
    folder: ProjectFolder, given: object, meant: JournalOptions | None
) -> None:
    folder.function()
    folder.host(qtrigger={"journal": given})
    project = folder.load(SETTINGS)

    assert not [each for each in project.problems if "journal" in each.message]
    assert project.host.journal == meant
    shown = {each.key: each.value for each in project.effective if "journal" in each.key}
    if meant is None:
        assert shown == {"qtrigger.journal": "false"}
    else:
        assert shown["qtrigger.journal.maxEntries"] == str(meant.max_entries)


@pytest.mark.parametrize("given", [0, "off", {"maxEntries": 0}, {"maxAge": "00:00:01"}])
def test_a_journal_that_cannot_be_meant_blocks_the_project(
    folder: ProjectFolder, given: object
) -> None:
    folder.function()
    folder.host(qtrigger={"journal": given})

    project = folder.load(SETTINGS)
    assert project.blocked
    assert "journal" in str(project.problems[0])


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({}, None),
        ({"pricePer10kTransactions": 0.004}, Price(per_10k=0.004, currency="USD")),
        ({"pricePer10kTransactions": 0, "currency": "EUR"}, Price(per_10k=0.0, currency="EUR")),
        ({"currency": "EUR"}, None),
    ],
)
def test_a_price_is_for_ten_thousand_requests_and_without_one_nothing_costs(
    folder: ProjectFolder, given: dict[str, Any], meant: Price | None
) -> None:
    folder.function()
    folder.host(qtrigger=given)
    project = folder.load(SETTINGS)

    assert project.host.price == meant
    shown = {each.key: each.value for each in project.effective}
    wanted = given.get("pricePer10kTransactions", "none: transactions are told, and no cost")
    assert shown["qtrigger.pricePer10kTransactions"] == str(wanted)


@pytest.mark.parametrize(
    ("key", "given", "expected"),
    [
        ("pricePer10kTransactions", -1, "a number from 0 to 1000000"),
        ("pricePer10kTransactions", "0.4", "a number from 0 to 1000000"),
        ("currency", "euro", 'a code of three capital letters, such as "EUR"'),
    ],
)
def test_a_price_that_cannot_be_meant_is_refused_with_what_can(
    folder: ProjectFolder, key: str, given: object, expected: str
) -> None:
    folder.function()
    folder.host(qtrigger={key: given})

    assert told(folder.load(SETTINGS), f"qtrigger.{key} must be {expected}")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (None, TracingOptions()),
        ({}, TracingOptions()),
        ({"relation": "link"}, TracingOptions()),
        ({"relation": "parent"}, TracingOptions(adopts=True)),
        ({"inject": True}, TracingOptions(inject=True)),
    ],
)
def test_runs_are_linked_and_nothing_is_injected_unless_the_project_says_so(
    folder: ProjectFolder, given: dict[str, Any] | None, meant: TracingOptions
) -> None:
    folder.function()
    folder.host(qtrigger={} if given is None else {"tracing": given})

    assert folder.load(SETTINGS).host.tracing == meant


@pytest.mark.parametrize("given", [{"relation": "child"}, {"inject": "yes"}, True])
def test_a_way_of_tracing_that_cannot_be_meant_blocks_the_project(
    folder: ProjectFolder, given: object
) -> None:
    folder.function()
    folder.host(qtrigger={"tracing": given})

    project = folder.load(SETTINGS)
    assert project.blocked
    assert "tracing" in str(project.problems[0])
