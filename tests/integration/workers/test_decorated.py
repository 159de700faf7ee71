"""Scripts with decorators in a real process: listed, loaded and run by the same one."""

from __future__ import annotations

import asyncio
import json
import textwrap
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from qtrigger.assembly import function_spec
from qtrigger.cli.projects import load
from qtrigger.clock import SystemClock
from qtrigger.events import FunctionLoadFailed, UserLog, WorkerStarted
from qtrigger.project.model import Project, Severity
from qtrigger.testing.probe import Probe
from qtrigger.workers.deadlines import Deadlines
from qtrigger.workers.pool import WorkerPool
from tests.integration.workers.support import (
    PROJECTS,
    Workshop,
    failure,
    invocation,
    returned,
    written,
)

HEAD = "import azure.functions as func\napp = func.FunctionApp()\n"
TRIGGER = '@app.queue_trigger(arg_name="msg", queue_name="orders", connection="Store")\n'
RETURN = '@app.queue_output(arg_name="$return", queue_name="done", connection="Store")\n'
ENVIRON = {
    "Store": "UseDevelopmentStorage=true",
    "AzureWebJobsStorage": "UseDevelopmentStorage=true",
}


def write(root: Path, code: str, **others: str) -> None:
    """A project whose function_app.py has that code; `others` are modules beside it."""
    (root / "host.json").write_text('{"version": "2.0"}')
    for name, text in {"function_app": code, **others}.items():
        (root / f"{name}.py").write_text(textwrap.dedent(text))


@asynccontextmanager
async def pool_of(
    root: Path, *, size: int = 1, environ: Mapping[str, str] = ENVIRON
) -> AsyncIterator[tuple[WorkerPool, Project, Probe]]:
    """The project's functions in workers that have loaded them."""
    probe, clock = Probe(), SystemClock()
    loaded = await load(root, environ, "Development", clock=clock, sink=probe)
    pool, _ = loaded.open_workers(size, clock, probe)
    try:
        await pool.start([function_spec(each) for each in loaded.project.functions])
        yield pool, loaded.project, probe
    finally:
        await pool.stop(0.0)
        await loaded.close()


async def project_of(root: Path, environ: Mapping[str, str] = ENVIRON) -> Project:
    """What is said of the project, without running it."""
    loaded = await load(root, environ, "Development", clock=SystemClock(), sink=Probe())
    await loaded.close()
    return loaded.project


def errors(project: Project) -> list[str]:
    return [str(each) for each in project.problems if each.severity is Severity.ERROR]


# --- the reference's rules for queues, with both kinds of decorators ---------------------------


@pytest.fixture(params=["function_app.py", "generic_app.py"])
async def answers(request: pytest.FixtureRequest) -> AsyncIterator[WorkerPool]:
    """Workers for the same functions, declared by queue decorators or by generic ones."""
    environ = {**ENVIRON, "PYTHON_SCRIPT_FILE_NAME": request.param}
    async with pool_of(PROJECTS / "decorators", environ=environ) as (pool, project, _):
        assert errors(project) == []
        assert len(project.functions) == 7
        yield pool


async def test_a_message_is_seen_with_all_its_properties(answers: WorkerPool) -> None:
    (text,) = returned(await answers.invoke(invocation("queue_trigger", "test-message")))

    seen = json.loads(text)
    assert seen["body"] == "test-message"
    assert seen["id"].startswith("message-")
    assert seen["insertion_time"] == "2026-12-01T10:00:00.123456+00:00"
    assert seen["time_next_visible"] == seen["insertion_time"]
    assert seen["expiration_time"].startswith("9999-12-31")
    assert (seen["pop_receipt"], seen["dequeue_count"]) == ("receipt", 2)


async def test_bytes_may_be_set_on_an_output_for_str(answers: WorkerPool) -> None:
    ran = await answers.invoke(invocation("put_queue", "test-message"))

    assert written(ran) == {"msg": [b"test-message"]}


async def test_bytes_and_text_are_returned_as_they_are(answers: WorkerPool) -> None:
    bytes_back = await answers.invoke(invocation("put_queue_return", "test-message-return"))
    text_back = await answers.invoke(invocation("queue_trigger_untyped", "test-untyped-return"))

    assert returned(bytes_back) == [b"test-message-return"]
    assert returned(text_back) == [b"test-untyped-return"]


async def test_a_message_object_becomes_the_references_document(answers: WorkerPool) -> None:
    ran = await answers.invoke(invocation("put_queue_message_return", "test-message-object"))

    (document,) = returned(ran)
    assert json.loads(document) == {"id": None, "body": "test-message-object"}


