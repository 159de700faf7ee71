"""Everything that user code logs or prints arrives, once, with its level and its run."""

from __future__ import annotations

import asyncio
import logging
import re
from pathlib import Path

import pytest

from qtrigger.events import UserLog
from tests.integration.workers.support import (
    RETURN,
    TRIGGER,
    Workshop,
    failure,
    invocation,
    write_function,
    written,
)


async def lines_of(
    workshop: Workshop, code: str, *, until: str, body: str = "", name: str = "talks"
) -> dict[str, UserLog]:
    """Run the function once and wait for a line; what arrived, by text, none of it twice."""
    spec = write_function(workshop.root, name, code)
    worker = workshop.make()
    loaded = await worker.start([spec])
    assert loaded.failures == {}
    await worker.invoke(invocation(name, body))
    await workshop.probe.wait_for(UserLog, where=lambda e: until in e.message)
    events = workshop.probe.of(UserLog)
    assert len({event.message for event in events}) == len(events)
    return {event.message: event for event in events}


async def test_records_carry_level_logger_and_run(workshop: Workshop) -> None:
    code = """
        import logging

        def main(msg: str):
            logging.debug("not shown")
            logging.getLogger("shop.orders").info("an info %d", 1)
            logging.warning("a warning")
            logging.getLogger("other").error("an error")
    """
    lines = await lines_of(workshop, code, until="an error")

    assert {(e.level, e.logger, e.message) for e in lines.values()} == {
        (logging.INFO, "shop.orders", "an info 1"),
        (logging.WARNING, "root", "a warning"),
        (logging.ERROR, "other", "an error"),
    }
    assert {e.function for e in lines.values()} == {"talks"}
    assert all(e.invocation_id.startswith("invocation-") for e in lines.values())
    assert all(e.message_id.startswith("message-") for e in lines.values())


async def test_a_record_larger_than_a_frame_arrives_cut_and_says_so(workshop: Workshop) -> None:
    code = """
        import logging

        def main(msg: str):
            logging.warning("it is " + "\U0001f600" * 3_000_000)
            logging.info("end")
    """
    lines = await lines_of(workshop, code, until="end")

    long, _end = lines.values()
    assert (long.level, long.logger) == (logging.WARNING, "root")
    assert long.message.startswith("it is \U0001f600")
    assert long.message.endswith(" … (1,951,430 characters more)")


async def test_debug_records_come_when_the_setting_asks_for_them(workshop: Workshop) -> None:
    workshop.env = {"PYTHON_ENABLE_DEBUG_LOGGING": "1"}
    code = """
        import logging

        def main(msg: str):
            logging.debug("in detail")
    """
    assert (await lines_of(workshop, code, until="in detail"))["in detail"].level == logging.DEBUG


async def test_an_exception_in_a_record_is_part_of_its_text(workshop: Workshop) -> None:
    code = """
        import logging

        def main(msg: str):
            try:
                1 / 0
            except ZeroDivisionError:
                logging.exception("sums")
    """
    (text,) = await lines_of(workshop, code, until="sums")

    assert text.startswith("sums\nTraceback")
    assert text.endswith("ZeroDivisionError: division by zero")


async def test_printed_lines_come_whole_and_the_last_one_without_its_end(
    workshop: Workshop,
) -> None:
    code = """
        import sys

        def main(msg: str):
            print("one", end=" ")
            print("line")
            sys.stdout.write("a\\nb\\n")
            sys.stderr.buffer.write("gr\u00fc\u00dfe\\n".encode())
            print("open end", end="")
    """
    lines = await lines_of(workshop, code, until="open end")

    assert set(lines) == {"one line", "a", "b", "grüße", "open end"}
    assert (lines["one line"].logger, lines["one line"].level) == ("stdout", logging.INFO)
    assert (lines["grüße"].logger, lines["grüße"].level) == ("stderr", logging.WARNING)
    assert {line.function for line in lines.values()} == {"talks"}


