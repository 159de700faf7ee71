"""Fixtures of the conformance tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.project.folder import ProjectFolder


@pytest.fixture
def folder(tmp_path: Path) -> ProjectFolder:
    """An empty project with a plain host.json."""
    return ProjectFolder(tmp_path)