async def test_a_list_on_an_output_is_one_message_an_item(answers: WorkerPool) -> None:
    ran = await answers.invoke(invocation("put_queue_return_multiple", "foo"))

    assert written(ran) == {"msgs": [b"one", b"two"]}


async def test_two_outputs_are_told_apart_by_their_names(answers: WorkerPool) -> None:
    outputs = written(await answers.invoke(invocation("put_queue_multiple_out", "foo")))

    assert outputs["resp"] == [b"answer: foo"]
    assert [json.loads(body)["body"] for body in outputs["msg"]] == ["foo"]


async def test_json_bodies_and_what_is_known_of_a_message_are_taken_alike(tmp_path: Path) -> None:
    code = """
        from __future__ import annotations
        import dataclasses
        import azure.functions as func

        app = func.FunctionApp()

        @dataclasses.dataclass
        class Order:
            number: int
            before: list[Order] = dataclasses.field(default_factory=list)

        @app.queue_trigger(arg_name="msg", queue_name="orders", connection="Store")
        @app.queue_output(arg_name="$return", queue_name="done", connection="Store")
        def typed(msg: Order, dequeueCount: int) -> str:
            return f"{msg.number} {len(msg.before)} {dequeueCount}"

        @app.queue_trigger(arg_name="msg", queue_name="orders", connection="Store")
        def slip(msg: Order, dequeue_kount: int): pass
    """
    write(tmp_path, code)

    async with pool_of(tmp_path) as (pool, _, probe):
        good = await pool.invoke(invocation("typed", '{"number": 7, "before": [{"number": 6}]}'))
        error = failure(await pool.invoke(invocation("typed", '{"before": []}'))).error
        (failed,) = probe.of(FunctionLoadFailed)

    assert returned(good) == [b"7 1 2"]
    assert error.message.endswith('takes: the key "number" is missing')
    assert error.place == "function_app.py:13"
    assert failed.function == "slip"
    assert "no binding in function_app.py names: 'dequeue_kount'" in failed.message


# --- loading and running -----------------------------------------------------------------------


async def test_the_worker_that_listed_the_functions_runs_them_and_imports_nothing_twice(
    tmp_path: Path,
) -> None:
    code = HEAD + TRIGGER + RETURN + "def f(msg: str) -> str:\n    return str(os.getpid())\n"
    write(tmp_path, "import os\nprint('imported by', os.getpid())\n" + code)

    async with pool_of(tmp_path) as (pool, _, probe):
        (pid,) = returned(await pool.invoke(invocation("f")))
        assert [each.pid for each in probe.of(WorkerStarted)] == [int(pid)]

    said = [log.message for log in probe.of(UserLog) if "imported" in log.message]
    assert said == [f"imported by {pid.decode()}"]


async def test_further_workers_import_the_script_for_themselves(tmp_path: Path) -> None:
    write(
        tmp_path,
        "import os\nprint('imported', os.getpid())\n" + HEAD + TRIGGER + "def f(msg): pass",
    )

    async with pool_of(tmp_path, size=2) as (pool, _, probe):
        await asyncio.wait_for(probe.wait_for(WorkerStarted, count=2), 30)
        assert pool.ready == 2

    logs = [log for log in probe.of(UserLog) if "imported" in log.message]
    assert len({log.message for log in logs}) == 2
    assert {log.function for log in logs} == {""}


async def test_plain_async_and_wrapped_functions_run_from_app_and_blueprint(tmp_path: Path) -> None:
    code = """
        import functools
        from parts.more import bp
        app.register_functions(bp)

        def shouting(f):
            @functools.wraps(f)
            def inner(*args, **kwargs):
                return f(*args, **kwargs).upper()
            return inner

        def waiting(f):
            @functools.wraps(f)
            async def inner(*args, **kwargs):
                return await f(*args, **kwargs) + " waited for"
            return inner

        @app.queue_trigger("msg", "plain", "Store")
        @app.queue_output("$return", "done", "Store")
        @shouting
        def plain(msg: func.QueueMessage) -> str:
            return msg.get_body().decode()

        @app.queue_trigger("msg", "awaited", "Store")
        @app.queue_output("$return", "done", "Store")
        @waiting
        async def awaited(msg: str) -> str:
            return msg
    """
    part = """
        import azure.functions as func
        bp = func.Blueprint()

        @bp.function_name("where")
        @bp.queue_trigger("msg", "part", "Store")
        @bp.queue_output("$return", "done", "Store")
        async def anything(msg: str, context: func.Context) -> str:
            return f"{context.function_name} {context.function_directory}"
    """
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "more.py").write_text(textwrap.dedent(part))
    write(tmp_path, HEAD + textwrap.dedent(code))

    async with pool_of(tmp_path) as (pool, _, probe):
        assert probe.of(FunctionLoadFailed) == []
        assert returned(await pool.invoke(invocation("plain", "loud"))) == [b"LOUD"]
        assert returned(await pool.invoke(invocation("awaited", "text"))) == [b"text waited for"]
        (where,) = returned(await pool.invoke(invocation("where")))

    assert where.decode() == f"where {tmp_path / 'parts'}"


