"""Loading in a real process: imports, search path, interpreters; one failure hides no other."""

from __future__ import annotations

import json
import platform
import shutil
import signal
import sys
from pathlib import Path

import pytest

from qtrigger.errors import WorkerStartError
from qtrigger.workers.worker import FunctionSpec, LoadFailure
from tests.integration.workers.support import (
    RETURN,
    TRIGGER,
    Workshop,
    failure,
    invocation,
    returned,
    write_function,
)


async def failure_of(workshop: Workshop, code: str, name: str = "broken") -> LoadFailure:
    good = write_function(workshop.root, "good", "def main(msg: str): pass")
    broken = write_function(workshop.root, name, code)

    loaded = await workshop.make().start([broken, good])

    assert list(loaded.failures) == [name]
    return loaded.failures[name]


async def value_of(workshop: Workshop, code: str, name: str = "asks") -> str:
    """What a function returns as text."""
    spec = write_function(workshop.root, name, code, bindings=(TRIGGER, RETURN))
    worker = workshop.make()
    loaded = await worker.start([spec])
    assert loaded.failures == {}
    (body,) = returned(await worker.invoke(invocation(name)))
    return body.decode()


async def test_an_exception_at_import_has_its_place_and_the_users_frames(
    workshop: Workshop,
) -> None:
    failure = await failure_of(workshop, "import os\nos.environ['NOPE']\ndef main(msg: str): pass")

    assert failure.message == "KeyError: 'NOPE'"
    assert failure.place == "functions/broken/__init__.py:2"
    assert "importlib" not in failure.traceback
    assert "os.environ['NOPE']" in failure.traceback


async def test_a_syntax_error_shows_the_line_and_a_caret(workshop: Workshop) -> None:
    failure = await failure_of(workshop, "def main(msg: str):\n    return ((1 +)\n")

    assert failure.message.startswith("SyntaxError: ")
    assert failure.place == "functions/broken/__init__.py:2"
    assert "return ((1 +)" in failure.traceback
    assert "^" in failure.traceback


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import os\nos.environ['NOPE']", "in Values of local.settings.json"),
        ("{}['NOPE']", "belongs into the function"),
        ("raise ValueError('no')", "belongs into the function"),
        ("def main(msg: str)", f"by Python {platform.python_version()} ({sys.executable})"),
        ("import sys\nsys.exit(3)", "__main__"),
        ("def run(msg: str): pass", "entryPoint in function.json"),
        ("def main(other: str): pass", "bindings stand in functions/broken/function.json:1"),
        (
            "def main(msg: tuple[str, ...]): pass",
            "bindings stand in functions/broken/function.json",
        ),
    ],
)
async def test_whatever_is_wrong_with_the_code_comes_with_a_hint(
    workshop: Workshop, code: str, words: str
) -> None:
    assert words in (await failure_of(workshop, code)).hint


async def test_a_missing_module_says_where_packages_come_from(workshop: Workshop) -> None:
    failure = await failure_of(workshop, "import no_such_package_here\ndef main(msg: str): pass")

    assert failure.message == "ModuleNotFoundError: No module named 'no_such_package_here'"
    assert "requirements.txt" in failure.hint
    assert str(workshop.root) in failure.hint


async def test_a_missing_module_that_is_required_says_to_install_it(workshop: Workshop) -> None:
    (workshop.root / "requirements.txt").write_text("\ufeff# ours\r\nno-such-package>=2\r\n")
    failure = await failure_of(workshop, "import no_such_package.part\ndef main(msg: str): pass")

    assert failure.hint.endswith(f"{sys.executable} -m pip install -r requirements.txt")


async def test_an_exit_at_import_is_that_functions_failure(workshop: Workshop) -> None:
    failure = await failure_of(workshop, "import sys; sys.exit(3)")

    assert failure.message == "SystemExit: the code ended itself with sys.exit(3)"