async def test_lines_of_helpers_threads_and_tasks_find_their_run(workshop: Workshop) -> None:
    code = """
        import asyncio, logging, threading

        async def main(msg: str, context):
            async def task():
                logging.info("from a task")
            await asyncio.create_task(task())
            await asyncio.to_thread(logging.info, "from to_thread")

            def marked():
                context.thread_local_storage.invocation_id = context.invocation_id
                logging.info("from a marked thread")
            for target in (marked, lambda: logging.info("from a thread of its own")):
                thread = threading.Thread(target=target)
                thread.start()
                thread.join()
            logging.info("done")
    """
    lines = await lines_of(workshop, code, until="done")

    own = lines.pop("from a thread of its own")
    assert (own.function, own.invocation_id) == ("", "")
    assert {line.function for line in lines.values()} == {"talks"}
    assert len({line.invocation_id for line in lines.values()}) == 1


async def test_runs_at_once_keep_their_own_lines(workshop: Workshop) -> None:
    code = """
        import asyncio, logging

        async def main(msg: str):
            print(msg, end="")
            await asyncio.sleep(0)
            logging.info("logged " + msg)
            await asyncio.sleep(0)
            print(" printed")
    """
    spec = write_function(workshop.root, "talks", code)
    worker = workshop.make()
    await worker.start([spec])
    asked = [invocation("talks", f"run {number}") for number in range(10)]

    async with asyncio.TaskGroup() as group:
        for one in asked:
            group.create_task(worker.invoke(one))
    events = await workshop.probe.wait_for(UserLog, count=20)

    for one in asked:
        text = one.messages[0].body.decode()
        assert [e.message for e in events if e.invocation_id == one.id] == [
            f"logged {text}",
            f"{text} printed",
        ]


async def test_a_module_that_logs_while_imported_is_known_by_its_function(
    workshop: Workshop,
) -> None:
    code = """
        import logging
        logging.info("at import")

        def main(msg: str): pass
    """
    line = (await lines_of(workshop, code, until="at import"))["at import"]

    assert (line.function, line.invocation_id) == ("talks", "")


@pytest.mark.parametrize(
    "setup",
    [
        "logging.basicConfig(level=logging.INFO)",
        "logging.basicConfig(level=logging.INFO, force=True)",
        "logging.getLogger().addHandler(logging.StreamHandler())",
        "logging.getLogger().addHandler(logging.StreamHandler(sys.stdout))",
        "l = logging.getLogger('x'); l.addHandler(logging.StreamHandler()); l.propagate = False",
    ],
)
async def test_users_own_handlers_do_not_show_lines_twice_or_without_level(
    workshop: Workshop, setup: str
) -> None:
    code = f"""
        import logging, sys

        def main(msg: str):
            {setup}
            logging.getLogger("x").info("said once")
            logging.getLogger("x").error("end")
    """
    lines = await lines_of(workshop, code, until="end")

    assert len(lines) == 2
    said = [(e.level, e.logger) for text, e in lines.items() if "said once" in text]
    assert said == [(logging.INFO, "x")]


async def test_output_from_below_python_is_the_workers(workshop: Workshop) -> None:
    code = """
        import os, subprocess

        def main(msg: str):
            os.write(1, b"straight to the descriptor\\n")
            subprocess.run(["sh", "-c", "echo from a program >&2"])
    """
    spec = write_function(workshop.root, "talks", code)
    worker = workshop.make()
    await worker.start([spec])

    await worker.invoke(invocation("talks"))

    events = {e.message: e for e in await workshop.probe.wait_for(UserLog, count=2)}
    assert events["straight to the descriptor"].logger == "stdout"
    assert events["from a program"].logger == "stderr"
    assert {e.invocation_id for e in events.values()} == {""}


