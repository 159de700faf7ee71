"""What a page shows works: every fenced block is loaded, parsed or run.

A block with a path is a file of the page's project: the project is loaded, and a test in
tests/e2e runs it. One without is parsed for what its language and its keys say that it is.
"""

from __future__ import annotations

import ast
import configparser
import importlib.util
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from qtrigger.project.jsonc import parse
from qtrigger.project.loader import load_project
from qtrigger.project.model import Problem
from tests.docs import commands
from tests.docs.blocks import DOCS, REPOSITORY, Block, blocks, pages
from tests.e2e.support import qtrigger

# Blocks that are not held by anything: page, the beginning of the block, and why.
EXEMPT: Mapping[tuple[str, str], str] = {
    ("docs/how-to/retry-policies.md", '{ "version": "2.0", "retry"'): "it is warned of on purpose",
}

# Languages of blocks that are drawings, output or other people's, and need not hold.
FREE = frozenset({"", "text", "promql", "dockerfile"})
# What a page need not show of its project.
_REST = {
    "host.json": '{"version": "2.0"}',
    "local.settings.json": json.dumps(
        {"IsEncrypted": False, "Values": {"AzureWebJobsStorage": "UseDevelopmentStorage=true"}}
    ),
}
# What `check` finds in the project of a page that tells of just that.
_FINDINGS = {"retry-policies": "multiplies with maxDequeueCount; a message gets 15 tries"}
_SHOWN = [pytest.param(page, id=str(page.relative_to(REPOSITORY))) for page in pages()]


@pytest.mark.parametrize("page", _SHOWN)
def test_each_block_of_the_page_holds(page: Path, tmp_path: Path) -> None:
    wrong = [
        f"{block.where}: {problem}"
        for block in blocks(page)
        if not exempt(block)
        for problem in _problems(block, tmp_path)
    ]

    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", _SHOWN)
def test_the_project_of_the_page_has_no_finding_but_its_own(page: Path, tmp_path: Path) -> None:
    files = [block for block in blocks(page) if block.path]
    for block in files:
        target = tmp_path / block.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.text, "utf-8")
    if not _holds_functions(tmp_path):
        return
    for name, text in _REST.items():
        if not (tmp_path / name).exists():
            (tmp_path / name).write_text(text, "utf-8")

    ended = qtrigger("check", str(tmp_path), "--strict")

    wanted = _FINDINGS.get(page.stem)
    assert ended.returncode == (3 if wanted else 0), ended.stdout + ended.stderr
    if wanted:
        assert wanted in ended.stdout
        assert "0 errors, 1 warning in" in ended.stdout


@pytest.mark.parametrize(
    "name",
    sorted(
        page.stem
        for page in (DOCS / "how-to").glob("*.md")
        if any(block.path.endswith((".py", "function.json")) for block in blocks(page))
    ),
)
def test_a_test_runs_the_project_of_the_page(name: str) -> None:
    tests = [each.read_text("utf-8") for each in (REPOSITORY / "tests").rglob("test_*.py")]

    assert any(f'write_project("{name}"' in text for text in tests)


def test_each_exemption_is_of_a_block_that_is_there() -> None:
    there = [block for page in pages() for block in blocks(page)]

    assert all(any(_matches(block, *key) for block in there) for key in EXEMPT)


def test_a_block_that_is_wrong_is_seen(tmp_path: Path) -> None:
    texts = {
        "console": "qtrigger start --no-such-flag\nqtrigger sent x\nmake nothing\nbrew install\n",
        "json": '{"version": "2.0", "qtrigger": {"lease": "soon"}}',
        "python": "import qtrigger.nowhere\n",
        "yaml": "a: b: c\n",
        "ini": "ExecStart=/usr/bin/true\n",
        "toml": "a = \n",
        "bash": "true\n",
    }

    found = {
        language: list(_problems(Block(DOCS / "x.md", 1, language, "", text), tmp_path))
        for language, text in texts.items()
    }

    assert {language: len(problems) for language, problems in found.items()} == {
        "console": 4,
        **dict.fromkeys(("json", "python", "yaml", "ini", "toml", "bash"), 1),
    }


def exempt(block: Block) -> bool:
    """Whether the block is one of the exempt ones."""
    return any(_matches(block, *key) for key in EXEMPT)


def _matches(block: Block, page: str, beginning: str) -> bool:
    return str(block.page.relative_to(REPOSITORY)) == page and block.text.startswith(beginning)


def _holds_functions(folder: Path) -> bool:
    return (folder / "function_app.py").exists() or any(folder.rglob("function.json"))


def _problems(block: Block, folder: Path) -> Iterator[str]:
    if block.language in FREE:
        return
    if block.language not in _READERS:
        yield f"the language {block.language!r} is in no list of {Path(__file__).name}"
        return
    try:
        yield from _READERS[block.language](block, folder)
    except (ValueError, SyntaxError, configparser.Error, yaml.YAMLError) as error:
        yield f"{type(error).__name__}: {error}"


def _python(block: Block, _: Path) -> Iterator[str]:
    """It compiles, and what it imports of this repository or its dependencies is there."""
    tree = ast.parse(block.text)
    for node in ast.walk(tree):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            if name.partition(".")[0] in ("qtrigger", "azure") and not _importable(name):
                yield f"there is no module {name}"


def _importable(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _json(block: Block, folder: Path) -> Iterator[str]:
    """It is JSON as Azure reads it; one of Azure's files, by its keys, has no finding."""
    value = parse(block.text.encode()).value
    if block.path or not isinstance(value, dict):
        return
    if "bindings" in value:
        name, host = "function/function.json", '{"version": "2.0"}'
    elif "Values" in value:
        name, host = "local.settings.json", '{"version": "2.0"}'
    elif {"version", "qtrigger", "extensions", "logging", "retry"} & set(value):
        name, host = "host.json", json.dumps({"version": "2.0", **value})
    else:
        return
    root = folder / f"block-{block.line}"
    (root / name).parent.mkdir(parents=True)
    (root / name).write_text(block.text, "utf-8")
    (root / "host.json").write_text(host, "utf-8")
    project = load_project(root, {}, environment="Development")
    yield from (str(each) for each in project.problems if not _of_a_part(each))


def _of_a_part(problem: Problem) -> bool:
    """Said of a project that has only this file: what the others would say."""
    return any(
        words in problem.message for words in ("is not set", "there is no function", "scriptFile")
    )


def _console(block: Block, _: Path) -> Iterator[str]:
    return commands.problems(block.text)


def _ini(block: Block, _: Path) -> Iterator[str]:
    """A unit of systemd or the like; its programs of ours take their words."""
    parser = configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(block.text)
    for section in parser.values():
        for key, value in section.items():
            if key.startswith("Exec") and value:
                yield from commands.problems(value.lstrip("-@:+!"))


def _yaml(block: Block, _: Path) -> Iterator[str]:
    if not any(yaml.safe_load_all(block.text)):
        yield "it says nothing"


def _toml(block: Block, _: Path) -> Iterator[str]:
    if not tomllib.loads(block.text):
        yield "it says nothing"


_READERS: Mapping[str, Callable[[Block, Path], Iterator[str]]] = {
    "console": _console,
    "ini": _ini,
    "json": _json,
    "python": _python,
    "toml": _toml,
    "yaml": _yaml,
}
