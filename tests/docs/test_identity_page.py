"""Each group of settings in the page about identities is the identity that the page says."""

from __future__ import annotations

import re

from qtrigger.project.connections import resolve
from qtrigger.project.findings import Findings
from qtrigger.project.settings import layered
from qtrigger.queues.account import Identity
from tests.docs.blocks import DOCS, blocks

PAGE = DOCS / "how-to" / "managed-identity.md"
OF_THE_PLATFORM = {
    "AZURE_CLIENT_ID": "c",
    "AZURE_TENANT_ID": "t",
    "AZURE_FEDERATED_TOKEN_FILE": "/var/run/secrets/token",
}


def test_each_group_of_settings_is_the_identity_that_the_page_says() -> None:
    kinds = []
    for block in blocks(PAGE):
        given = dict(re.findall(r'^export (\w+)="?([^"\n]+)"?$', block.text, re.MULTILINE))
        connection = resolve("Orders", layered({**OF_THE_PLATFORM, **given}, (), Findings()))
        assert isinstance(connection.account.credential, Identity)
        assert connection.account.endpoint == "https://shop.queue.core.windows.net"
        assert connection.warnings == ()
        kinds.append(connection.account.credential.kind)

    assert kinds == ["managedidentity", "workloadidentity", "clientsecret"]
