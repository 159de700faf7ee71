"""No key, signature or password is in any finding, text or representation."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from qtrigger.project.findings import looks_secret, shown
from tests.unit.project.folder import KEY, OUTPUT, TRIGGER, ProjectFolder

SIGNATURE = "c2lnbmF0dXJlLW9mLXRoZS1zYXM%3D"
PASSWORD = "Abc8Q~verysecretclientsecret0123456789xyz"
SECRETS = (KEY, KEY[5:40], SIGNATURE, PASSWORD)

KEYED = f"AccountName=acme;AccountKey={KEY}"
SIGNED = f"QueueEndpoint=https://acme.queue.core.windows.net;SharedAccessSignature=sig={SIGNATURE}"
BROKEN = (
    KEY,
    f"AccountKey={KEY}",
    f"AccountName=acme;AccountKey={KEY[:-3]}",
    f"AccountName=acme;{KEY}",
    f"AccountName={KEY};AccountKey={KEY}",
    f"{KEYED};AccountKey={KEY[4:]}",
    f"https://acme.queue.core.windows.net/?sig={SIGNATURE}",
    f"QueueEndpoint=https://acme/?sig={SIGNATURE};SharedAccessSignature=sig={SIGNATURE}",
    f"QueueEndpoint=acme;SharedAccessSignature={SIGNATURE}",
    f'"{KEYED}"',
    SIGNED,
    KEYED,
)


def everything(folder: ProjectFolder, environ: dict[str, str] | None = None) -> str:
    """All that a project could be made to show."""
    text = ""
    for environment in ("Development", "Production"):
        project = folder.load(environ or {}, environment=environment)
        text += repr(project)
        text += "".join(f"{problem} {problem!r}" for problem in project.problems)
        text += "".join(f"{value}" for value in project.effective)
    return text


def assert_clean(text: str) -> None:
    for secret in SECRETS:
        assert secret not in text


@pytest.mark.parametrize("value", BROKEN)
def test_a_connection_shows_nothing_wherever_it_stands(folder: ProjectFolder, value: str) -> None:
    folder.function("one", TRIGGER, {**OUTPUT, "connection": "Other"})
    folder.function("two", {**TRIGGER, "connection": value}, {**OUTPUT, "queueName": value})
    folder.function("three", {**TRIGGER, "queueName": value}, disabled=value, scriptFile=value)
    folder.function("four", {**TRIGGER, "queueName": "%AzureWebJobsStorage%"})
    folder.function("five", {**TRIGGER, "connection": "%AzureWebJobsStorage%"})
    folder.function("six", {**TRIGGER, "type": value}, {**OUTPUT, "name": value})
    folder.values(AzureWebJobsStorage=value, Other=value, AzureWebJobs_one_Disabled=value)

    assert_clean(everything(folder))
    assert_clean(everything(folder, {"AzureWebJobsStorage": value, "Other": f"{value};x=1"}))


@pytest.mark.parametrize(
    "keys",
    [
        {"clientSecret": PASSWORD, "tenantId": "t", "clientId": "c"},
        {"clientSecret": PASSWORD},
        {"clientCertificatePath": "/c", "clientCertificatePassword": PASSWORD},
        {"credential": PASSWORD},
        {"credential": "managedidentityasfederatedidentity", "azureCloud": PASSWORD},
        {"queueServiceUri": f"https://acme/?sig={SIGNATURE}"},
        {"queueServiceUri": f"https://u:{PASSWORD}@acme/"},
        {"queueServiceUri": SIGNATURE},
        {"accountName": PASSWORD},
        {"blobServiceUri": f"https://acme/?sig={SIGNATURE}"},
        {"connectionString": f"AccountKey={KEY}"},
    ],
)
def test_an_identitys_keys_show_nothing(folder: ProjectFolder, keys: dict[str, str]) -> None:
    folder.function()
    address = {"queueServiceUri": "https://acme.queue.core.windows.net"}
    environ = {f"AzureWebJobsStorage__{key}": value for key, value in {**address, **keys}.items()}
    only = {f"AzureWebJobsStorage__{key}": value for key, value in keys.items()}

    assert_clean(everything(folder, environ))
    assert_clean(everything(folder, only))


@pytest.mark.parametrize(
    "text",
    [
        f'{{"Values": {{"A": "{KEYED}" "B": 1}}}}',
        f'{{"Values": {{"A": {KEY}}}}}',
        f'{{"Values": "{KEYED}"}}',
        f'{{"IsEncrypted": "{PASSWORD}", "Values": {{"A": "x"}}}}',
        f'{{"IsEncrypted": false, "Values": {{"A": {{"x": "{KEY}"}}, "B": ["{KEY}"]}}}}',
        f'{{"IsEncrypted": true, "Values": {{"A": "{KEY}"}}}}',
        f'{{"Values": {{"A": "{KEY}\0"}}}}',
        f'"{KEYED}"',
        KEYED,
    ],
)
def test_a_broken_settings_file_shows_nothing(folder: ProjectFolder, text: str) -> None:
    folder.write("local.settings.json", text)
    folder.function()

    assert_clean(everything(folder, {"A": PASSWORD}))


@pytest.mark.parametrize("value", [KEYED, KEY, {"a": KEY}, [KEY]])
def test_host_json_shows_nothing_that_looks_secret(folder: ProjectFolder, value: Any) -> None:
    folder.function()
    folder.host(
        functionTimeout=value,
        functions=[value],
        extensions={"queues": {"batchSize": value, "messageEncoding": value}},
        qtrigger={"lease": value, "outputs": value, "functions": {"resize": {"outputs": value}}},
        logging={"logLevel": {"default": value}},
    )

    assert_clean(everything(folder))


@pytest.mark.parametrize(
    "keys",
    [
        {"qtrigger": {"functions": {"resize": {"outputs": KEY, "lease": KEY, KEY: KEY}}}},
        {KEYED: 1, "Version": KEY},
    ],
)
def test_host_json_shows_nothing_where_it_is_used_either(
    folder: ProjectFolder, keys: dict[str, Any]
) -> None:
    folder.function()
    folder.host(**keys)

    assert_clean(everything(folder, {"AzureWebJobsStorage": KEYED}))


def test_what_looks_secret_is_not_shown_and_names_are() -> None:
    assert "secret" in shown(KEYED)
    assert shown("orders") == '"orders"'
    assert shown({"a": KEY}) == "an object"
    assert looks_secret(base64.b64encode(bytes(range(64))).decode())
    assert not looks_secret("a-rather-long-queue-name-of-the-orders-department-1")
    assert not looks_secret("AzureWebJobsOrdersOfTheWholeDepartment")
    assert len(shown(json.dumps("x" * 500))) < 100
