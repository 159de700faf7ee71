"""What is built holds all of qtrigger and nothing else, and works where it is installed."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

from qtrigger import __version__
from tests.packaging.installed import REPOSITORY, build, install, run, use


def test_the_wheel_out_of_the_sdist_works_in_a_new_environment(tmp_path: Path) -> None:
    _, wheel = build(tmp_path / "dist")
    program = install(wheel, tmp_path / "environment", borrow=True)
    (tmp_path / "home").mkdir()

    version, _, checked, started = use(program, tmp_path / "home")

    assert version.startswith(f"qtrigger {__version__} (Python ")
    assert "0 errors" in checked
    assert "ready in" in started
    code = "import qtrigger; print(qtrigger.__file__)"
    where = run([str(program.with_name("python")), "-c", code], {}, tmp_path)
    assert where.startswith(str(tmp_path))


def test_the_archives_hold_all_of_it_and_a_description_that_can_be_shown(
    tmp_path: Path,
) -> None:
    sdist, wheel = build(tmp_path)

    said = run([sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel)])
    assert said.count("PASSED") == 2
    in_wheel = set(zipfile.ZipFile(wheel).namelist())
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}

    ours = {
        str(file.relative_to(REPOSITORY))
        for file in (REPOSITORY / "qtrigger").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert {"qtrigger/py.typed", "qtrigger/project/schemas/host.json"} <= ours
    assert {name for name in in_wheel if ".dist-info/" not in name} == ours
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in in_wheel)
    assert ours <= in_sdist
    assert {"README.md", "CHANGELOG.md", "LICENSE", "Makefile", "mkdocs.yml"} <= in_sdist
    assert {"docs/index.md", "docs/hooks.py", "tests/packaging/test_package.py"} <= in_sdist
