"""What a figure was measured on: the machine and the versions."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from pathlib import Path

PACKAGES = (
    "qtrigger",
    "uvloop",
    "httptools",
    "aiohttp",
    "azure-storage-queue",
    "azure-core",
    "celery",
    "kombu",
    "dramatiq",
    "dramatiq-azure",
)


def described() -> str:
    """Processors, memory, kernel and Python, in a line."""
    processors = len(os.sched_getaffinity(0))
    return ", ".join(
        [
            f"{processors} processors ({_field('/proc/cpuinfo', 'model name')})",
            f"{_gib(_field('/proc/meminfo', 'MemTotal')):.0f} GiB",
            f"{platform.system()} {_number(platform.release())} {platform.machine()}",
            f"{platform.python_implementation()} {platform.python_version()}",
        ]
    )


def versions() -> str:
    """What of the packages is installed, in a line."""
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(found)


def work_ms() -> float:
    """How long a fixed piece of Python work takes, the best of five, in ms of CPU.

    Machines that others share are not equally fast at all times; this shows by how much.
    """
    return min(_work_ms() for _ in range(5))


def _work_ms() -> float:
    began = time.process_time()
    text = "".join(f"{number:x}" for number in range(100_000))
    assert len(text.split("f")) > 1
    return (time.process_time() - began) * 1000


def _field(file: str, name: str) -> str:
    for line in Path(file).read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return " ".join(value.split())
    return "unknown"


def _number(release: str) -> str:
    """A kernel's version without what its builder has added, which tells of one machine only."""
    return release.partition("-")[0]


def _gib(text: str) -> float:
    number = text.split(maxsplit=1)[0]
    return int(number) / 1024**2 if number.isdigit() else 0.0
