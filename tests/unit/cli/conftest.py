"""One account for the verbs' tests, and a desk on it for each of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.account import Account, account
from tests.unit.cli.desk import Desk


@pytest.fixture(scope="package")
def emulator() -> Iterator[Account]:
    with account() as there:
        yield there


@pytest.fixture
def desk(tmp_path: Path, emulator: Account) -> Desk:
    for name in emulator.service.names():
        emulator.service.remove(name)
    return Desk(tmp_path, emulator)