async def test_megabytes_of_prints_neither_block_nor_lose_the_result(workshop: Workshop) -> None:
    code = """
        def main(msg: str) -> str:
            for number in range(20_000):
                print(f"{number:06}" + "x" * 500)
            return "done"
    """
    spec = write_function(workshop.root, "talks", code, bindings=(TRIGGER, RETURN))
    worker = workshop.make()
    await worker.start([spec])

    ran = await worker.invoke(invocation("talks"))

    assert ran.outcomes[0].outputs[0].items[0].body == b"done"  # type: ignore[union-attr]
    events = workshop.probe.of(UserLog)
    assert [e.message[:6] for e in events] == [f"{number:06}" for number in range(20_000)]


async def test_text_that_is_no_unicode_arrives_escaped(workshop: Workshop) -> None:
    code = r"""
        import logging

        def main(msg: str):
            logging.info("half \ud83d")
            print("end")
    """
    lines = await lines_of(workshop, code, until="end")

    assert "half \\ud83d" in lines


@pytest.mark.parametrize("setting", ["many", "0", "-1", "2.5", ""])
async def test_a_wrong_thread_count_is_warned_of(workshop: Workshop, setting: str) -> None:
    workshop.env = {"PYTHON_THREADPOOL_THREAD_COUNT": setting}
    lines = await lines_of(workshop, "def main(msg: str): print('end')", until="end")

    (warning,) = [e for e in lines.values() if e.level == logging.WARNING]
    assert f"PYTHON_THREADPOOL_THREAD_COUNT is {setting!r}" in warning.message
    assert "a whole number of at least 1" in warning.message
    assert "24 threads are used" in warning.message


async def test_a_thread_count_is_obeyed_and_says_how_many_runs_have_room(
    workshop: Workshop,
) -> None:
    workshop.env = {"PYTHON_THREADPOOL_THREAD_COUNT": "2"}
    plain = write_function(workshop.root, "plain", "def main(msg: str): ...")
    awaited = write_function(workshop.root, "awaited", "async def main(msg: str): ...")

    loaded = await workshop.make().start([plain, awaited])

    assert loaded.at_once == {"plain": 2}
    assert workshop.probe.of(UserLog) == []


async def test_a_surprise_is_told_once_for_a_function(workshop: Workshop) -> None:
    code = """
        def main(msg: str) -> str:
            return '["a", "b"]'
    """
    spec = write_function(workshop.root, "talks", code, bindings=(TRIGGER, RETURN))
    worker = workshop.make()
    await worker.start([spec])

    for _ in range(3):
        await worker.invoke(invocation("talks"))

    (warning,) = workshop.probe.of(UserLog)
    assert "split into 2 messages" in warning.message
    assert warning.function == "talks"


async def test_an_exception_that_asks_for_something_and_is_swallowed_is_told_once(
    workshop: Workshop,
) -> None:
    (workshop.root / "shop.py").write_text("class Later(Exception):\n    delay = 5\n")
    code = """
        from shop import Later
        def main(msg: str) -> None:
            try:
                raise Later
            except Exception:
                pass
    """
    worker = workshop.make()
    await worker.start([write_function(workshop.root, "swallows", code)])

    for _ in range(3):
        assert written(await worker.invoke(invocation("swallows"))) == {}

    (warning,) = workshop.probe.of(UserLog)
    assert (warning.function, warning.level) == ("swallows", logging.WARNING)
    assert "raised Later and swallowed it" in warning.message


async def test_a_class_of_a_package_in_the_projects_folder_ends_its_run_as_a_failure(
    workshop: Workshop,
) -> None:
    packages = workshop.root / ".python_packages" / "lib" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "carrots.py").write_text("class Reject(Exception):\n    pass\n")
    code = """
        from carrots import Reject
        def main(msg: str) -> None:
            raise Reject("requeue")
    """
    worker = workshop.make()
    await worker.start([write_function(workshop.root, "requeues", code)])

    assert failure(await worker.invoke(invocation("requeues"))).error.type == "Reject"


