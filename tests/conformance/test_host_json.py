"""host.json: every key that concerns queues, its range, its default, and overriding it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.conformance.said import said, told
from tests.unit.project.folder import CONNECTION, ProjectFolder, errors, warnings


@pytest.mark.parametrize("text", ["", "{}"])
def test_a_host_json_that_says_nothing_means_defaults_with_a_hint(
    folder: ProjectFolder, text: str
) -> None:
    folder.function()
    if text:
        folder.write("host.json", text)
    else:
        (folder.root / "host.json").unlink()

    project = folder.load()

    assert (project.host.queues.batch_size, project.blocked) == (16, False)
    assert told(project, "host.json:1", "defaults apply", 'hint: write { "version": "2.0" }')


def test_a_host_json_that_is_no_json_runs_no_function(folder: ProjectFolder) -> None:
    folder.function()
    folder.write("host.json", '{"version": "2.0"')

    project = folder.load()

    assert project.blocked
    assert project.functions == ()


@pytest.mark.parametrize(
    ("version", "remark"),
    [
        (None, "missing"),
        ("1.0", "format of the first runtime"),
        ("2", 'write "2.0"'),
        (2.0, 'write "2.0" as a text'),
        ("3.0", "not of the runtime"),
        ("4.0", "not of the runtime"),
    ],
)
def test_the_version_is_the_text_2_0(folder: ProjectFolder, version: object, remark: str) -> None:
    folder.write("host.json", {"x": 1} if version is None else {"version": version})

    project = folder.load()

    assert project.blocked
    assert told(project, "host.json:1:", "error: version", remark)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("00:00:01", 1.0), ("-1", None), ("-1.00:00:00", None), ("1.00:00:00", 86400.0)],
)
def test_the_function_timeout_is_a_duration_or_none(
    folder: ProjectFolder, text: str, seconds: float | None
) -> None:
    folder.host(functionTimeout=text)

    assert folder.load().host.function_timeout_s == seconds


def test_the_function_timeout_is_half_an_hour_unless_given(folder: ProjectFolder) -> None:
    assert folder.load().host.function_timeout_s == 1800.0


def test_a_function_timeout_under_a_second_is_an_error(folder: ProjectFolder) -> None:
    folder.host(functionTimeout="00:00:00.5")

    assert told(folder.load(), "error: functionTimeout", "00:00:01")


def test_functions_lists_the_only_ones_that_run_compared_without_case(
    folder: ProjectFolder,
) -> None:
    folder.function("one")
    folder.function("two")
    folder.host(functions=["ONE"])

    one, two = folder.load().functions

    assert (one.disabled, bool(two.disabled)) == ("", True)


def test_an_empty_list_of_functions_means_all_and_is_told(folder: ProjectFolder) -> None:
    folder.function("one")
    folder.host(functions=[])

    assert folder.one().disabled == ""
    assert told(folder.load(), "functions is empty, which means that all functions run")


def test_watched_names_are_added_to_the_usual_ones(folder: ProjectFolder) -> None:
    folder.host(watchDirectories=["shared"], watchFiles=["app.ini"])

    host = folder.load().host

    assert host.watch_directories == ("node_modules", "shared")
    assert host.watch_files == ("host.json", "function.json", "proxies.json", "app.ini")


@pytest.mark.parametrize(
    "level", ["Trace", "Debug", "Information", "Warning", "Error", "Critical", "None", "debug"]
)
def test_log_levels_are_read_by_category(folder: ProjectFolder, level: str) -> None:
    folder.host(
        logging={
            "logLevel": {"default": level, "Function.resize.User": level, "Host.Triggers": level},
            "console": {"isEnabled": True},
            "fileLoggingMode": "always",
        }
    )

    project = folder.load()

    assert set(project.host.log_levels.values()) == {level.capitalize()}
    assert said(project) == []


def test_dynamic_concurrency_is_told_not_to_change_the_batches(folder: ProjectFolder) -> None:
    folder.host(concurrency={"dynamicConcurrencyEnabled": True, "snapshotPersistenceEnabled": True})

    assert told(folder.load(), "batchSize and newBatchThreshold apply")


@pytest.mark.parametrize(
    "section",
    [
        *("healthMonitor", "singleton", "telemetryMode", "customHandler", "managedDependency"),
        *("extensionBundle", "aggregator"),
    ],
)
def test_what_does_not_concern_queues_is_known_and_ignored(
    folder: ProjectFolder, section: str
) -> None:
    folder.host(**{section: {"anything": 1}})

    assert said(folder.load()) == []


@pytest.mark.parametrize("section", ["http", "serviceBus", "eventHubs", "durableTask", "cosmosDB"])
def test_other_extensions_are_known_and_ignored(folder: ProjectFolder, section: str) -> None:
    folder.host(extensions={section: {"anything": 1}})

    assert said(folder.load()) == []


# --- the queue trigger's options ------------------------------------------------------------------

DEFAULTS = {
    "batchSize": ("batch_size", 16),
    "newBatchThreshold": ("new_batch_threshold", 8),
    "maxPollingInterval": ("max_polling_interval_s", 60.0),
    "visibilityTimeout": ("visibility_timeout_s", 0.0),
    "maxDequeueCount": ("max_dequeue_count", 5),
    "messageEncoding": ("message_encoding", "base64"),
}
TAKEN: tuple[tuple[str, Any, Any], ...] = (
    *(("batchSize", value, value) for value in (1, 32)),
    *(("newBatchThreshold", value, value) for value in (0, 1000)),
    ("maxPollingInterval", "00:00:00.1", 0.1),
    ("maxPollingInterval", "1.00:00:00", 86400.0),
    ("visibilityTimeout", "00:00:30", 30.0),
    ("visibilityTimeout", "7.00:00:00", 604800.0),
    *(("maxDequeueCount", value, value) for value in (1, 100)),
    *(("messageEncoding", text, text.lower()) for text in ("none", "None", "base64", "Base64")),
)
WRONG: Mapping[str, tuple[Any, ...]] = {
    "batchSize": (0, 33, -1, 1.5, "x", None, []),
    "newBatchThreshold": (-1, "x", True),
    "maxPollingInterval": ("00:00:00.09", 99, False),
    "visibilityTimeout": ("-00:00:01", "7.00:00:01", 5),
    "maxDequeueCount": (0, -1, "five"),
    "messageEncoding": ("utf8", 1, "auto"),
}
REFUSED = [(key, value) for key, values in WRONG.items() for value in values]


@pytest.mark.parametrize("key", DEFAULTS)
def test_an_option_that_is_not_given_has_its_default(folder: ProjectFolder, key: str) -> None:
    name, default = DEFAULTS[key]

    host = folder.load(environment="Production").host

    assert getattr(host.queues, name) == default


@pytest.mark.parametrize(("key", "value", "meant"), TAKEN)
def test_an_option_within_its_range_is_taken(
    folder: ProjectFolder, key: str, value: Any, meant: Any
) -> None:
    folder.queues(**{key: value})

    project = folder.load()

    assert getattr(project.host.queues, DEFAULTS[key][0]) == meant
    assert said(project) == []


@pytest.mark.parametrize(("key", "value"), REFUSED)
def test_an_option_out_of_its_range_is_an_error_that_names_the_range(
    folder: ProjectFolder, key: str, value: Any
) -> None:
    folder.queues(**{key: value})

    assert told(folder.load(), "host.json:1:", f"error: extensions.queues.{key}", "must be")


def test_the_threshold_is_half_of_the_batch_unless_given(folder: ProjectFolder) -> None:
    folder.queues(batchSize=9)

    assert folder.load().host.queues.new_batch_threshold == 4
    folder.queues(batchSize=1)
    assert folder.load().host.queues.new_batch_threshold == 0


def test_development_polls_every_two_seconds_at_most_unless_told_otherwise(
    folder: ProjectFolder,
) -> None:
    assert folder.load().host.queues.max_polling_interval_s == 2.0
    for text, interval_s in (("00:00:30", 30.0), ("00:00:10", 10.0), ("00:01:00", 60.0)):
        folder.queues(maxPollingInterval=text)
        assert folder.load().host.queues.max_polling_interval_s == interval_s


# --- overriding by settings -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "AzureFunctionsJobHost__extensions__queues__batchSize",
        "AzureFunctionsJobHost:extensions:queues:batchSize",
        "azurefunctionsjobhost__EXTENSIONS__queues__BATCHSIZE",
    ],
)
def test_a_setting_wins_over_the_file_in_every_spelling(folder: ProjectFolder, name: str) -> None:
    folder.queues(batchSize=4)

    assert folder.load({name: "8"}).host.queues.batch_size == 8


def test_arrays_are_overridden_by_index(folder: ProjectFolder) -> None:
    folder.function("one")
    folder.function("two")
    folder.host(functions=["one"])

    project = folder.load(
        {"AzureWebJobsStorage": CONNECTION, "AzureFunctionsJobHost__functions__1": "two"}
    )

    assert project.host.functions == ("one", "two")


# --- our own section ------------------------------------------------------------------------------

OWN = {
    "batchSize": 2,
    "newBatchThreshold": 1,
    "visibilityTimeout": "00:00:07",
    "maxPollingInterval": "00:00:09",
    "maxDequeueCount": 3,
    "messageEncoding": "auto",
}


@pytest.mark.parametrize("key", OWN)
def test_a_functions_own_option_is_its_alone(folder: ProjectFolder, key: str) -> None:
    folder.function("mine")
    folder.function("other")
    folder.host(qtrigger={"functions": {"mine": {key: OWN[key]}}})

    project = folder.load()
    mine, other = project.functions
    name = DEFAULTS[key][0]

    assert getattr(mine.options, name) != getattr(other.options, name)
    assert other.options == project.host.queues
    shown = [each for each in project.effective if each.key == f"qtrigger.functions.mine.{key}"]
    assert [(each.value.strip('"'), each.origin) for each in shown] == [
        (str(OWN[key]), "host.json:1")
    ]


def test_shutdown_and_lease_have_defaults_and_bounds(folder: ProjectFolder) -> None:
    host = folder.load().host
    assert (host.shutdown_timeout_s, host.lease_s, host.output_mode) == (30.0, 600.0, "azure")

    folder.host(qtrigger={"lease": "00:00:01", "shutdownTimeout": "-00:00:01", "outputs": "x"})

    assert len(errors(folder.load())) == 3


def test_an_unknown_key_is_told_with_the_nearest_known_one(folder: ProjectFolder) -> None:
    folder.host(extensions={"queues": {"batchsizes": 4}}, qtrigger={"leese": "00:01:00"})

    assert [problem.hint for problem in warnings(folder.load())] == [
        'did you mean "batchSize"?',
        'did you mean "lease"?',
    ]
