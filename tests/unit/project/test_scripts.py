"""A function's code is in the file that function.json names, or that Azure's rule finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from qtrigger.project.scripts import ScriptError, primary_script
from tests.unit.project.folder import ProjectFolder, errors


def script(folder: Path, *names: str, declared: str | None = None) -> str:
    directory = folder / "resize"
    for name in ("function.json", *names):
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return primary_script(directory, declared).relative_to(folder).as_posix()


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("main.py",), "main.py"),
        (("__init__.py", "helper.py"), "__init__.py"),
        (("__init__.py", "run.py", "a.py"), "run.py"),
        (("__init__.py", "notes.txt", "sub/x.py"), "__init__.py"),
        (("whatever.py", "sub/x.py"), "whatever.py"),
    ],
)
def test_without_a_word_the_rule_finds_it(
    tmp_path: Path, names: tuple[str, ...], found: str
) -> None:
    assert script(tmp_path, *names) == f"resize/{found}"


@pytest.mark.parametrize(
    ("declared", "found"),
    [
        ("main.py", "resize/main.py"),
        ("./sub/x.py", "resize/sub/x.py"),
        ("../common/run.py", "common/run.py"),
    ],
)
def test_the_declared_file_is_taken(tmp_path: Path, declared: str, found: str) -> None:
    assert script(tmp_path, "main.py", "sub/x.py", "../common/run.py", declared=declared) == found


@pytest.mark.parametrize(
    ("names", "declared", "said"),
    [
        ((), None, "holds no script"),
        (("a.py", "b.py"), None, "cannot be told among a.py, b.py"),
        (("a.py", "b.py", "main.py"), None, "cannot be told"),
        (("index.js", "x.json"), None, "no Python file"),
        (("run.csx",), None, "no Python file"),
        (("a.py",), "b.py", "no file"),
        (("sub/a.py",), "sub", "no file"),
        (("a.py",), "", "scriptFile is empty"),
        (("a.py",), "a\0.py", "scriptFile is empty"),
    ],
)
def test_no_script_or_no_clear_one_is_an_error(
    tmp_path: Path, names: tuple[str, ...], declared: str | None, said: str
) -> None:
    with pytest.raises(ScriptError, match=said):
        script(tmp_path, *names, declared=declared)


def test_a_project_that_is_linked_to_keeps_the_path_it_was_given(
    folder: ProjectFolder, tmp_path: Path
) -> None:
    folder.function(scriptFile="../common/run.py")
    folder.write("functions/common/run.py", "")
    link = tmp_path / "current"
    link.symlink_to(folder.root, target_is_directory=True)

    function = ProjectFolder(link).one()

    assert function.script_file == link / "functions/common/run.py"


def test_the_error_stands_at_script_file(folder: ProjectFolder) -> None:
    folder.function("resize")
    folder.write(
        "functions/resize/function.json",
        '{"bindings": [{"type": "queueTrigger", "name": "m", "queueName": "orders",'
        '"direction": "in"}],\n "scriptFile": "..\\\\run.py"}',
    )

    (problem,) = errors(folder.load(), "resize")

    assert (problem.line, problem.column) == (2, 16)
    assert problem.hint == 'folders are separated by "/"'
