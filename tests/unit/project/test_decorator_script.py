"""The script with decorators: its name, what it stands for, and what it leaves unread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qtrigger.project.definitions import Declaration, decorated
from qtrigger.project.loader import load_project
from qtrigger.project.model import Problem, Project, Severity
from tests.unit.project.folder import CONNECTION, TRIGGER, ProjectFolder

ENVIRON = {"AzureWebJobsStorage": CONNECTION}
NAME = "PYTHON_SCRIPT_FILE_NAME"


def declared(root: Path, name: str, line: int, **changes: Any) -> Declaration:
    return decorated(
        name=name,
        root=root,
        script=root / "function_app.py",
        line=line,
        entry_point=name,
        bindings=[{**TRIGGER, **changes}],
    )


def read(folder: ProjectFolder, *declarations: Declaration, **asked: Any) -> Project:
    return load_project(
        folder.root, ENVIRON, environment="Production", decorated=declarations, **asked
    )


@pytest.mark.parametrize("name", ["main.py", "my-app.py", "_app_2.py", "1.py"])
def test_the_script_may_have_these_names(folder: ProjectFolder, name: str) -> None:
    script = folder.write(name, "")

    project = folder.load({**ENVIRON, NAME: name})

    assert (project.decorator_script, project.blocked) == (script, False)


@pytest.mark.parametrize("name", ["a/b.py", "../a.py", "a.b.py", "a b.py", "a.PY", "a", "-a.py"])
def test_another_name_blocks_the_project(folder: ProjectFolder, name: str) -> None:
    folder.function("old")

    project = folder.load({**ENVIRON, NAME: name})

    assert (project.functions, project.blocked) == ((), True)
    (problem,) = [each for each in project.problems if each.severity is Severity.ERROR]
    assert problem.message == f'{NAME} is "{name}", which is no name of a script'
    assert "ends in .py" in problem.hint


def test_an_empty_name_is_the_usual_one_with_a_warning(folder: ProjectFolder) -> None:
    script = folder.write("function_app.py", "")

    project = folder.load({**ENVIRON, NAME: ""})

    assert project.decorator_script == script
    (problem,) = project.problems
    assert (problem.severity, problem.hint) == (Severity.WARNING, "Azure refuses an empty name")


def test_a_name_that_is_not_there_is_told_and_leaves_the_folders(folder: ProjectFolder) -> None:
    folder.write("function_app.py", "")
    folder.function("old")

    project = folder.load({**ENVIRON, NAME: "other.py"})

    assert project.decorator_script is None
    assert [each.name for each in project.functions] == ["old"]
    (problem,) = project.problems
    assert f'{NAME} names "other.py", which is not in' in problem.message


def test_names_that_differ_in_case_alone_clash_as_those_of_folders_do(
    folder: ProjectFolder,
) -> None:
    folder.write("function_app.py", "")
    root = folder.root

    project = read(
        folder, declared(root, "foo", 3), declared(root, "Foo", 6), declared(root, "x", 9)
    )

    assert [each.name for each in project.functions] == ["x"]
    assert project.failed == ("foo", "Foo")
    (problem,) = project.problems
    assert problem.place == "function_app.py:6:1"
    assert problem.message == (
        "a function of this name stands in function_app.py:3 already; neither is run"
    )
    assert "Azure" not in problem.hint


def test_two_of_one_name_clash_even_at_one_place(folder: ProjectFolder) -> None:
    folder.write("function_app.py", "")

    project = read(folder, *[declared(folder.root, "made", 3) for _ in range(2)])

    (problem,) = project.problems
    assert (project.failed, problem.place) == (("made",), "function_app.py:3:1")


def test_a_binding_is_called_by_its_name_since_decorators_have_no_numbers(
    folder: ProjectFolder,
) -> None:
    folder.write("function_app.py", "")

    (problem,) = read(folder, declared(folder.root, "f", 3, queueName="a_b")).problems

    assert problem.message.startswith('bindings["msg"].queueName "a_b"')


def test_a_function_of_another_file_has_its_folder_and_place(folder: ProjectFolder) -> None:
    script = folder.write("function_app.py", "")
    part = folder.write("parts/more.py", "")
    declaration = decorated(
        name="f",
        root=folder.root,
        script=script,
        line=4,
        entry_point="f",
        bindings=[TRIGGER],
        file=part,
    )

    (function,) = read(folder, declaration).functions

    assert (function.source, function.script_file) == ("parts/more.py", script)
    assert (function.directory, function.decorated) == (part.parent, True)


def test_a_script_that_cannot_be_used_stands_for_the_folders_all_the_same(
    folder: ProjectFolder,
) -> None:
    folder.write("function_app.py", "")
    folder.function("old")
    broken = Problem(severity=Severity.ERROR, message="broken", file="function_app.py", line=1)

    project = read(folder, only=["new"], script_problems=[broken])

    assert project.functions == ()
    first, second = project.problems
    assert first == broken
    assert 'the function "old" is not loaded' in second.message


def test_nobody_is_a_stranger_before_the_script_was_asked(folder: ProjectFolder) -> None:
    folder.write("function_app.py", "")
    folder.host(qtrigger={"functions": {"later": {"batchSize": 1}}})

    before = load_project(folder.root, ENVIRON, environment="Production")
    after = read(folder, declared(folder.root, "f", 3))

    assert before.problems == ()
    (problem,) = after.problems
    assert 'there is no function "later" to have these options' in problem.message
