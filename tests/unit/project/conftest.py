"""Fixtures of the project's tests."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import configuration

from tests.unit.project.folder import ProjectFolder

# Hypothesis keeps its notes in the working directory by default, where collection meets them.
configuration.set_hypothesis_home_dir(Path(tempfile.gettempdir(), "qtrigger-hypothesis"))


@pytest.fixture
def folder(tmp_path: Path) -> ProjectFolder:
    """An empty project with a plain host.json."""
    return ProjectFolder(tmp_path)
