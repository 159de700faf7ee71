"""A project folder and an environment make a project; one bad part never hides another."""

from __future__ import annotations

from pathlib import Path

import pytest

from qtrigger.errors import ProjectError
from qtrigger.project.definitions import decorated
from qtrigger.project.loader import load_project
from qtrigger.project.model import RetryPolicy
from tests.unit.project.folder import CONNECTION, OUTPUT, TRIGGER, ProjectFolder, errors, warnings

ENVIRON = {"AzureWebJobsStorage": CONNECTION}


def test_functions_are_found_in_both_places_sorted_without_case(folder: ProjectFolder) -> None:
    folder.function("Beta", where="functions")
    folder.function("alpha", where=".")
    folder.function("gamma", where="functions")

    project = folder.load()

    assert [function.name for function in project.functions] == ["alpha", "Beta", "gamma"]
    assert [function.source for function in project.functions] == [
        "alpha/function.json",
        "functions/Beta/function.json",
        "functions/gamma/function.json",
    ]
    assert project.problems == ()


def test_a_function_is_described_in_full(folder: ProjectFolder) -> None:
    folder.function("resize", TRIGGER, OUTPUT, entryPoint="run")

    function = folder.one()

    assert function.directory == folder.root / "functions/resize"
    assert function.script_file == folder.root / "functions/resize/__init__.py"
    assert function.entry_point == "run"
    assert function.bindings == (TRIGGER, OUTPUT)
    assert (function.output_mode, function.disabled, function.retry) == ("azure", "", None)


def test_a_folder_without_function_json_and_a_deeper_one_are_no_functions(
    folder: ProjectFolder,
) -> None:
    folder.write("shared/helper.py", "")
    folder.function("deep", where="functions/group")

    assert folder.load().functions == ()


def test_a_name_in_both_places_is_an_error_for_that_function_alone(folder: ProjectFolder) -> None:
    folder.function("resize", where=".")
    folder.function("Resize", where="functions")
    folder.function("other")

    project = folder.load()

    assert [function.name for function in project.functions] == ["other"]
    (problem,) = errors(project)
    assert problem.function.casefold() == "resize"
    places = f"{problem.file} {problem.message}"
    assert "functions/Resize/function.json" in places
    assert "resize/function.json" in places.replace("functions/Resize/function.json", "")


@pytest.mark.parametrize("name", ["1st", "a b", "host", "HOST", "ü", "a" * 129, "a.b"])
def test_a_folder_whose_name_is_no_function_name_is_in_error(
    folder: ProjectFolder, name: str
) -> None:
    folder.function(name)

    project = folder.load()

    assert project.failed == (name,)
    assert "no valid function name" in errors(project)[0].message


def test_a_bad_function_never_hides_another(folder: ProjectFolder) -> None:
    folder.function("good")
    folder.write("functions/a/function.json", b"\xff\xfe{\x00")
    folder.write("functions/b/function.json", "{ bindings: [ }")
    folder.write("c/function.json", {"bindings": [TRIGGER]})
    folder.write("d/function.json/x", "")

    project = folder.load()

    assert [function.name for function in project.functions] == ["good"]
    assert project.failed == ("a", "b", "c")
    assert all(problem.line for problem in errors(project))
    assert "UTF-16" in errors(project, "a")[0].message
    assert "no script" in errors(project, "c")[0].message


def test_an_unreadable_file_is_an_error_of_its_function(
    folder: ProjectFolder,
) -> None:
    folder.function("bad")
    folder.function("good")
    path = folder.root / "functions/bad/function.json"
    path.write_bytes(b" " * (1024 * 1024 + 1))

    project = folder.load()

    assert project.failed == ("bad",)
    assert "too large" in errors(project)[0].message


def test_a_folder_that_does_not_exist_is_no_project(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="cannot be read"):
        load_project(tmp_path / "nope", {}, environment="Production")


def test_a_file_is_no_project(tmp_path: Path) -> None:
    (tmp_path / "x").touch()

    with pytest.raises(ProjectError, match="cannot be read"):
        load_project(tmp_path / "x", {}, environment="Production")


