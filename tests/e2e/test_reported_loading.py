"""What users ran into while functions are loaded: other packages than ours, one broken file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, running

VERSIONS = """
    import sys
    import aiohttp, azure.core, structlog
    def main(msg: str):
        versions = [module.__version__ for module in (aiohttp, azure.core, structlog)]
        note(" ".join([sys.prefix, *versions]))
"""


def make_environment(root: Path, **packages: str) -> Path:
    """A `.venv` that has packages of these names with nothing in them but their version."""
    environment = root / ".venv"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", environment], check=True, timeout=30
    )
    (packages_folder,) = environment.glob("lib/python*/site-packages")
    for name, version in packages.items():
        package = packages_folder.joinpath(*name.split("_"))
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(f"__version__ = {version!r}\n")
    return environment


async def test_the_projects_packages_and_ours_may_be_of_any_versions(
    folder: ProjectFolder, service: Service
) -> None:
    """Ours are at work in the same moment: on the queues, and in the log that structlog writes."""
    environment = make_environment(
        folder.root, aiohttp="0.1.old", azure_core="0.2.old", structlog="0.3.old"
    )
    folder.function("versions", VERSIONS)
    await service.put(folder.queue("versions"), ["x"])

    with running(folder, "--exit-when-idle", "1", "--log-format", "json") as host:
        assert host.wait() == 0

    assert folder.notes() == [f"{environment} 0.1.old 0.2.old 0.3.old"]
    assert await service.count(folder.queue("versions")) == 0
    assert any('"kind": "invocation.finished"' in line for line in host.lines), host.output
    assert ".venv in the project" in host.output


async def test_a_syntax_error_in_one_of_ten_functions_costs_its_messages_no_try(
    folder: ProjectFolder, service: Service
) -> None:
    names = [f"f{number}" for number in range(10)]
    for name in names:
        folder.function(name, f"def main(msg: str):\n    note('{name}')\n")
        await service.put(folder.queue(name), ["x"])
    broken = folder.root / "functions" / "f9" / "__init__.py"
    broken.write_text("def main(msg: str):\n    return ((1 +)\n")

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert sorted(folder.notes()) == names[:9]
    assert await service.dequeue_counts(folder.queue("f9")) == [0]
    assert await service.count(folder.queue("f9-poison")) == 0
    place = next(n for n, line in enumerate(host.lines) if "functions/f9/__init__.py:2: " in line)
    assert "SyntaxError" in host.lines[place]
    code = next(n for n, line in enumerate(host.lines) if line.strip() == "return ((1 +)")
    assert set(host.lines[code + 1].strip()) == {"^"}
