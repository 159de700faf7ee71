"""What holds for every test."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir

# Outside the tree: pytest would walk into a folder of examples beside the tests.
set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "qtrigger-hypothesis")
settings.register_profile("qtrigger", deadline=None)
settings.load_profile("qtrigger")