async def test_a_functions_own_error_has_its_place_in_the_script(tmp_path: Path) -> None:
    write(tmp_path, HEAD + TRIGGER + "def f(msg: str):\n    raise ValueError('no')\n")

    async with pool_of(tmp_path) as (pool, _, _probe):
        error = failure(await pool.invoke(invocation("f"))).error

    assert (error.type, error.place) == ("ValueError", "function_app.py:5")


@pytest.mark.parametrize(
    ("signature", "words"),
    [
        ("def f(): pass", "function_app.py has bindings for which the function has no parameter"),
        ("def f(msg, spam): pass", "that no binding in function_app.py names: 'spam'"),
        ("def f(msg: int): pass", 'type of binding "msg" in function_app.py, "queueTrigger"'),
        ("def f(msg: 123): pass", "123"),
        ("def f(msg: func.Out[str]): pass", 'has direction "in", but the annotation'),
        ("def f(msg, context: int): pass", 'the "context" parameter must be annotated'),
        ("def f(msg: 'Nowhere'): pass", "NameError: name 'Nowhere' is not defined"),
        ("def f(*args, **kwargs): pass", "'args', 'kwargs'"),
    ],
)
async def test_a_signature_that_does_not_fit_fails_its_function_alone(
    tmp_path: Path, signature: str, words: str
) -> None:
    write(
        tmp_path,
        HEAD + TRIGGER + signature + "\n" + TRIGGER + "def good(msg): pass\n",
    )

    async with pool_of(tmp_path) as (pool, _, probe):
        (failed,) = probe.of(FunctionLoadFailed)
        assert words in failed.message
        assert "function.json" not in failed.message + failed.hint
        assert (failed.function, failed.place) == ("f", "function_app.py:3")
        await pool.invoke(invocation("good"))


@pytest.mark.parametrize(
    ("output", "parameter", "words"),
    [
        ("out", "out: int", 'binding "out" has direction "out"'),
        ("out", "out: func.Out", "an Out annotation needs exactly one type"),
        ("out", "out: func.Out[int]", 'in function_app.py, "queue", does not match'),
    ],
)
async def test_an_output_that_does_not_fit_fails_its_function_alone(
    tmp_path: Path, output: str, parameter: str, words: str
) -> None:
    declared = f'@app.queue_output("{output}", "done", "Store")\n'
    write(
        tmp_path,
        HEAD
        + TRIGGER
        + declared
        + f"def f(msg, {parameter}): pass\n"
        + TRIGGER
        + "def g(msg): pass",
    )

    async with pool_of(tmp_path) as (_, _project, probe):
        (failed,) = probe.of(FunctionLoadFailed)

    assert (failed.function, words in failed.message) == ("f", True), failed.message


async def test_one_functions_bad_binding_leaves_the_others(tmp_path: Path) -> None:
    code = """
        @app.queue_trigger("msg", "orders", "Store")
        def good(msg): pass

        @app.queue_trigger("msg", "or_ders", "Store")
        def bad_queue(msg): pass

        @app.queue_trigger("msg", "orders", "Nowhere")
        def no_connection(msg): pass

        @app.generic_trigger("msg", type="queueTriger", queue_name="orders", connection="Store")
        def slip(msg): pass

        @app.function_name("no good")
        @app.queue_trigger("msg", "orders", "Store")
        def f(msg): pass

        @app.retry(strategy="fixed_delay", max_retry_count="2")
        @app.queue_trigger("msg", "orders", "Store")
        def retried(msg): pass

        @app.queue_trigger("msg", "orders", "Store", extra=object())
        def odd(msg): pass
    """
    write(tmp_path, HEAD + textwrap.dedent(code))

    project = await project_of(tmp_path)

    assert [each.name for each in project.functions] == ["good"]
    failed = {"bad_queue", "no_connection", "slip", "no good", "retried", "odd"}
    assert set(project.failed) == failed
    places = {each.function: each.line for each in project.problems if each.function in failed}
    assert places == {
        "bad_queue": 7,
        "no_connection": 10,
        "slip": 13,
        "no good": 16,
        "retried": 20,
        "odd": 24,
    }


