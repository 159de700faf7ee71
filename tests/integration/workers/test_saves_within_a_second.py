"""Code that is saved again within the second, at the same size."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = (
    "import sys; from qtrigger.workers.python.recent import keep_up; keep_up(sys.argv[1]); "
    "sys.path.append(sys.argv[1]); import shared; print(shared.VERSION)"
)


def imported(root: Path, program: str = PROGRAM) -> str:
    """What a new process sees."""
    environ = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", program, str(root)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=20.0, check=True, env=environ
    )
    return done.stdout.strip()


def save(root: Path, version: int, at: float) -> None:
    file = root / "shared.py"
    file.write_text(f"VERSION = {version}\n")
    os.utime(file, (at, at))


def test_the_second_save_is_run_and_not_the_byte_code_of_the_first(tmp_path: Path) -> None:
    second = float(int(time.time()))
    save(tmp_path, 1, second + 0.1)
    assert imported(tmp_path) == "1"
    save(tmp_path, 2, second + 0.9)

    assert imported(tmp_path) == "2"


def test_byte_code_is_kept_of_what_was_saved_long_ago(tmp_path: Path) -> None:
    save(tmp_path, 1, time.time() - 60.0)
    assert imported(tmp_path) == "1"

    assert list((tmp_path / "__pycache__").glob("shared.*.pyc"))