async def test_a_function_that_blocks_the_loop_is_named_with_the_line(
    workshop: Workshop, tmp_path: Path
) -> None:
    code = """
        import os, time

        async def main(msg: str):
            while not os.path.exists(msg):
                time.sleep(0.005)
    """
    spec = write_function(workshop.root, "blocking", code)
    worker = workshop.make()
    await worker.start([spec])
    release = tmp_path / "release"
    run = asyncio.create_task(worker.invoke(invocation("blocking", str(release))))

    (warning,) = await workshop.probe.wait_for(UserLog)
    release.touch()
    await run
    (_, end) = await workshop.probe.wait_for(UserLog, count=2)

    said = re.fullmatch(r"it blocked the event loop for (\d+\.\d) s", end.message)
    assert said is not None
    assert float(said[1]) >= 2.0
    assert end.function == "blocking"
    assert "blocked the event loop for 2 s" in warning.message
    assert "functions/blocking/__init__.py:" in warning.message
    assert (warning.function, warning.level) == ("blocking", logging.WARNING)


EVERY_WAY = """
    import asyncio, concurrent.futures, contextvars, logging, queue, threading

    wanted, answered = queue.Queue(), threading.Event()
    pool = concurrent.futures.ThreadPoolExecutor(1)

    def background():
        logging.info(wanted.get())
        answered.set()

    threading.Thread(target=background, daemon=True).start()

    async def own(text):
        logging.info("from a loop " + text)
        await asyncio.to_thread(logging.info, "from to_thread in a loop " + text)

    def main(msg: str, context):
        logging.info("from the function")
        pool.submit(logging.info, "from submit").result()
        pool.submit(print, "printed in submit").result()
        pool.submit(contextvars.copy_context().run, logging.info, "with the context").result()
        asyncio.run(own("of its own"))
        thread = threading.Thread(target=asyncio.run, args=[own("in a thread")])
        thread.start()
        thread.join()
        wanted.put("from a thread started at import")
        answered.wait(5)

        def marked():
            context.thread_local_storage.invocation_id = context.invocation_id
            logging.info("from a marked thread")
            print("printed in a marked thread")
        pool.submit(marked).result()
"""
AWAITED = """
    import asyncio, logging

    async def main(msg: str):
        loop = asyncio.get_running_loop()
        await asyncio.to_thread(logging.info, "from to_thread")
        await loop.run_in_executor(None, logging.info, "from run_in_executor")
        called = asyncio.Event()

        def soon():
            logging.info("from call_soon")
            called.set()
        loop.call_soon(soon)
        await called.wait()

        async def task():
            logging.info("from a task")
        await asyncio.gather(task())
"""
OF_THE_RUN = {
    "every_way": {
        "from the function",
        "with the context",
        "from a loop of its own",
        "from to_thread in a loop of its own",
        "from a marked thread",
        "printed in a marked thread",
    },
    "awaited": {"from to_thread", "from call_soon", "from a task"},
}
OF_THE_WORKER = {
    "from submit",
    "printed in submit",
    "from a loop in a thread",
    "from to_thread in a loop in a thread",
    "from a thread started at import",
    "from run_in_executor",
}


async def test_lines_come_once_from_threads_executors_and_loops_with_their_run_where_it_can_be_told(
    workshop: Workshop,
) -> None:  # pyworker#1158, pyworker#1358, pyworker#898, pyworker#1860, pyworker#602
    """By context variables or by the field that a thread sets; else they are the worker's."""
    worker = workshop.make()
    specs = [
        write_function(workshop.root, "every_way", EVERY_WAY),
        write_function(workshop.root, "awaited", AWAITED),
    ]
    assert (await worker.start(specs)).failures == {}
    asked = {name: invocation(name) for name in OF_THE_RUN}

    for one in asked.values():
        await worker.invoke(one)
    expected = sum(map(len, OF_THE_RUN.values()), len(OF_THE_WORKER))
    async with asyncio.timeout(10):
        events = await workshop.probe.wait_for(UserLog, count=expected)

    assert len(events) == expected
    for name, one in asked.items():
        tied = {
            event.message
            for event in events
            if (event.function, event.invocation_id, event.message_id)
            == (name, one.id, one.messages[0].id)
        }
        assert tied == OF_THE_RUN[name]
    assert {e.message for e in events if not (e.function or e.invocation_id)} == OF_THE_WORKER


