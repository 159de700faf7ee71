"""Addresses of queue services."""

from __future__ import annotations

import pytest

from qtrigger.project.endpoints import EndpointError, endpoint, is_local, is_public, name_of


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://acme.queue.core.windows.net/", "https://acme.queue.core.windows.net"),
        ("http://127.0.0.1:10001/devstoreaccount1/", "http://127.0.0.1:10001/devstoreaccount1"),
        ("http://[::1]:10001/a", "http://[::1]:10001/a"),
        ("http://azurite:10001/a", "http://azurite:10001/a"),
        ("http://10.1.2.3/a", "http://10.1.2.3/a"),
        (" https://x.example ", "https://x.example"),
    ],
)
def test_an_address_is_taken_without_its_final_slash(text: str, address: str) -> None:
    assert endpoint(text) == address


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("acme.queue.core.windows.net", 'has no scheme: "acme.queue.core.windows.net"'),
        ("", "has no scheme"),
        ("ftp://x", "must begin with https"),
        ("https://", "no valid host name"),
        ("https://a b", "no valid host name"),
        ("https://[::1", "no valid address"),
        ("https://x:port", "no valid address"),
        ("https://x/?sig=abc", "only scheme, host and path"),
        ("https://user:pw@x/", "only scheme, host and path"),
        ("http://acme.queue.core.windows.net", "without TLS"),
        ("http://8.8.8.8/a", "without TLS"),
    ],
)
def test_an_unusable_address_is_refused(text: str, said: str) -> None:
    with pytest.raises(EndpointError, match=said) as caught:
        endpoint(text)

    assert "sig=abc" not in f"{caught.value} {caught.value.hint}"


def test_the_right_address_is_offered_for_one_without_scheme() -> None:
    with pytest.raises(EndpointError) as caught:
        endpoint("acme.queue.core.windows.net/")

    assert caught.value.hint == "write it as https://acme.queue.core.windows.net"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://acme.queue.core.windows.net", "acme"),
        ("http://127.0.0.1:10001/devstoreaccount1", "devstoreaccount1"),
        ("http://azurite:10001/local", "local"),
        ("http://10.0.0.1", "10.0.0.1"),
    ],
)
def test_the_accounts_name_is_seen_in_the_address(address: str, name: str) -> None:
    assert name_of(address) == name


def test_this_machine_and_the_internet_are_told_apart() -> None:
    assert is_local("http://localhost:1/")
    assert is_local("http://[::1]/")
    assert not is_local("http://10.0.0.1/")
    assert is_public("acme.queue.core.windows.net")
    assert is_public("8.8.8.8")
    assert not is_public("192.168.1.1")
    assert not is_public("storage.internal")
