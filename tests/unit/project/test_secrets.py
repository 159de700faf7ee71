"""What opens an account is known as such, wherever it stands in a project."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from qtrigger.project.model import HostConfig, Project
from qtrigger.project.secrets import secrets_of
from qtrigger.queues.account import Account, Credential, Identity, Sas, SharedKey
from tests.unit.harness import definition


def project(credential: Credential, **settings: str) -> Project:
    function = definition("charge", "orders")
    account = Account(name="acme", endpoint="https://acme", credential=credential)
    return Project(
        root=Path("/nowhere"),
        environment="Production",
        host=HostConfig(),
        settings=settings,
        functions=(replace(function, trigger=replace(function.trigger, account=account)),),
        failed=(),
        problems=(),
    )


def test_keys_and_signatures_are_found_in_settings_of_any_name() -> None:
    found = secrets_of(
        project(
            Sas(token=""),
            Blobs="DefaultEndpointsProtocol=https;AccountName=a;AccountKey=a2V5LW9uZQ==;X=y",
            Link="https://acme.queue.core.windows.net/q?sv=1&sig=c2ln%2Bbmature%3D&se=2",
            Plain="nothing",
        )
    )

    assert found == {"a2V5LW9uZQ==", "c2ln%2Bbmature%3D", "c2ln+bmature="}


def test_what_a_connection_signs_in_with_is_found() -> None:
    identity = Identity(kind="clientsecret", client_secret="hush", certificate_password="shh")

    assert secrets_of(project(SharedKey(account="a", key="a2V5"))) == {"a2V5"}
    assert secrets_of(project(Sas(token="sv=1&sig=abc"))) == {"abc"}
    assert secrets_of(project(identity)) == {"hush", "shh"}