async def test_a_missing_entry_point_is_named(workshop: Workshop) -> None:
    failure = await failure_of(workshop, "def other(msg: str): pass")

    assert failure.message == "function main() is not present in broken/__init__.py"


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("main = 3", "is a int"),
        ("class main: pass", "is a class"),
        ("import functools\nmain = functools.partial(print)", "is a partial"),
    ],
)
async def test_an_entry_point_must_be_a_function(workshop: Workshop, code: str, what: str) -> None:
    assert what in (await failure_of(workshop, code)).message


async def test_a_signature_that_does_not_fit_is_placed_at_the_function(
    workshop: Workshop,
) -> None:
    failure = await failure_of(workshop, "\n\ndef main(message: str): pass")

    assert failure.message.startswith(
        "broken: the function has parameters that no binding in function.json names: 'message'. "
    )
    assert failure.place == "functions/broken/__init__.py:3"


async def test_without_azure_functions_only_what_needs_it_fails(
    workshop: Workshop, tmp_path: Path
) -> None:
    hidden = tmp_path / "hidden"
    (hidden / "azure").mkdir(parents=True)
    (hidden / "azure" / "__init__.py").touch()  # hides the real one
    workshop.env = {"PYTHONPATH": str(hidden)}

    failure = await failure_of(workshop, "def main(msg): pass")

    assert failure.message == "ModuleNotFoundError: No module named 'azure.functions'"
    assert failure.hint.endswith("-m pip install azure-functions")


async def test_shared_code_is_found_in_every_usual_spelling(workshop: Workshop) -> None:
    shared = workshop.root / "functions" / "shared"
    shared.mkdir(parents=True)
    (shared / "__init__.py").touch()
    (shared / "words.py").write_text("WORD = 'shared'")
    (workshop.root / "lib.py").write_text("WORD = 'root'")
    code = """
        from . import helper
        from .. import shared
        from ..shared import words as relative
        from __app__.shared import words as absolute
        from shared.words import WORD
        import lib

        def main(msg: str) -> str:
            assert relative is absolute
            return " ".join([helper.WORD, relative.WORD, WORD, lib.WORD, __name__])
    """
    (workshop.root / "functions" / "asks").mkdir()
    (workshop.root / "functions" / "asks" / "helper.py").write_text("WORD = 'helper'")

    assert await value_of(workshop, code) == "helper shared shared root __app__.asks"


async def test_functions_in_the_root_and_in_the_folder_share_one_package(
    workshop: Workshop,
) -> None:
    inner = write_function(workshop.root, "inner", "def main(msg: str): pass")
    outer = workshop.root / "outer"
    shutil.copytree(inner.directory, outer)
    (outer / "__init__.py").write_text(
        "import __app__.inner\ndef main(msg: str): print(__name__)", "utf-8"
    )
    spec = FunctionSpec(
        name="outer",
        directory=outer,
        script_file=outer / "__init__.py",
        entry_point="main",
        bindings=(TRIGGER,),
        concurrency=1,
    )

    assert (await workshop.make().start([inner, spec])).failures == {}


async def test_a_script_may_have_any_name_and_lie_deeper(workshop: Workshop) -> None:
    spec = write_function(workshop.root, "deep", "", bindings=(TRIGGER, RETURN))
    script = spec.directory / "sub" / "run_me.py"
    script.parent.mkdir()
    script.write_text("def go(msg: str) -> str: return __name__")
    worker = workshop.make()

    loaded = await worker.start(
        [
            FunctionSpec(
                name="deep",
                directory=spec.directory,
                script_file=script,
                entry_point="go",
                bindings=spec.bindings,
                concurrency=1,
            )
        ]
    )

    assert loaded.failures == {}
    assert returned(await worker.invoke(invocation("deep"))) == [b"__app__.deep.sub.run_me"]


