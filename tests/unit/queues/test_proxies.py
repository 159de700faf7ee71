"""Which proxy the environment names for an address."""

from __future__ import annotations

import pytest

from qtrigger.queues.reach import proxy_for

AZURE = "https://acme.queue.core.windows.net"


@pytest.mark.parametrize(
    ("origin", "environment", "proxy"),
    [
        (AZURE, {}, None),
        (AZURE, {"https_proxy": "http://p:3128"}, "http://p:3128"),
        (AZURE, {"HTTPS_PROXY": "http://p:3128"}, "http://p:3128"),
        (AZURE, {"https_proxy": "http://small", "HTTPS_PROXY": "http://capital"}, "http://small"),
        (AZURE, {"https_proxy": "p:3128"}, "http://p:3128"),
        (AZURE, {"https_proxy": ""}, None),
        (AZURE, {"http_proxy": "http://p"}, None),
        (AZURE, {"all_proxy": "http://p"}, "http://p"),
        (AZURE, {"https_proxy": "http://p", "no_proxy": "*"}, None),
        (AZURE, {"https_proxy": "http://p", "NO_PROXY": "example.org, .windows.net"}, None),
        (AZURE, {"https_proxy": "http://p", "no_proxy": "acme.queue.core.windows.net"}, None),
        (AZURE, {"https_proxy": "http://p", "no_proxy": "me.queue.core.windows.net"}, "http://p"),
        ("http://10.0.0.1:10001", {"http_proxy": "http://p"}, "http://p"),
        ("http://10.0.0.1:10001", {"http_proxy": "http://p", "no_proxy": "10.0.0.1:10001"}, None),
        ("http://127.0.0.1:10001", {"http_proxy": "http://p"}, None),
        ("http://localhost:10001", {"http_proxy": "http://p"}, None),
        ("http://[::1]:10001", {"all_proxy": "http://p"}, None),
    ],
)
def test_the_usual_variables_decide(
    origin: str, environment: dict[str, str], proxy: str | None
) -> None:
    assert proxy_for(origin, environment) == proxy
