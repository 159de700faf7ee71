"""The schemas are valid, and the values' own defaults are the schemas'."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from qtrigger.project import durations, schemas
from qtrigger.project.model import HostConfig, QueueOptions

FILES = ("host.json", "function.json", "local.settings.json")
HOST = schemas.load("host.json")
KNOWN_ANNOTATIONS = {
    *("x-timespan", "x-number", "x-minimum", "x-maximum", "x-never", "x-ignore-case"),
    *("x-unknown", "x-moved", "x-exact", "x-case", "x-expected", "x-hints", "x-default"),
    *("x-development-default", "x-secret"),
}


def default(*path: str, environment: str = "") -> Any:
    return schemas.default(HOST, path, environment=environment)


def seconds(*path: str, environment: str = "") -> float | None:
    value = default(*path, environment=environment)
    return durations.read(value, schemas.at(HOST, path)).seconds


@pytest.mark.parametrize("name", FILES)
def test_a_schema_is_a_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(dict(schemas.load(name)))


@pytest.mark.parametrize("name", FILES)
def test_every_annotation_is_a_known_one(name: str) -> None:
    used = {key for node in _nodes(schemas.load(name)) for key in node if key.startswith("x-")}

    assert used <= KNOWN_ANNOTATIONS


@pytest.mark.parametrize("name", FILES)
def test_every_default_keeps_its_own_rules(name: str) -> None:
    for node in _nodes(schemas.load(name)):
        if "default" in node and "$ref" not in node:
            jsonschema.validate(node["default"], {key: node[key] for key in node})


def test_the_queue_options_defaults_are_the_schemas() -> None:
    queues = ("extensions", "queues")

    assert QueueOptions() == QueueOptions(
        batch_size=default(*queues, "batchSize"),
        new_batch_threshold=default(*queues, "batchSize") // 2,
        max_polling_interval_s=seconds(*queues, "maxPollingInterval") or -1,
        visibility_timeout_s=seconds(*queues, "visibilityTimeout") or 0,
        max_dequeue_count=default(*queues, "maxDequeueCount"),
        message_encoding=default(*queues, "messageEncoding"),
    )
    assert seconds(*queues, "maxPollingInterval", environment="Development") == 2.0


def test_the_hosts_defaults_are_the_schemas() -> None:
    assert HostConfig() == HostConfig(
        function_timeout_s=seconds("functionTimeout"),
        shutdown_timeout_s=seconds("qtrigger", "shutdownTimeout") or -1,
        lease_s=seconds("qtrigger", "lease") or -1,
        output_mode=default("qtrigger", "outputs"),
        watch_directories=tuple(default("watchDirectories")),
        watch_files=tuple(default("watchFiles")),
    )


def test_the_schemas_are_part_of_the_package() -> None:
    folder = Path(schemas.__file__).parent

    assert {path.name for path in folder.glob("*.json")} == set(FILES)
    for name in FILES:
        json.loads((folder / name).read_text(encoding="utf-8"))


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for part in node.values():
            yield from _nodes(part)