@pytest.mark.parametrize("name", ["http", "queue", "json", "azure", "logging", "qtrigger", "wire"])
async def test_function_folders_named_like_libraries_hide_nothing(
    workshop: Workshop, name: str
) -> None:
    code = """
        import http.client, json, logging.handlers, queue
        import azure.functions as func

        def main(msg: func.QueueMessage) -> str:
            queue.SimpleQueue()
            return json.dumps(1)
    """
    assert await value_of(workshop, code, name) == "1"


async def test_modules_in_the_root_named_like_libraries_hide_nothing(workshop: Workshop) -> None:
    for name in ("queue", "json", "logging", "http", "types"):
        (workshop.root / f"{name}.py").write_text("raise ImportError('the wrong one')")
    code = """
        import http.client, json, logging.handlers, queue, types
        import azure.functions as func

        def main(msg: func.QueueMessage) -> str:
            return json.dumps(1)
    """
    assert await value_of(workshop, code) == "1"


async def test_our_own_modules_are_not_importable(workshop: Workshop) -> None:
    code = """
        import importlib.util

        def main(msg: str) -> str:
            names = ["wire", "channel", "loader", "outputs", "child", "_main"]
            return ",".join(name for name in names if importlib.util.find_spec(name)) or "none"
    """
    assert await value_of(workshop, code) == "none"


async def test_the_projects_packages_come_before_the_interpreters(workshop: Workshop) -> None:
    packages = workshop.root / ".python_packages" / "lib" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "yarl.py").write_text("WHERE = 'the project'")
    code = """
        import yarl

        def main(msg: str) -> str:
            return yarl.WHERE
    """
    assert await value_of(workshop, code) == "the project"


async def test_code_runs_in_the_projects_folder_with_its_settings(workshop: Workshop) -> None:
    (workshop.root / "data.txt").write_text("found")
    workshop.env = {"GREETING": "hello"}
    code = """
        import os

        def main(msg: str) -> str:
            names = ("GREETING", "FUNCTIONS_WORKER_RUNTIME", "AzureWebJobsScriptRoot")
            return " ".join([open("data.txt").read(), *(os.environ[name] for name in names)])
    """
    assert await value_of(workshop, code) == f"found hello python {workshop.root}"


@pytest.mark.parametrize(
    "code",
    [
        "import asyncio\nasyncio.run(asyncio.sleep(0))",
        "import asyncio\nLOOP = asyncio.get_running_loop()",
        "import asyncio\nLOCK = asyncio.Lock()",
    ],
)
async def test_a_module_may_use_asyncio_while_it_is_imported(workshop: Workshop, code: str) -> None:
    code += "\nasync def main(msg: str) -> str:\n    return 'ran'\n"

    assert await value_of(workshop, code) == "ran"


async def test_a_plain_function_may_have_a_loop_of_its_own(workshop: Workshop) -> None:
    code = """
        import asyncio

        async def answer():
            return "own loop"

        def main(msg: str) -> str:
            return asyncio.run(answer())
    """
    assert await value_of(workshop, code) == "own loop"


async def test_a_coroutine_that_runs_a_loop_of_its_own_fails_in_pythons_own_words(
    workshop: Workshop,
) -> None:
    code = """
        import asyncio

        async def answer():
            return "own loop"

        async def main(msg: str) -> str:
            coming = answer()
            try:
                return asyncio.new_event_loop().run_until_complete(coming)
            finally:
                coming.close()
    """
    worker = workshop.make()
    await worker.start([write_function(workshop.root, "loops", code, bindings=(TRIGGER, RETURN))])

    failed = failure(await worker.invoke(invocation("loops")))

    said = "Cannot run the event loop while another loop is running"
    assert (failed.error.type, failed.error.message) == ("RuntimeError", said)
    assert "loops/__init__.py" in failed.error.place


async def test_context_variables_set_at_import_are_seen_by_runs(workshop: Workshop) -> None:
    code = """
        from contextvars import ContextVar
        NAME = ContextVar("name")
        NAME.set("set at import")

        def main(msg: str) -> str:
            return NAME.get()
    """
    assert await value_of(workshop, code) == "set at import"


