"""Everything that user code logs or prints arrives, once, with its level and its run."""

from __future__ import annotations

import asyncio
import logging
import re
from pathlib import Path

import pytest

from qtrigger.events import UserLog
from tests.integration.workers.support import RETURN, TRIGGER, Workshop, invocation, write_function


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
