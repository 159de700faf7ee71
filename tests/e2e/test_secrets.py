"""No key, signature or secret in any output of any verb, at debug level and while all fails."""

from __future__ import annotations

import re
import signal

import pytest

from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, qtrigger, running

KEY = "c2VjcmV0LWtleS1vZi10aGUtYWNjb3VudC0wMTIzNDU2Nzg5QUJDREVGR0hJSktMTU5PUFFSU1RVVg=="
SIGNATURE = "c2lnbmF0dXJlLW9mLXRoZS1zYXMtMDEyMzQ1Njc4OQ"
SECRET = "Abc8Q~very-secret-client-secret-0123456789"
DEAD = "http://127.0.0.1:1/acme"
PLAIN = "def main(msg: str):\n    note(msg)\n"
SECRETS = (KEY, KEY[8:40], SIGNATURE, SECRET)

# What can be wrong with a connection, each with a secret in its settings.
CONNECTIONS = {
    "Refused": {"": f"QueueEndpoint={DEAD};AccountName=acme;AccountKey={KEY}"},
    "Glued": {"": f"QueueEndpoint=acme;AccountName=acme;AccountKey={KEY}"},
    "Cut": {"": f"AccountName=acme;AccountKey={KEY[:-3]}"},
    "Bare": {"": KEY},
    "Signed": {"": f"QueueEndpoint={DEAD};SharedAccessSignature=sv=1&sp=r&sig={SIGNATURE}%3D"},
    "Address": {"__queueServiceUri": f"https://acme.queue.core.windows.net/?sig={SIGNATURE}"},
    "App": {
        "__queueServiceUri": "https://127.0.0.1:1/acme",
        "__tenantId": "3f1c2b4a-0000-0000-0000-000000000000",
        "__clientId": "3f1c2b4a-0000-0000-0000-000000000001",
        "__clientSecret": SECRET,
    },
}


@pytest.fixture
def leaky(folder: ProjectFolder) -> ProjectFolder:
    """A project whose every connection fails, with the secrets in its environment."""
    folder.environ["AZURE_AUTHORITY_HOST"] = "https://127.0.0.1:1"
    # The real service refuses these two: a wrong key, and a signature that it does not know.
    endpoint = re.search("QueueEndpoint=([^;]+)", folder.connection)
    assert endpoint is not None
    refused = {
        "Wrong": {"": re.sub("AccountKey=[^;]+", f"AccountKey={KEY}", folder.connection)},
        "Forged": {"": f"{endpoint[0]};SharedAccessSignature=sv=1&sp=raup&sig={SIGNATURE}%3D"},
    }
    for name, keys in {**CONNECTIONS, **refused}.items():
        folder.function(name.lower(), PLAIN)
        path = folder.root / "functions" / name.lower() / "function.json"
        path.write_text(path.read_text().replace("AzureWebJobsStorage", name))
        folder.environ.update({f"{name}{key}": value for key, value in keys.items()})
    return folder


def assert_clean(text: str) -> None:
    assert text
    for secret in SECRETS:
        assert secret not in text
    assert "sig=" not in text


@pytest.mark.parametrize(
    "arguments",
    [
        ("check",),
        ("check", "--connect"),
        ("check", "--connect", "--format", "json"),
        ("check", "--connect", "--format", "github"),
        ("settings",),
        ("settings", "--format", "json"),
    ],
    ids=" ".join,
)
def test_no_verb_that_only_looks_shows_a_secret(
    leaky: ProjectFolder, arguments: tuple[str, ...]
) -> None:
    verb, *flags = arguments

    ended = qtrigger(verb, str(leaky.root), *flags, environ=leaky.environ)

    assert_clean(ended.stdout + ended.stderr)
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("log_format", ["plain", "json"])
def test_a_start_at_debug_level_shows_none_while_everything_fails(
    leaky: ProjectFolder, log_format: str
) -> None:
    with running(leaky, "--log-level", "debug", "--log-format", log_format) as host:
        for words in (
            "cannot connect to http://127.0.0.1:1/acme",
            "no token for the identity (clientsecret)",
            "the key is not one of account",
            "the SAS is not valid",
        ):
            host.wait_for(words)
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert_clean(host.output)