def _python(version: str) -> Path | None:
    """A Python of that version, the real one and not a shim that needs a folder to choose."""
    candidates = [*Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]
    found = shutil.which(f"python{version}")
    if found and "shims" not in found:
        candidates.append(Path(found))
    return candidates[0] if candidates else None


OTHERS = [version for version in ("3.9", "3.10", "3.12", "3.13") if _python(version)]


@pytest.mark.parametrize("version", [platform.python_version().rpartition(".")[0], *OTHERS])
async def test_functions_run_under_every_interpreter_there_is(
    workshop: Workshop, version: str
) -> None:
    workshop.interpreter = _python(version) or workshop.interpreter
    code = """
        import asyncio, logging, sys

        async def main(msg: str) -> str:
            logging.info("logged")
            await asyncio.sleep(0)
            return "%d.%d" % sys.version_info[:2]
    """
    assert await value_of(workshop, code) == version


@pytest.mark.parametrize("version", [platform.python_version().rpartition(".")[0], *OTHERS])
async def test_a_json_body_is_read_under_every_interpreter_there_is(
    workshop: Workshop, version: str
) -> None:
    workshop.interpreter = _python(version) or workshop.interpreter
    code = """
        from __future__ import annotations
        import dataclasses
        from typing import Dict, List, Literal, Optional, TypedDict

        class Customer(TypedDict):
            name: str

        @dataclasses.dataclass
        class Order:
            customer: Customer
            tags: List[str]
            state: Literal["new", "paid"]
            rates: Dict[str, float] = dataclasses.field(default_factory=dict)
            before: Optional[Order] = None

        def main(msg: Order, dequeue_count: int) -> str:
            assert isinstance(msg.before, Order)
            return f"{msg.customer['name']} {msg.before.tags} {dequeue_count}"
    """
    spec = write_function(workshop.root, "orders", code, bindings=(TRIGGER, RETURN))
    worker = workshop.make()
    assert (await worker.start([spec])).failures == {}
    inner = {"customer": {"name": "Ben"}, "tags": ["a"], "state": "new", "unknown": 1}
    body = json.dumps({**inner, "customer": {"name": "Ann"}, "before": inner})

    ran = await worker.invoke(invocation("orders", body))

    assert returned(ran) == [b"Ann ['a'] 2"]


async def test_an_interpreter_that_is_too_old_says_so(workshop: Workshop) -> None:
    pretends = (
        "import sys, runpy; sys.version_info = (3, 8, 0); del sys.argv[:4]; "
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    old = workshop.root / "python3.8"
    old.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{pretends}" "$@"\n')
    old.chmod(0o755)
    workshop.interpreter = old

    with pytest.raises(WorkerStartError, match=r"needs Python 3\.9 or newer"):
        await workshop.make().start([])


async def test_a_process_that_was_launched_goes_on_with_what_it_is_told_later(
    workshop: Workshop,
) -> None:
    worker = workshop.make()
    await worker.launch()
    pid = worker.pid
    code = "def main(msg: str): return msg"
    spec = write_function(workshop.root, "written_later", code, bindings=(TRIGGER, RETURN))

    loaded = await worker.start([spec])

    assert not loaded.failures
    assert worker.pid == pid
    assert returned(await worker.invoke(invocation("written_later", "on time"))) == [b"on time"]


async def test_a_process_that_was_launched_and_is_not_wanted_ends_at_once(
    workshop: Workshop,
) -> None:
    worker = workshop.make()
    await worker.launch()

    await worker.stop(0.0)

    assert worker.expected
    assert worker.how == f"signal {int(signal.SIGTERM)} (SIGTERM)"


async def test_a_process_that_ended_between_launch_and_start_is_no_worker(
    workshop: Workshop,
) -> None:
    workshop.interpreter = Path("/bin/false")
    worker = workshop.make()
    await worker.launch()
    await worker.wait_ended()

    with pytest.raises(WorkerStartError, match="ended with exit code 1"):
        await worker.start([])