async def test_two_functions_of_one_name_are_told_with_both_places_and_the_others_run(
    tmp_path: Path,
) -> None:
    code = HEAD + "from parts import bp\napp.register_functions(bp)\n"
    code += "".join(TRIGGER + f"def {name}(msg): pass\n" for name in ("twice", "once"))
    part = """
        import azure.functions as func
        bp = func.Blueprint()
        @bp.queue_trigger("msg", "orders", "Store")
        def twice(msg): pass
    """
    write(tmp_path, code, parts=part)

    project = await project_of(tmp_path)

    assert [each.name for each in project.functions] == ["once"]
    assert project.failed == ("twice",)
    (told,) = errors(project)
    assert told.startswith("function_app.py:5:1: error: ")
    assert "stands in parts.py:4 already; neither is run" in told
    assert "Azure would run no function of this app" in told


async def test_a_script_that_cannot_be_imported_stops_all_and_no_folder_stands_in_for_it(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "functions" / "old"
    folder.mkdir(parents=True)
    (folder / "function.json").write_text("{}")
    write(tmp_path, HEAD + "\ndef f():\n    raise ValueError('broken')\nf()\n")

    project = await project_of(tmp_path)

    assert (project.functions, project.failed) == ((), ())
    (told,) = [each for each in project.problems if each.severity is Severity.ERROR]
    assert (told.message, told.place) == ("ValueError: broken", "function_app.py:5")
    assert "line 6, in <module>\n    f()" in told.traceback
    assert [each.file for each in project.problems] == [
        "function_app.py",
        "functions/old/function.json",
    ]


async def test_an_import_that_ends_the_process_is_told_with_its_last_words(tmp_path: Path) -> None:
    write(tmp_path, "import os\nos.write(2, b'so long\\n')\nos._exit(3)\n")

    (told,) = (await project_of(tmp_path)).problems

    assert told.message == (
        "the worker process failed while importing function_app.py: it ended with exit code 3"
    )
    assert (told.place, told.traceback.strip()) == ("function_app.py:1", "so long")


async def test_an_interpreter_that_is_not_there_is_told(tmp_path: Path) -> None:
    write(tmp_path, HEAD)
    environ = {**ENVIRON, "languageWorkers__python__defaultExecutablePath": "/no/such/python"}

    (told,) = errors(await project_of(tmp_path, environ))

    assert "/no/such/python" in told


async def test_an_import_that_takes_long_is_named_and_one_without_end_is_given_up(
    workshop: Workshop,
) -> None:
    workshop.deadlines = Deadlines(load_s=1.0, load_note_s=0.1)
    write(workshop.root, "import threading\nthreading.Event().wait()\n")
    worker = workshop.make()

    indexed = await worker.index(workshop.root / "function_app.py")

    assert indexed.failure is not None
    assert "importing function_app.py: no index within 1 s" in indexed.failure.message
    notes = [log.message for log in workshop.probe.of(UserLog)]
    assert notes == [f"importing function_app.py takes longer than 0.1 s (process {worker.pid})"]


async def test_a_worker_that_ended_after_its_index_says_so_when_it_is_to_load(
    workshop: Workshop,
) -> None:
    write(workshop.root, HEAD)
    worker = workshop.make()
    await worker.index(workshop.root / "function_app.py")
    await worker.stop(0.0)

    with pytest.raises(Exception, match="it ended with exit code 0"):
        await worker.start([])


async def test_an_app_without_functions_leaves_the_folders_to_run(tmp_path: Path) -> None:
    folder = tmp_path / "functions" / "old"
    folder.mkdir(parents=True)
    binding: dict[str, Any] = {"type": "queueTrigger", "direction": "in", "name": "msg"}
    bindings = [{**binding, "queueName": "old"}]
    (folder / "function.json").write_text(json.dumps({"bindings": bindings}))
    (folder / "__init__.py").write_text("def main(msg: str): pass\n")
    write(tmp_path, HEAD)

    async with pool_of(tmp_path) as (pool, project, _):
        assert [each.name for each in project.functions] == ["old"]
        await pool.invoke(invocation("old"))

    (told,) = project.problems
    assert told.message == "function_app.py declares no functions; those of the folders are loaded"


async def test_an_output_may_say_when_its_messages_show_up_and_expire(tmp_path: Path) -> None:
    output = (
        '@app.queue_output(arg_name="$return", queue_name="done", connection="Store", '
        'visibility_timeout="00:00:30", time_to_live="-1")\n'
    )
    write(tmp_path, HEAD + TRIGGER + output + "def main(msg: str) -> str:\n    return msg\n")

    async with pool_of(tmp_path) as (pool, project, _):
        (function,) = project.functions
        (found,) = function.outputs
        assert returned(await pool.invoke(invocation("main", "x"))) == [b"x"]

    assert (found.delay_s, found.ttl_s) == (30.0, -1.0)