@pytest.mark.parametrize("named", [*CONNECTIONS, "Wrong", "Forged", "Nowhere"])
def test_a_send_that_fails_shows_none(leaky: ProjectFolder, named: str) -> None:
    ended = qtrigger(
        *("send", "orders", "x", "--connection", named, "--project", str(leaky.root)),
        environ=leaky.environ,
    )

    assert ended.returncode in {3, 4}
    assert_clean(ended.stderr)
    assert "Traceback" not in ended.stderr


def test_an_import_that_fails_shows_none(folder: ProjectFolder) -> None:
    folder.environ["APP_SECRET"] = SECRET
    folder.function("bad", "import os\nkey = os.environ['APP_SECRET']\nraise ValueError('no')\n")

    ended = qtrigger("check", str(folder.root), "--format", "json", environ=folder.environ)

    assert "ValueError: no" in ended.stdout
    assert_clean(ended.stdout + ended.stderr)


@pytest.mark.parametrize("output_format", ["text", "json"])
def test_an_invoke_whose_code_and_outputs_fail_shows_none(
    leaky: ProjectFolder, output_format: str
) -> None:
    leaky.function("bad", "def main(msg: str):\n    raise ValueError('no')\n")
    leaky.function("writes", "def main(msg: str) -> str:\n    return 'x'\n", out={"$return": "o"})
    path = leaky.root / "functions" / "writes" / "function.json"
    path.write_text(path.read_text().replace("AzureWebJobsStorage", "Forged"))

    for name, said in (("bad", "ValueError"), ("writes", "could not write to queue")):
        ended = qtrigger(
            *("invoke", name, "--write-outputs", "--format", output_format),
            *("--project", str(leaky.root)),
            environ=leaky.environ,
        )

        assert ended.returncode == 6
        assert said in ended.stdout + ended.stderr
        assert_clean(ended.stdout + ended.stderr)


async def test_no_line_passes_on_a_key_that_a_users_error_holds(
    folder: ProjectFolder, service: Service
) -> None:
    (key,) = re.findall("AccountKey=([^;]+)", folder.connection)
    folder.host_json({"maxDequeueCount": 1})
    folder.function(
        "charge",
        """
        import logging, os
        def main(msg):
            connection = os.environ["AzureWebJobsStorage"]
            logging.warning("connecting by %s", connection, extra={"at": connection})
            print(connection)
            raise ValueError(f"cannot connect by {connection}")
        """,
        queue="charges",
    )
    await service.put(folder.queue("charges"), ["one"])
    for form in ("json", "plain"):
        await service.put(folder.queue("charges"), ["one"])
        with running(folder, "--log-format", form) as host:
            host.wait_for("cannot connect by")
            host.wait_for("charges-poison")
            shown = qtrigger("status", str(folder.root), environ=folder.environ).stdout

        assert "AccountKey=(hidden)" in host.output
        assert "cannot connect by" in shown
        assert key not in host.output + shown
    for file in (folder.root / ".qtrigger").glob("journal*"):
        assert key.encode() not in file.read_bytes()


def test_no_line_passes_on_a_password_that_a_script_prints_while_it_is_listed(
    folder: ProjectFolder,
) -> None:
    folder.environ["SHOP_PASSWORD"] = SECRET
    (folder.root / "function_app.py").write_text(
        "import os\n"
        "import azure.functions as func\n"
        "app = func.FunctionApp()\n"
        "print('by', os.environ['SHOP_PASSWORD'])\n"
        "@app.queue_trigger(arg_name='msg', queue_name='"
        + folder.queue("charges")
        + "', connection='AzureWebJobsStorage')\n"
        "def charge(msg: func.QueueMessage):\n"
        "    pass\n"
    )

    with running(folder) as host:
        host.wait_for("by (hidden)")
        host.wait_for("ready")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert_clean(host.output)
