"""host.json gives the options; what is wrong with it is told by key, place and right value."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.project.folder import ProjectFolder, errors, warnings

DAY = 86_400.0


def test_a_missing_file_means_defaults_with_a_hint(folder: ProjectFolder) -> None:
    (folder.root / "host.json").unlink()
    folder.function()

    project = folder.load()

    assert [function.name for function in project.functions] == ["resize"]
    (problem,) = warnings(project)
    assert (problem.file, problem.line) == ("host.json", 1)
    assert '"version": "2.0"' in problem.hint


def test_an_empty_object_means_defaults_with_a_hint(folder: ProjectFolder) -> None:
    folder.write("host.json", "{}")
    folder.function()

    project = folder.load()

    assert len(project.functions) == 1
    assert "defaults apply" in warnings(project)[0].message


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ('{"extensions": {}}', "version is missing", ""),
        ('{"Version": "2.0"}', "version is missing", ""),
        ('{"version": null}', 'version must be the text "2.0", not null', ""),
        ('{"version": 2.0}', "not 2.0", "with the quotes"),
        ('{"version": "2"}', 'not "2"', '"2.0"'),
        ('{"version": 1}', "not 1", "first runtime"),
        ('{"version": "3.0"}', 'not "3.0"', "not of the runtime"),
        ('{"version": "4"}', 'not "4"', "not of the runtime"),
        ("[]", "the file must be an object, not an array", ""),
        ('{"version": "2.0"', "not valid JSON", ""),
        ("", "not valid JSON: the file is empty", ""),
    ],
)
def test_a_file_that_cannot_be_used_stops_the_project(
    folder: ProjectFolder, text: str, said: str, hint: str
) -> None:
    folder.write("host.json", text)
    folder.function()

    project = folder.load()

    assert project.blocked
    assert project.functions == ()
    assert project.failed == ()
    (problem,) = errors(project)
    assert said in problem.message
    assert hint in problem.hint
    assert problem.file == "host.json"
    assert problem.line == 1


def test_functions_findings_show_beside_a_broken_host_json(folder: ProjectFolder) -> None:
    folder.write("host.json", "{")
    folder.function("bad", {"type": "queueTrigger", "direction": "in", "name": "m"})

    project = folder.load()

    assert project.failed == ("bad",)
    assert "queueName is missing" in errors(project, "bad")[0].message


def test_the_queue_options_are_read(folder: ProjectFolder) -> None:
    folder.queues(
        batchSize=8,
        newBatchThreshold=0,
        maxPollingInterval="00:00:10",
        visibilityTimeout="00:00:05",
        maxDequeueCount=3,
        messageEncoding="NONE",
    )

    options = folder.load({}).host.queues

    assert (options.batch_size, options.new_batch_threshold, options.concurrency) == (8, 0, 8)
    assert (options.max_polling_interval_s, options.visibility_timeout_s) == (10.0, 5.0)
    assert (options.max_dequeue_count, options.message_encoding) == (3, "none")


@pytest.mark.parametrize(("batch_size", "threshold"), [(1, 0), (16, 8), (17, 8), (32, 16)])
def test_the_threshold_is_half_the_batch_unless_given(
    folder: ProjectFolder, batch_size: int, threshold: int
) -> None:
    folder.queues(batchSize=batch_size)

    assert folder.load({}).host.queues.new_batch_threshold == threshold


@pytest.mark.parametrize(
    ("environment", "options", "seconds"),
    [
        ("Development", {}, 2.0),
        ("development", {}, 2.0),
        ("Production", {}, 60.0),
        ("Development", {"maxPollingInterval": "00:00:10"}, 10.0),
        ("Development", {"maxPollingInterval": "00:01:00"}, 60.0),
    ],
)
def test_development_polls_more_often_unless_the_file_says_otherwise(
    folder: ProjectFolder, environment: str, options: dict[str, Any], seconds: float
) -> None:
    folder.queues(**options)

    assert folder.load({}, environment=environment).host.queues.max_polling_interval_s == seconds


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("batchSize", 33, "a whole number from 1 to 32, not 33"),
        ("batchSize", 0, "not 0"),
        ("batchSize", 1.5, "not 1.5"),
        ("batchSize", "many", 'not "many"'),
        ("batchSize", None, "not null"),
        ("batchSize", True, "not true"),
        ("batchSize", [1], "not an array"),
        ("newBatchThreshold", -1, "a whole number of at least 0, not -1"),
        ("maxDequeueCount", 0, "a whole number of at least 1, not 0"),
        ("messageEncoding", "bas64", 'one of "base64", "none", not "bas64"'),
        ("messageEncoding", "auto", 'not "auto"'),
        ("maxPollingInterval", "00:00:00.05", 'at least "00:00:00.1"'),
        ("maxPollingInterval", 50, 'at least "00:00:00.1"'),
        ("maxPollingInterval", "5s", '"5s" is no duration'),
        ("maxPollingInterval", True, "must be a duration"),
        ("maxPollingInterval", float("nan"), "must be a duration"),
        ("visibilityTimeout", "-00:00:01", "must be a duration"),
        ("visibilityTimeout", "7.00:00:01", 'to "7.00:00:00"'),
        ("visibilityTimeout", 30, "not the number 30"),
    ],
)
def test_a_value_out_of_range_is_an_error_with_the_range(
    folder: ProjectFolder, key: str, value: Any, said: str
) -> None:
    folder.queues(**{key: value})

    project = folder.load({})

    (problem,) = errors(project)
    assert project.blocked
    assert f"extensions.queues.{key}" in problem.message
    assert said in problem.message
    assert (problem.file, problem.line) == ("host.json", 1)


def test_hints_give_the_right_spelling(folder: ProjectFolder) -> None:
    folder.queues(visibilityTimeout=30, messageEncoding="auto", maxPollingInterval="24:00:00")

    project = folder.load({})

    assert [problem.hint for problem in errors(project)] == [
        "auto stands under qtrigger.functions.<name>, for one function at a time",
        'write "00:00:30" if seconds are meant',
    ]
    assert warnings(project)[0].hint == 'write "1.00:00:00" if 24 hours are meant'


@pytest.mark.parametrize(
    ("value", "seconds", "said"),
    [
        (5000, 5.0, "taken as 5000 milliseconds, where Azure reads it as days"),
        ("5000", 5000 * DAY, '"5000" counts days'),
        ("30", 30 * DAY, '"30" counts days'),
        ("24:00:00", 24 * DAY, "means 24 days"),
    ],
)
def test_a_duration_that_may_not_be_meant_is_taken_with_a_warning(
    folder: ProjectFolder, value: Any, seconds: float, said: str
) -> None:
    folder.queues(maxPollingInterval=value)

    project = folder.load({})

    assert project.host.queues.max_polling_interval_s == seconds
    assert said in warnings(project)[0].message


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("00:05:00", 300.0),
        ("1.00:00:00", DAY),
        ("-1", None),
        ("-1.00:00:00", None),
        (-1, None),
        (None, 1800.0),
        ("24:00:00", 24 * DAY),
        ("25:00:00", 25 * DAY),
        ("5", 5 * DAY),
        ("00:00:01", 1.0),
    ],
)
def test_the_function_timeout_means_what_it_means_on_azure(
    folder: ProjectFolder, value: Any, seconds: float | None
) -> None:
    folder.host(functionTimeout=value)

    project = folder.load({})

    assert errors(project) == []
    assert project.host.function_timeout_s == seconds


@pytest.mark.parametrize("value", ["00:00:00", "00:00:00.5", "Unlimited", 5, "-00:00:01", -2])
def test_another_function_timeout_is_an_error(folder: ProjectFolder, value: Any) -> None:
    folder.host(functionTimeout=value)

    (problem,) = errors(folder.load({}))

    assert "functionTimeout" in problem.message
    assert '"-1"' in problem.message + problem.hint


def test_without_a_function_timeout_it_is_half_an_hour(folder: ProjectFolder) -> None:
    assert folder.load({}).host.function_timeout_s == 1800.0


@pytest.mark.parametrize(
    ("key", "place", "nesting"),
    [
        ("queues", "extensions.queues", '"extensions": { "queues": … }'),
        ("http", "extensions.http", '"extensions": { "http": … }'),
        ("batchSize", "extensions.queues.batchSize", '"queues": { "batchSize": … }'),
        ("lease", "qtrigger.lease", '"qtrigger": { "lease": … }'),
    ],
)
def test_a_key_in_the_wrong_place_is_told_with_the_right_nesting(
    folder: ProjectFolder, key: str, place: str, nesting: str
) -> None:
    folder.write("host.json", f'{{"version": "2.0",\n "{key}": {{"batchSize": 1}}}}')

    project = folder.load({})

    (problem,) = warnings(project)
    assert f"its place is {place}" in problem.message
    assert nesting in problem.hint
    assert (problem.line, problem.column) == (2, 2)
    assert project.host.queues.batch_size == 16


@pytest.mark.parametrize(
    ("keys", "near"),
    [
        ({"functionTimout": "00:01:00"}, "functionTimeout"),
        ({"extensions": {"queue": {}}}, "queues"),
        ({"extensions": {"queues": {"batchsizee": 1}}}, "batchSize"),
        ({"qtrigger": {"leese": "00:01:00"}}, "lease"),
        ({"qtrigger": {"functions": {"f": {"batchSze": 1}}}}, "batchSize"),
    ],
)
def test_an_unknown_key_is_told_with_the_nearest_known_one(
    folder: ProjectFolder, keys: dict[str, Any], near: str
) -> None:
    folder.function("f")
    folder.host(**keys)

    project = folder.load()

    assert [problem.hint for problem in warnings(project)] == [f'did you mean "{near}"?']


def test_what_is_azures_alone_is_known_and_ignored(folder: ProjectFolder) -> None:
    folder.host(
        extensionBundle={"id": "x", "version": "[4.*, 5.0.0)"},
        extensions={"http": {"routePrefix": ""}, "somebodys": {"batchSize": 1}},
        logging={"applicationInsights": {"samplingSettings": {"isEnabled": True}}},
        healthMonitor={},
        singleton={},
        concurrency={"dynamicConcurrencyEnabled": False},
        telemetryMode="OpenTelemetry",
        customHandler={"description": {}},
    )

    assert folder.load({}).problems == ()


def test_keys_are_known_in_any_case(folder: ProjectFolder) -> None:
    folder.host(Extensions={"QUEUES": {"batchsize": 4, "BATCHSIZEE": 1}})

    project = folder.load({})

    assert project.host.queues.batch_size == 4
    assert len(project.problems) == 1


def test_two_spellings_of_one_key_are_told_and_the_last_counts(folder: ProjectFolder) -> None:
    folder.queues(batchSize=4, BATCHSIZE=5)

    project = folder.load({})

    assert project.host.queues.batch_size == 5
    assert "stands here twice" in warnings(project)[0].message


def test_a_number_in_quotes_is_taken_with_a_word(folder: ProjectFolder) -> None:
    folder.queues(batchSize="16", maxDequeueCount=" 7 ", newBatchThreshold=4.0)

    project = folder.load({})

    assert project.host.queues.batch_size == 16
    assert project.host.queues.max_dequeue_count == 7
    assert project.host.queues.new_batch_threshold == 4
    assert [problem.hint for problem in warnings(project)] == ["leave the quotes away"] * 2


def test_our_own_section_is_read(folder: ProjectFolder) -> None:
    folder.host(qtrigger={"shutdownTimeout": "00:01:00", "lease": "00:05:00", "outputs": "Exact"})

    host = folder.load({}).host

    assert (host.shutdown_timeout_s, host.lease_s, host.output_mode) == (60.0, 300.0, "exact")


@pytest.mark.parametrize(
    ("key", "value"),
    [("lease", "00:00:01"), ("lease", "8.00:00:00"), ("shutdownTimeout", 30), ("outputs", "all")],
)
def test_our_own_section_has_limits_too(folder: ProjectFolder, key: str, value: Any) -> None:
    folder.host(qtrigger={key: value})

    assert f"qtrigger.{key}" in errors(folder.load({}))[0].message


def test_a_functions_own_options_come_before_those_for_all(folder: ProjectFolder) -> None:
    folder.function("a")
    folder.function("b")
    folder.host(
        extensions={"queues": {"batchSize": 8, "maxDequeueCount": 3}},
        qtrigger={
            "functions": {
                "A": {
                    "batchSize": 1,
                    "visibilityTimeout": "00:00:07",
                    "maxPollingInterval": "00:00:03",
                    "messageEncoding": "auto",
                    "outputs": "exact",
                }
            }
        },
    )

    first, second = folder.load().functions

    assert (first.options.batch_size, first.options.new_batch_threshold) == (1, 0)
    assert (first.options.visibility_timeout_s, first.options.max_polling_interval_s) == (7.0, 3.0)
    assert (first.options.max_dequeue_count, first.options.message_encoding) == (3, "auto")
    assert (first.output_mode, second.output_mode) == ("exact", "azure")
    assert (second.options.batch_size, second.options.new_batch_threshold) == (8, 4)


def test_a_functions_own_batch_size_brings_its_own_threshold(folder: ProjectFolder) -> None:
    folder.function("a")
    folder.host(
        extensions={"queues": {"batchSize": 32, "newBatchThreshold": 20}},
        qtrigger={"functions": {"a": {"batchSize": 1}}},
    )

    project = folder.load()

    assert project.functions[0].options.new_batch_threshold == 0
    assert project.host.queues.new_batch_threshold == 20


def test_a_fault_in_a_functions_options_stops_that_function_alone(folder: ProjectFolder) -> None:
    folder.function("a")
    folder.function("b")
    folder.host(qtrigger={"functions": {"A": {"batchSize": 99, "visibilityTimeout": "5m"}}})

    project = folder.load()

    assert [function.name for function in project.functions] == ["b"]
    assert project.failed == ("a",)
    problem, _ = errors(project)
    assert (problem.function, problem.file) == ("a", "host.json")
    assert ("qtrigger.functions.A.batchSize", "99") in {
        (one.key, one.value) for one in project.effective
    }
    assert "qtrigger.functions.A.batchSize must be a whole number from 1 to 32" in problem.message


def test_options_for_no_function_are_told(folder: ProjectFolder) -> None:
    folder.function("resize")
    folder.host(qtrigger={"functions": {"resise": {"batchSize": 1}}})

    (problem,) = warnings(folder.load())

    assert problem.hint == 'did you mean "resize"?'


def test_log_levels_and_watched_names_are_read(folder: ProjectFolder) -> None:
    folder.host(
        logging={"logLevel": {"default": "debug", "Function.resize": "Warning"}},
        watchDirectories=["shared"],
        watchFiles=["settings.ini"],
    )

    host = folder.load({}).host

    assert host.log_levels == {"default": "Debug", "Function.resize": "Warning"}
    assert host.watch_directories == ("node_modules", "shared")
    assert host.watch_files == ("host.json", "function.json", "proxies.json", "settings.ini")


def test_an_unknown_log_level_is_an_error(folder: ProjectFolder) -> None:
    folder.host(logging={"logLevel": {"default": "Verbose"}})

    assert "logging.logLevel.default must be one of" in errors(folder.load({}))[0].message


def test_dynamic_concurrency_is_told_not_to_be_supported(folder: ProjectFolder) -> None:
    folder.host(concurrency={"dynamicConcurrencyEnabled": True})

    assert "not supported" in warnings(folder.load({}))[0].message


def test_every_option_shows_its_value_and_origin(folder: ProjectFolder) -> None:
    folder.write(
        "host.json",
        '{"version": "2.0", "functionTimeout": "-1",\n "extensions": {"queues": {\n'
        '"batchSize": 4, "maxPollingInterval": 5000}}}',
    )

    project = folder.load(
        {"AzureFunctionsJobHost__extensions__queues__maxDequeueCount": "9"},
        environment="Production",
    )

    shown = {one.key: (one.value, one.origin) for one in project.effective}
    assert shown["functionTimeout"] == ("no limit", "host.json:1")
    assert shown["extensions.queues.batchSize"] == ("4", "host.json:3")
    assert shown["extensions.queues.newBatchThreshold"] == ("2", "default")
    assert shown["extensions.queues.maxPollingInterval"] == ("00:00:05", "host.json:3")
    assert shown["extensions.queues.visibilityTimeout"] == ("00:00:00", "default")
    assert shown["extensions.queues.maxDequeueCount"] == ("9", "environment")
    assert shown["qtrigger.lease"] == ("00:10:00", "default")
