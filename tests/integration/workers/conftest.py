"""Fixtures of the worker tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.workers.support import Workshop


@pytest.fixture
async def workshop(tmp_path: Path) -> AsyncIterator[Workshop]:
    """Process workers for a project in a folder of its own."""
    shop = Workshop(root=tmp_path)
    yield shop
    await shop.close()
