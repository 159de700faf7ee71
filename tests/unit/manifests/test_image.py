"""The image: what is in it, who runs it, and what never gets into it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from dockerfile_parse import DockerfileParser
from pathspec import GitIgnoreSpec

from qtrigger.manifests.image import ImageOptions, dockerfile, dockerignore


def parsed(tmp_path: Path, **changed: object) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile with these options, in their order."""
    given = {
        "python": "3.12",
        "package": "qtrigger==1.2",
        "requirements": ("requirements.txt",),
        "wheels": False,
        "grace_s": 45,
        **changed,
    }
    text = dockerfile(ImageOptions(**given))  # type: ignore[arg-type]
    parser = DockerfileParser(str(tmp_path / "Dockerfile"), env_replace=False)
    parser.content = text
    return [
        (each["instruction"], each["value"])
        for each in parser.structure
        if each["instruction"] != "COMMENT"
    ]


def final(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The instructions of the last stage."""
    begin = max(number for number, (name, _) in enumerate(found) if name == "FROM")
    return found[begin:]


def test_two_stages_of_a_slim_base_and_the_second_takes_only_what_runs(tmp_path: Path) -> None:
    found = parsed(tmp_path, python="3.11")

    assert [value for name, value in found if name == "FROM"] == [
        "python:3.11-slim AS build",
        "python:3.11-slim",
    ]
    assert [value for name, value in final(found) if name == "COPY"] == [
        f"--from=build {each} {each}" for each in ("/opt/qtrigger", "/opt/project", "/app")
    ]


def test_it_runs_as_a_number_that_is_not_root_and_as_the_first_process(tmp_path: Path) -> None:
    last = dict(final(parsed(tmp_path)))

    assert last["USER"] == "10001:10001"
    # The exec form: no shell stands between a signal and the host.
    assert json.loads(last["ENTRYPOINT"]) == ["qtrigger"]
    assert json.loads(last["CMD"]) == ["start", "/app"]
    assert json.loads(last["HEALTHCHECK"].partition(" CMD ")[2]) == [
        "qtrigger",
        "status",
        "--check",
    ]
    assert last["STOPSIGNAL"] == "SIGTERM"


def test_the_state_folder_is_the_one_place_that_is_written_to(tmp_path: Path) -> None:
    last = dict(final(parsed(tmp_path)))

    assert json.loads(last["VOLUME"]) == ["/var/lib/qtrigger"]
    assert "QTRIGGER_STATE=/var/lib/qtrigger" in last["ENV"]
    assert "PYTHONDONTWRITEBYTECODE=1" in last["ENV"]
    assert "AZURE_FUNCTIONS_ENVIRONMENT=Production" in last["ENV"]
    assert "PYTHONUNBUFFERED=1" in last["ENV"]


def test_the_bytes_are_compiled_so_that_times_of_files_do_not_matter(tmp_path: Path) -> None:
    (compiled,) = (value for name, value in parsed(tmp_path) if "compileall" in value)

    assert "--invalidation-mode checked-hash" in compiled


def test_secrets_leave_the_code_even_where_no_dockerignore_kept_them_out(tmp_path: Path) -> None:
    (removing,) = (value for name, value in parsed(tmp_path) if "rm -rf" in value)
    app = tmp_path / "app"
    gone = ["local.settings.json", "sub/local.settings.json", ".git/config", "sub/.git/config"]
    gone += [".venv/bin/python", "deploy/secret.yaml", ".qtrigger/journal", "wheels/a.whl"]
    for name in [*gone, "sub/__init__.py", "function_app.py"]:
        (app / name).parent.mkdir(parents=True, exist_ok=True)
        (app / name).touch()

    subprocess.run(["sh", "-ec", removing.replace("/app", str(app))], check=True, timeout=30)

    assert not [name for name in gone if (app / name).exists()]
    assert (app / "function_app.py").exists()
    assert (app / "sub" / "__init__.py").exists()


def test_requirements_are_installed_before_the_code_is_copied(tmp_path: Path) -> None:
    values = [
        f"{name} {value}"
        for name, value in parsed(tmp_path, requirements=("requirements.txt", "more/base.txt"))
    ]
    code = values.index("COPY . /app")
    installed = next(n for n, each in enumerate(values) if "--requirement" in each)

    assert values.index("COPY more/base.txt /requirements/more/base.txt") < installed < code
    assert any("defaultExecutablePath=/opt/project/bin/python" in each for each in values)


def test_a_project_without_requirements_runs_in_qtriggers_own_environment(tmp_path: Path) -> None:
    text = " ".join(value for _, value in parsed(tmp_path, requirements=()))

    assert "/opt/project" not in text


def test_wheels_of_the_project_are_found_before_the_index(tmp_path: Path) -> None:
    values = [value for _, value in parsed(tmp_path, wheels=True)]

    assert "wheels /wheels" in values
    assert sum("--find-links /wheels" in each for each in values) == 2


def test_the_head_says_how_long_a_stop_may_take() -> None:
    options = ImageOptions(python="3.12", package="q", requirements=(), wheels=False, grace_s=75)

    assert "docker stop --time 75 " in dockerfile(options)


@pytest.mark.parametrize(
    ("line", "rewritten"),
    [
        (".venv/", "**/.venv"),
        ("*.md", "**/*.md"),
        ("/docs", "docs"),
        ("a/b/", "a/b"),
        ("!keep.txt", "!**/keep.txt"),
        ("!/keep.txt", "!keep.txt"),
        ("\\#odd", "**/#odd"),
        ("# a remark", None),
        ("   ", None),
        ("/", None),
    ],
)
def test_a_line_of_funcignore_is_rewritten_for_paths_from_the_top(
    line: str, rewritten: str | None
) -> None:
    before, _, _ = dockerignore(line).partition("# Secrets")

    assert [each for each in before.splitlines() if not each.startswith("# As")] == (
        [] if rewritten is None else [rewritten]
    )


def test_nothing_brings_secrets_back() -> None:
    text = dockerignore("!local.settings.json\n!.git\n", ["venv311"])
    ignored = GitIgnoreSpec.from_lines(text.splitlines())

    for path in ("local.settings.json", "sub/local.settings.json", ".git/config", ".venv/a"):
        assert ignored.match_file(path), path
    assert re.search("^venv311$", text, re.MULTILINE)
    assert not ignored.match_file("function_app.py")
