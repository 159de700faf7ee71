"""Storage connection strings are read kindly, and no error shows a part of one."""

from __future__ import annotations

import pytest

from qtrigger.project.connection_string import ConnectionStringError, parse
from qtrigger.queues.account import EMULATOR_KEY, Account, Sas, SharedKey
from tests.unit.project.folder import CONNECTION, KEY

SIGNATURE = "sv=2024-01-01&ss=q&srt=sco&sp=rap&sig=c2lnbmF0dXJl%3D"
ELSEWHERE = "http://azurite:10001/devstoreaccount1"
EMULATOR = "http://127.0.0.1:10001/devstoreaccount1"


def account(text: str) -> Account:
    return parse(text)[0]


@pytest.mark.parametrize(
    "text",
    [
        CONNECTION,
        f"{CONNECTION};",
        f"  {CONNECTION} ; \n",
        CONNECTION.replace(";", "; "),
        CONNECTION.replace("AccountKey", "accountkey").replace("AccountName", "ACCOUNTNAME"),
        CONNECTION.replace("DefaultEndpointsProtocol=https;", ""),
        f"{CONNECTION};EndpointSuffix=core.windows.net",
        f"{CONNECTION};QueueEndpoint=https://acme.queue.core.windows.net",
        f"{CONNECTION};QueueEndpoint=https://acme.queue.core.windows.net/",
        f"{CONNECTION};BlobEndpoint=https://acme.blob.core.windows.net/;Unknown=1",
        f"{CONNECTION};AccountName=acme",
    ],
)
def test_one_account_may_be_written_in_many_ways(text: str) -> None:
    assert account(text) == Account(
        name="acme",
        endpoint="https://acme.queue.core.windows.net",
        credential=SharedKey(account="acme", key=KEY),
    )


def test_quotes_around_the_whole_are_taken_off_with_a_word() -> None:
    found, warning = parse(f'"{CONNECTION}"')

    assert found == account(CONNECTION)
    assert "quotes" in warning
    assert parse(CONNECTION)[1] == ""


@pytest.mark.parametrize(
    ("suffix", "endpoint"),
    [
        ("core.chinacloudapi.cn", "https://acme.queue.core.chinacloudapi.cn"),
        (".core.usgovcloudapi.net", "https://acme.queue.core.usgovcloudapi.net"),
    ],
)
def test_the_suffix_names_the_cloud(suffix: str, endpoint: str) -> None:
    assert account(f"{CONNECTION};EndpointSuffix={suffix}").endpoint == endpoint


@pytest.mark.parametrize("signature", [SIGNATURE, f"?{SIGNATURE}"])
def test_a_sas_is_taken_with_or_without_question_mark(signature: str) -> None:
    found = account(
        f"QueueEndpoint=https://acme.queue.core.windows.net/;SharedAccessSignature={signature}"
    )

    assert found.credential == Sas(token=SIGNATURE)
    assert found.name == "acme"


@pytest.mark.parametrize(
    "text",
    [
        "UseDevelopmentStorage=true",
        "usedevelopmentstorage=TRUE;",
        f"AccountName=devstoreaccount1;AccountKey={EMULATOR_KEY};QueueEndpoint={EMULATOR};",
        "UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://127.0.0.1",
    ],
)
def test_the_emulator_on_this_machine_is_known_as_such(text: str) -> None:
    assert account(text) == Account(
        name="devstoreaccount1",
        endpoint=EMULATOR,
        credential=SharedKey(account="devstoreaccount1", key=EMULATOR_KEY),
        emulator=True,
    )


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        (
            "UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://azurite",
            "http://azurite:10001/devstoreaccount1",
        ),
        (
            "UseDevelopmentStorage=true;DevelopmentStorageProxyUri=https://azurite:9999/",
            "https://azurite:10001/devstoreaccount1",
        ),
        (
            f"AccountName=devstoreaccount1;AccountKey={KEY};QueueEndpoint={ELSEWHERE}",
            "http://azurite:10001/devstoreaccount1",
        ),
    ],
)
def test_an_emulator_elsewhere_is_never_started_here(text: str, endpoint: str) -> None:
    found = account(text)

    assert found.endpoint == endpoint
    assert found.name == "devstoreaccount1"
    assert not found.emulator


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (KEY, "holds none of the names"),
        ("hello", "part 1 has no NAME=VALUE form"),
        (f"AccountName=acme;{KEY[:20]}", "part 2 has no NAME=VALUE form"),
        ("AccountName=acme", "has no AccountKey or SharedAccessSignature; it has AccountName"),
        (f"AccountKey={KEY}", "has no AccountName or QueueEndpoint; it has AccountKey"),
        ("AccountName=acme;AccountKey=%%%secret%%%", "AccountKey is no base64 text"),
        (f"AccountName=acme;AccountKey={KEY[:-1]}", "AccountKey is no base64 text"),
        (f"AccountName=Ac_me;AccountKey={KEY}", "3 to 24 small letters and digits"),
        (f"{CONNECTION};AccountKey=AAAA", "twice, with two values"),
        (
            f"AccountKey={KEY};QueueEndpoint=https://acme.queue.core.windows.net",
            "has no AccountName; it has AccountKey, QueueEndpoint",
        ),
        (
            "UseDevelopmentStorage=true;DevelopmentStorageProxyUri=azurite",
            "DevelopmentStorageProxyUri: the address has no scheme",
        ),
        ("UseDevelopmentStorage=false", "can only be true"),
        (f"{CONNECTION};QueueEndpoint=acme.queue.core.windows.net", "has no scheme"),
        (f"DefaultEndpointsProtocol=ftp;AccountName=acme;AccountKey={KEY}", "https or http"),
        (f"DefaultEndpointsProtocol=http;AccountName=acme;AccountKey={KEY}", "without TLS"),
        ("QueueEndpoint=https://a.b/;SharedAccessSignature=sv=1", "no sig="),
        ("QueueEndpoint=https://a.b/;SharedAccessSignature=sv=1&sig=a\nb", "no address can have"),
        ("QueueEndpoint=https://a.b/;SharedAccessSignature=sv=1&sig=\u20ac", "no address can have"),
        ("https://acme.queue.core.windows.net", "holds an address"),
        (f"https://acme.queue.core.windows.net/?{SIGNATURE}", "holds an address"),
        (
            f"Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=r;SharedAccessKey={KEY}",
            "of another service",
        ),
    ],
)
def test_what_is_no_storage_connection_string_is_refused_without_showing_it(
    text: str, said: str
) -> None:
    with pytest.raises(ConnectionStringError, match=said) as caught:
        parse(text)

    shown = f"{caught.value} {caught.value.hint}"
    for secret in (KEY, KEY[:20], "secret%", "c2lnbmF0dXJl"):
        assert secret not in shown


def test_a_misspelt_name_is_told() -> None:
    with pytest.raises(ConnectionStringError) as caught:
        parse(f"AcountName=acme;AccountKey={KEY}")

    assert caught.value.hint == '"acountname" is spelt AccountName'