def test_a_folder_with_nothing_of_a_project_is_none_and_a_near_one_is_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app/host.json").touch()

    with pytest.raises(ProjectError, match=r"no functions project.*there is one in .*app"):
        load_project(tmp_path, {}, environment="Production")


def test_a_host_json_alone_is_a_project_without_functions(folder: ProjectFolder) -> None:
    project = folder.load()

    assert (project.functions, project.failed, project.blocked) == ((), (), False)


def test_decorators_need_a_worker_to_tell_their_functions(folder: ProjectFolder) -> None:
    folder.write("function_app.py", "")
    (folder.root / "host.json").unlink()

    project = folder.load()

    assert project.decorator_script == folder.root / "function_app.py"
    assert project.functions == ()


def test_a_setting_names_another_file_for_decorators(folder: ProjectFolder) -> None:
    folder.write("main.py", "")

    project = folder.load({"PYTHON_SCRIPT_FILE_NAME": "main.py"})

    assert project.decorator_script == folder.root / "main.py"


def test_reported_decorators_pass_the_same_checks_and_replace_folders(
    folder: ProjectFolder,
) -> None:
    folder.function("old")
    script = folder.write("function_app.py", "")
    good = {"type": "queueTrigger", "direction": "IN", "name": "msg", "queueName": "Orders"}
    declared = [
        decorated(
            name=name,
            root=folder.root,
            script=script,
            line=line,
            entry_point=name,
            bindings=[binding],
            retry=None,
        )
        for name, line, binding in (
            ("resize", 7, {**good, "dataType": "BINARY"}),
            ("bad", 12, {**good, "queueName": "a_b"}),
            ("web", 20, {"type": "httpTrigger", "direction": "IN", "name": "req"}),
        )
    ]

    project = load_project(folder.root, ENVIRON, environment="Development", decorated=declared)

    (function,) = project.functions
    assert (function.name, function.entry_point) == ("resize", "resize")
    assert (function.source, function.script_file) == ("function_app.py", script)
    assert (function.trigger.queue, function.trigger.data_type) == ("orders", "binary")
    assert (project.failed, project.not_run) == (("bad",), {"web": "httpTrigger"})
    (problem,) = errors(project)
    assert (problem.file, problem.line) == ("function_app.py", 12)
    unread = [problem.file for problem in warnings(project) if "not loaded" in problem.message]
    assert unread == ["functions/old/function.json"]


def test_a_reported_retry_policy_is_read(folder: ProjectFolder) -> None:
    script = folder.write("function_app.py", "")
    declared = decorated(
        name="resize",
        root=folder.root,
        script=script,
        line=3,
        entry_point="resize",
        bindings=[TRIGGER],
        retry={"strategy": "fixedDelay", "maxRetryCount": "2", "delayInterval": "00:00:05"},
    )

    project = load_project(folder.root, ENVIRON, environment="Production", decorated=[declared])

    assert project.functions[0].retry == RetryPolicy(
        strategy="fixedDelay", max_retries=2, minimum_s=5.0, maximum_s=5.0
    )


def test_workers_get_the_environment_with_the_local_settings(folder: ProjectFolder) -> None:
    folder.values(A="file", B="file")

    project = folder.load({"A": "outside", "PATH": "/bin"})

    assert project.settings == {
        "A": "outside",
        "B": "file",
        "PATH": "/bin",
        "AZURE_FUNCTIONS_ENVIRONMENT": "Development",
    }


def test_another_language_is_told(folder: ProjectFolder) -> None:
    folder.function()

    project = folder.load({**ENVIRON, "FUNCTIONS_WORKER_RUNTIME": "node"})

    assert 'FUNCTIONS_WORKER_RUNTIME is "node"' in warnings(project)[0].message


def test_no_connection_is_needed_that_no_function_names(folder: ProjectFolder) -> None:
    folder.function("resize", {**TRIGGER, "connection": "Mine"})

    project = folder.load({"Mine": CONNECTION})

    assert len(project.functions) == 1
    assert project.problems == ()
