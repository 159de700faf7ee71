"""What opens an account is taken out of a text in every spelling, and little else is."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from qtrigger.hiding import HIDDEN, Hiding
from qtrigger.project.loader import load_project
from qtrigger.project.secrets import secrets_of
from tests.unit.project.folder import CONNECTION, KEY, TRIGGER, ProjectFolder

PASSWORD = 'p"ss/w\\rd+=ü'


@pytest.fixture
def hiding() -> Hiding:
    made = Hiding()
    made.learn([KEY, PASSWORD, "", "short"])
    return made


@pytest.mark.parametrize("secret", [KEY, PASSWORD])
def test_a_secret_is_taken_out_as_it_is_in_json_and_in_an_address(
    hiding: Hiding, secret: str
) -> None:
    for spelled in (secret, json.dumps({"a": secret}), quote(secret, safe="")):
        text = hiding.plain(f"before {spelled} after")

        assert HIDDEN in text
        assert secret not in text
        assert text.startswith("before ")
        assert text.endswith(" after")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a;AccountKey=abc+/=;b", "a;AccountKey=(hidden);b"),
        ("accountkey=abc", "accountkey=(hidden)"),
        ("?sv=1&sig=abc%3D&se=2", "?sv=1&sig=(hidden)&se=2"),
        ('{"c": "AccountKey=abc"}', '{"c": "AccountKey=(hidden)"}'),
        ("design=x, key=y", "design=x, key=y"),
        ("a short word", "a short word"),
        ("", ""),
    ],
)
def test_what_stands_where_a_key_does_is_taken_out_of_any_account(
    hiding: Hiding, text: str, plain: str
) -> None:
    assert hiding.plain(text) == plain


def test_old_secrets_are_known_after_a_reload(hiding: Hiding) -> None:
    hiding.learn(["another secret"])

    assert hiding.plain(f"{KEY} another secret") == f"{HIDDEN} {HIDDEN}"


def test_a_projects_secrets_are_keys_credentials_and_settings_that_are_called_so(
    tmp_path: Path,
) -> None:
    folder = ProjectFolder(tmp_path / "project")
    folder.function("charge", TRIGGER)
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    (credentials / "Anything").write_text("from a credential\n")
    environ = {
        "CREDENTIALS_DIRECTORY": str(credentials),
        "AzureWebJobsStorage": CONNECTION,
        "DB_PASSWORD": "of the database",
        "BankApiKey": "of the bank",
        "FUNCTIONS_WORKER_RUNTIME": "python",
        "PRIMARY_KEY_NAME": "customer id",
    }

    found = secrets_of(load_project(folder.root, environ, environment="Production"))

    assert {KEY, "from a credential", "of the database", "of the bank"} <= found
    assert not {"python", "customer id", str(credentials)} & found