SAYS = """
    import logging, threading, warnings

    class Odd:
        def __str__(self):
            raise ValueError("no text")

    def fails():
        import no_module_of_that_name

    def dies():
        raise KeyError("in a thread")

    def main(msg: str):
        log = logging.getLogger("shop")
        for level in (5, 10, 20, 25, 30, 40, 50):
            log.log(level, "at %d", level)
        log.info("with fields", extra={
            "order": 7, "total": 1.5, "paid": True, "note": "a b", "nothing": None,
            "lines": [1, {"deep": 2}], "odd": Odd(), "huge": float("inf"), "half": "\\ud83d",
            "\\ud83d": "named by half",
        })
        warnings.warn("careful")
        try:
            fails()
        except ModuleNotFoundError:
            log.exception("caught")
        log.warning("where", stack_info=True)
        logging.getLogger("azure.functions.queue").info("for the host")
        logging.getLogger("azure.functions.queue").warning("from the library")
        for name in ("my function", "azure", "azure.servicebus", "protobuf"):
            logging.getLogger(name).info("by " + name)
        thread = threading.Thread(target=dies, name="mine")
        thread.start()
        thread.join()
        log.info("end")
"""


async def test_records_carry_fields_warnings_are_records_and_tracebacks_hold_the_users_frames(
    workshop: Workshop,
) -> None:  # pyworker#1760
    spec = write_function(workshop.root, "says", SAYS)
    worker = workshop.make()
    await worker.start([spec])
    one = invocation("says")

    await worker.invoke(one)
    async with asyncio.timeout(10):
        await workshop.probe.wait_for(UserLog, where=lambda event: event.message == "end")

    events = {event.message.split("\n")[0]: event for event in workshop.probe.of(UserLog)}
    assert [e.level for text, e in events.items() if text.startswith("at ")] == [20, 25, 30, 40, 50]
    fields = events["with fields"]
    assert fields.extra == {
        "order": 7,
        "total": 1.5,
        "paid": True,
        "note": "a b",
        "nothing": None,
        "lines": [1, "{'deep': 2}"],
        "odd": "its text cannot be shown: __str__ raised ValueError",
        "huge": "inf",
        "half": "\\ud83d",
        "\\ud83d": "named by half",
    }
    (careful,) = [e for text, e in events.items() if text.endswith("UserWarning: careful")]
    assert (careful.level, careful.logger) == (logging.WARNING, "py.warnings")
    assert frames(events["caught"].message) == ["main", "fails"]
    assert events["caught"].message.endswith("No module named 'no_module_of_that_name'")
    assert frames(events["where"].message) == ["main"]
    assert "for the host" not in events
    assert "from the library" in events
    assert [text for text in events if text.startswith("by ")] == [
        "by my function",
        "by azure",
        "by azure.servicebus",
        "by protobuf",
    ]
    died = events["an exception ended thread mine"]
    assert (died.level, frames(died.message)[-1]) == (logging.ERROR, "dies")
    runs = {(e.function, e.invocation_id, e.message_id) for e in events.values() if e is not died}
    assert runs == {("says", one.id, one.messages[0].id)}


def frames(text: str) -> list[str]:
    """The functions of a traceback's frames; none may be of the product's own files."""
    assert "workers/python" not in text
    return [line.rpartition(" in ")[2] for line in text.splitlines() if 'File "' in line]


async def test_fields_of_a_record_come_by_a_handler_of_the_users_own_too(
    workshop: Workshop,
) -> None:
    code = """
        import logging

        def main(msg: str):
            logging.basicConfig(level=logging.INFO, force=True)
            logging.info("said once", extra={"order": 7})
            print("end")
    """
    lines = await lines_of(workshop, code, until="end")

    (said,) = [event for text, event in lines.items() if "said once" in text]
    assert (said.level, said.extra) == (logging.INFO, {"order": 7})
