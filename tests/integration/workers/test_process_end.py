"""A worker process that ends, hangs or misbehaves: nothing is left open, nothing left over."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from qtrigger.errors import WorkerStartError
from qtrigger.events import UserLog
from qtrigger.invocation import Interrupted, Succeeded, TimedOut, WorkerLost
from qtrigger.workers.deadlines import Deadlines
from qtrigger.workers.pooled import LoadCrash
from qtrigger.workers.process import PythonWorker
from tests.integration.workers.support import (
    RETURN,
    TRIGGER,
    Workshop,
    failure,
    invocation,
    outcome,
    returned,
    until,
    write_function,
)

CRASHES = """
    import ctypes, os, signal

    def main(msg: str):
        if msg == "exit":
            os._exit(3)
        if msg == "clean exit":
            os._exit(0)
        if msg == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if msg == "segfault":
            ctypes.string_at(0)
        if msg == "close":
            os.closerange(3, 256)
"""

WAITS = """
    import asyncio

    async def main(msg: str):
        print("waiting", flush=True)
        await asyncio.Event().wait()
"""

# Blocks its thread until the test creates the file it is given.
BLOCKS = """
    import os, time

    def main(msg: str):
        print("blocking", flush=True)
        while not os.path.exists(msg):
            time.sleep(0.005)
"""


async def started(workshop: Workshop, *names_and_code: tuple[str, str]) -> PythonWorker:
    specs = [write_function(workshop.root, name, code) for name, code in names_and_code]
    worker = workshop.make()
    loaded = await worker.start(specs)
    assert loaded.failures == {}
    return worker


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class Hand:
    """A message in hand; the last body that a run left for the next try."""

    latest: bytes | None = None

    def checkpoint(self, body: bytes) -> None:
        self.latest = body


async def test_what_a_run_left_just_before_its_process_ended_is_not_lost(
    workshop: Workshop,
) -> None:
    code = """
        import os
        def main(msg: str, context):
            for number in range(100):
                context.checkpoint(f"{number}" + "x" * 40000)
            os._exit(3)
    """
    worker = await started(workshop, ("crash", code))
    hand = Hand()

    ran = await worker.invoke(replace(invocation("crash"), next_try=hand))

    assert outcome(ran) == WorkerLost(how="exit code 3", alone=True)
    assert (hand.latest or b"")[:3] == b"99x"


@pytest.mark.parametrize(
    ("what", "how"),
    [
        ("exit", "exit code 3"),
        ("clean exit", "exit code 0"),
        ("segfault", "signal 11 (SIGSEGV)"),
    ],
)
async def test_a_process_that_ends_loses_its_run_and_says_how(
    workshop: Workshop, what: str, how: str
) -> None:
    worker = await started(workshop, ("crash", CRASHES))

    ran = await worker.invoke(invocation("crash", what))

    assert outcome(ran) == WorkerLost(how=how, alone=True)
    await worker.wait_ended()
    assert (worker.how, worker.lost, worker.expected, worker.accepting) == (how, 1, False, False)


async def test_a_process_that_is_killed_says_why_that_is_mostly_and_what_memory_it_held(
    workshop: Workshop,
) -> None:
    code = """
        import os, signal

        def main(msg: str):
            held = bytes([1]) * (200 << 20)
            os.kill(os.getpid(), signal.SIGKILL)
    """
    worker = await started(workshop, ("greedy", code))

    lost = outcome(await worker.invoke(invocation("greedy")))

    assert isinstance(lost, WorkerLost)
    # A range, where another child of this process that has ended held more.
    memory = r"peak memory (?:\d+ MiB to )?(\d+) MiB"
    said = re.fullmatch(rf"signal 9 \(often: out of memory\), {memory}", lost.how)
    assert said is not None, lost.how
    assert int(said[1]) >= 200


async def test_memory_that_the_system_refuses_fails_the_run_and_the_worker_goes_on(
    workshop: Workshop,
) -> None:
    code = """
        import resource

        def main(msg: str) -> str:
            if msg == "greedy":
                soft, hard = resource.getrlimit(resource.RLIMIT_AS)
                resource.setrlimit(resource.RLIMIT_AS, (2 << 30, hard))
                try:
                    bytearray(4 << 30)
                finally:
                    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
            return "there"
    """
    worker = workshop.make()
    await worker.start([write_function(workshop.root, "greedy", code, bindings=(TRIGGER, RETURN))])

    refused = failure(await worker.invoke(invocation("greedy", "greedy")))

    assert refused.error.type == "MemoryError"
    assert returned(await worker.invoke(invocation("greedy"))) == [b"there"]


async def test_neighbours_of_a_crash_are_lost_and_know_they_were_not_alone(
    workshop: Workshop,
) -> None:
    worker = await started(workshop, ("crash", CRASHES), ("waits", WAITS))
    neighbours = [asyncio.create_task(worker.invoke(invocation("waits"))) for _ in range(3)]
    await workshop.probe.wait_for(UserLog, count=3, where=lambda e: e.message == "waiting")

    ran = [await worker.invoke(invocation("crash", "exit")), *await asyncio.gather(*neighbours)]

    assert {outcome(one) for one in ran} == {WorkerLost(how="exit code 3", alone=False)}
    assert worker.lost == 4


async def test_a_process_that_closes_its_socket_is_lost_and_ended(workshop: Workshop) -> None:
    worker = await started(workshop, ("crash", CRASHES))
    pid = worker.pid

    ran = await worker.invoke(invocation("crash", "close"))

    lost = outcome(ran)
    assert isinstance(lost, WorkerLost)
    assert lost.how in ("exit code 70", "it closed its connection")
    assert not is_alive(pid)


async def test_an_answer_written_before_the_end_counts(workshop: Workshop) -> None:
    worker = await started(
        workshop,
        (
            "last",
            """
            import os, threading

            def main(msg: str):
                threading.Timer(0.05, os._exit, [3]).start()
            """,
        ),
    )

    assert outcome(await worker.invoke(invocation("last"))) == Succeeded()
    await worker.wait_ended()
    assert worker.lost == 0


async def test_a_crash_leaves_nothing_of_its_group_behind(workshop: Workshop) -> None:
    worker = await started(
        workshop,
        (
            "parent",
            """
            import os, subprocess

            def main(msg: str):
                child = subprocess.Popen(["sleep", "600"])
                print(child.pid, flush=True)
                os._exit(1)
            """,
        ),
    )

    await worker.invoke(invocation("parent"))

    (line,) = await workshop.probe.wait_for(UserLog, where=lambda e: e.message.isdigit())
    pid = int(line.message)
    await until(lambda: not is_alive(pid) or is_zombie(pid))


def is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


async def test_a_function_that_forks_does_not_disturb_the_worker(workshop: Workshop) -> None:
    spec = write_function(
        workshop.root,
        "forks",
        """
        import os

        def main(msg: str) -> str:
            child = os.fork()
            if child == 0:
                print("from the fork", flush=True)
                os._exit(0)
            os.waitpid(child, 0)
            return msg
        """,
        bindings=(TRIGGER, RETURN),
    )
    worker = workshop.make()
    await worker.start([spec])

    for text in ("first", "second"):
        assert returned(await worker.invoke(invocation("forks", text))) == [text.encode()]

    await workshop.probe.wait_for(UserLog, count=2, where=lambda e: e.message == "from the fork")


async def test_a_plain_function_over_its_time_is_answered_when_it_is_really_over(
    workshop: Workshop, tmp_path: Path
) -> None:
    worker = await started(workshop, ("blocks", BLOCKS), ("waits", WAITS))
    pid = worker.pid

    ran = await worker.invoke(invocation("blocks", str(tmp_path / "never"), timeout_s=0.05))

    assert outcome(ran) == TimedOut(after_s=0.05)
    assert not is_alive(pid)
    assert worker.expected


async def test_neighbours_of_a_run_over_its_time_may_finish(
    workshop: Workshop, tmp_path: Path
) -> None:
    worker = await started(workshop, ("blocks", BLOCKS))
    finishes = tmp_path / "finishes"
    neighbour = asyncio.create_task(worker.invoke(invocation("blocks", str(finishes))))
    late = asyncio.create_task(
        worker.invoke(invocation("blocks", str(tmp_path / "never"), timeout_s=0.05))
    )

    await worker.wait_unavailable()
    assert not late.done()
    finishes.touch()

    assert outcome(await neighbour) == Succeeded()
    assert outcome(await late) == TimedOut(after_s=0.05)


async def test_neighbours_that_do_not_finish_are_interrupted_and_not_lost(
    workshop: Workshop, tmp_path: Path
) -> None:
    workshop.deadlines = Deadlines(retire_s=0.1)
    worker = await started(workshop, ("blocks", BLOCKS))
    never = str(tmp_path / "never")
    neighbour = asyncio.create_task(worker.invoke(invocation("blocks", never)))

    ran = await worker.invoke(invocation("blocks", never, timeout_s=0.05))

    assert outcome(ran) == TimedOut(after_s=0.05)
    assert outcome(await neighbour) == Interrupted(by="neighbour")
    assert worker.lost == 0


async def test_an_async_function_that_blocks_the_loop_over_its_time_is_ended(
    workshop: Workshop,
) -> None:
    code = """
        import time

        async def main(msg: str):
            time.sleep(600)
    """
    worker = await started(workshop, ("blocking", code))

    ran = await worker.invoke(invocation("blocking", timeout_s=0.05))

    assert outcome(ran) == TimedOut(after_s=0.05)


async def test_a_blocked_loop_does_not_hold_up_plain_functions(
    workshop: Workshop, tmp_path: Path
) -> None:
    code = """
        import os, time

        async def main(msg: str):
            print("blocking", flush=True)
            while not os.path.exists(msg):
                time.sleep(0.005)
    """
    echo = "def main(msg: str): pass"
    worker = await started(workshop, ("blocking", code), ("plain", echo))
    release = tmp_path / "release"
    blocked = asyncio.create_task(worker.invoke(invocation("blocking", str(release))))
    await workshop.probe.wait_for(UserLog, where=lambda e: e.message == "blocking")

    assert outcome(await worker.invoke(invocation("plain"))) == Succeeded()

    assert not blocked.done()
    release.touch()
    assert outcome(await blocked) == Succeeded()


async def test_the_time_of_a_run_begins_when_its_code_does(
    workshop: Workshop, tmp_path: Path
) -> None:
    workshop.env = {"PYTHON_THREADPOOL_THREAD_COUNT": "1"}
    worker = await started(workshop, ("blocks", BLOCKS))
    release = tmp_path / "release"
    first = asyncio.create_task(worker.invoke(invocation("blocks", str(release))))
    await workshop.probe.wait_for(UserLog, where=lambda e: e.message == "blocking")
    second = asyncio.create_task(worker.invoke(invocation("blocks", str(release), timeout_s=0.2)))

    done, _ = await asyncio.wait([second], timeout=0.5)
    assert not done
    release.touch()

    assert outcome(await first) == Succeeded()
    assert outcome(await second) == Succeeded()


async def test_a_run_whose_caller_gave_up_is_cancelled_and_leaves_its_place(
    workshop: Workshop,
) -> None:
    worker = await started(workshop, ("waits", WAITS))
    run = asyncio.create_task(worker.invoke(invocation("waits")))
    await workshop.probe.wait_for(UserLog, where=lambda e: e.message == "waiting")

    run.cancel()
    await asyncio.wait([run])

    await until(lambda: not worker.running)
    assert worker.accepting


async def test_after_the_grace_async_code_may_clean_up_and_the_process_leaves_by_itself(
    workshop: Workshop,
) -> None:
    code = """
        import asyncio

        async def main(msg: str):
            print("waiting", flush=True)
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0.01)
                print("cleaned up", flush=True)
    """
    worker = await started(workshop, ("waits", code))
    run = asyncio.create_task(worker.invoke(invocation("waits")))
    await workshop.probe.wait_for(UserLog, where=lambda e: e.message == "waiting")

    await worker.stop(0.0)

    assert outcome(await run) == Interrupted()
    assert [e.message for e in workshop.probe.of(UserLog)] == ["waiting", "cleaned up"]
    assert worker.how == "exit code 0"


async def test_a_stop_with_grace_lets_runs_finish_and_the_process_leave_by_itself(
    workshop: Workshop, tmp_path: Path
) -> None:
    worker = await started(
        workshop,
        ("blocks", "import atexit; atexit.register(print, 'left')\n" + _dedented(BLOCKS)),
    )
    release = tmp_path / "release"
    run = asyncio.create_task(worker.invoke(invocation("blocks", str(release))))
    await workshop.probe.wait_for(UserLog, where=lambda e: e.message == "blocking")
    stop = asyncio.create_task(worker.stop(30.0))

    release.touch()
    await stop

    assert outcome(await run) == Succeeded()
    assert (worker.how, worker.expected) == ("exit code 0", True)
    assert [e.logger for e in workshop.probe.of(UserLog) if e.message == "left"] == ["stdout"]


def _dedented(code: str) -> str:
    return code.replace("\n    ", "\n")


async def test_a_stop_during_a_retirement_ends_it_too(workshop: Workshop, tmp_path: Path) -> None:
    worker = await started(workshop, ("blocks", BLOCKS))
    never = str(tmp_path / "never")
    neighbour = asyncio.create_task(worker.invoke(invocation("blocks", never)))
    late = asyncio.create_task(worker.invoke(invocation("blocks", never, timeout_s=0.05)))
    await worker.wait_unavailable()

    await worker.stop(0.0)

    assert outcome(await late) == TimedOut(after_s=0.05)
    assert outcome(await neighbour) == Interrupted()
    names = {task.get_name() for task in asyncio.all_tasks()}
    assert not any("worker process" in name for name in names)


async def test_a_stop_ends_code_that_shrugs_off_sigterm(workshop: Workshop) -> None:
    worker = await started(
        workshop,
        (
            "shrugs",
            """
            import signal, time
            signal.signal(signal.SIGTERM, lambda *_: None)

            def main(msg: str):
                print("running", flush=True)
                time.sleep(600)
            """,
        ),
    )
    run = asyncio.create_task(worker.invoke(invocation("shrugs")))
    await workshop.probe.wait_for(UserLog, where=lambda e: e.message == "running")

    await worker.stop(0.0)

    assert outcome(await run) == Interrupted()
    assert worker.how == "signal 9 (SIGKILL)"


HOST = """
    import asyncio, sys
    from pathlib import Path
    from tests.integration.workers.support import Workshop, invocation, specs_of
    from qtrigger.events import UserLog

    async def main():
        shop = Workshop(root=Path(sys.argv[1]))
        worker = shop.make()
        await worker.start(specs_of(shop.root))
        run = asyncio.create_task(worker.invoke(invocation("blocking")))
        (line,) = await shop.probe.wait_for(UserLog)
        print(worker.pid, line.message, flush=True)
        await run

    asyncio.run(main())
"""


HOLDS_THE_LOOP = """
    import subprocess, time

    async def main(msg: str):
        print(subprocess.Popen(["sleep", "600"]).pid, flush=True)
        time.sleep(600)
"""
# An expression that never ends never gives the interpreter's lock away either.
HOLDS_THE_LOCK = """
    import re, subprocess, threading

    def main(msg: str):
        print(subprocess.Popen(["sleep", "600"]).pid, flush=True)
        threading.Timer(0.05, re.match, [r"(a+)+$", "a" * 64 + "b"]).start()
        threading.Event().wait()
"""


def processor_time(pid: int) -> float:
    """What a process has used so far, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize(
    "code",
    [
        HOLDS_THE_LOOP,
        pytest.param(
            HOLDS_THE_LOCK,
            marks=pytest.mark.skipif(sys.platform != "linux", reason="the kernel must offer it"),
        ),
    ],
    ids=["loop", "lock"],
)
async def test_the_process_and_its_children_end_when_the_host_is_killed(
    workshop: Workshop, code: str
) -> None:
    write_function(workshop.root, "blocking", code)
    host = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        textwrap.dedent(HOST),
        str(workshop.root),
        cwd=Path(__file__).parents[3],
        stdout=asyncio.subprocess.PIPE,
    )
    assert host.stdout is not None
    pids = [int(pid) for pid in (await host.stdout.readline()).split()]
    assert all(is_alive(pid) for pid in pids)
    if code is HOLDS_THE_LOCK:
        began_with = processor_time(pids[0])
        await until(lambda: processor_time(pids[0]) > began_with + 0.2)

    host.kill()
    await host.wait()

    await until(lambda: all(not is_alive(pid) or is_zombie(pid) for pid in pids))


async def test_last_words_from_below_python_are_heard(workshop: Workshop) -> None:
    worker = await started(workshop, ("crash", CRASHES))

    await worker.invoke(invocation("crash", "segfault"))

    lines = [event.message for event in workshop.probe.of(UserLog)]
    assert any("Segmentation fault" in line for line in lines)
    assert any("__init__.py" in line and "in main" in line for line in lines)


async def test_a_process_that_breaks_the_protocol_is_ended(workshop: Workshop) -> None:
    code = """
        import contextlib, os, stat

        def main(msg: str):
            for descriptor in range(3, 64):
                with contextlib.suppress(OSError):
                    if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                        os.write(descriptor, b"\\xff" * 64)
    """
    worker = await started(workshop, ("writes", code))

    ran = await worker.invoke(invocation("writes"))

    lost = outcome(ran)
    assert isinstance(lost, WorkerLost)
    assert "broke the protocol" in lost.how
    assert not is_alive(worker.pid)


async def test_a_result_with_too_few_ends_loses_the_run_and_says_why(workshop: Workshop) -> None:
    code = """
        import os, json, stat, struct

        def main(msg: str):
            text = json.dumps({"t": "result", "id": 1, "ends": []}).encode()
            for descriptor in range(3, 64):
                try:
                    if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                        os.write(descriptor, struct.pack("!II", len(text), 0) + text)
                except OSError:
                    pass
    """
    worker = await started(workshop, ("writes", code))

    lost = outcome(await worker.invoke(invocation("writes")))

    assert isinstance(lost, WorkerLost)
    assert lost.how == "it broke the protocol: a result has 0 ends for 1 messages"


async def test_an_interrupt_from_the_terminal_does_not_reach_the_process(
    workshop: Workshop,
) -> None:
    worker = await started(workshop, ("waits", WAITS))

    assert os.getsid(worker.pid) == worker.pid
    os.kill(worker.pid, signal.SIGINT)

    run = asyncio.create_task(worker.invoke(invocation("waits")))
    await workshop.probe.wait_for(UserLog, where=lambda e: e.message == "waiting")
    await worker.stop(0.0)
    assert outcome(await run) == Interrupted()


async def test_an_interpreter_that_is_missing_is_a_start_error(workshop: Workshop) -> None:
    workshop.interpreter = workshop.root / "no" / "python"

    with pytest.raises(WorkerStartError, match="no/python"):
        await workshop.make().start([])


async def test_an_interpreter_that_is_none_is_a_start_error_with_its_last_words(
    workshop: Workshop,
) -> None:
    workshop.interpreter = workshop.root / "python"
    workshop.interpreter.write_text("#!/bin/sh\necho what is python >&2\nexit 9\n")
    workshop.interpreter.chmod(0o755)

    with pytest.raises(WorkerStartError, match=r"exit code 9\n.*what is python"):
        await workshop.make().start([])


async def test_an_interpreter_that_says_nothing_is_given_up(workshop: Workshop) -> None:
    workshop.interpreter = workshop.root / "python"
    workshop.interpreter.write_text("#!/bin/sh\nexec sleep 600\n")
    workshop.interpreter.chmod(0o755)
    workshop.deadlines = Deadlines(start_s=0.1)

    with pytest.raises(WorkerStartError, match=r"no hello within 0\.1 s"):
        await workshop.make().start([])


async def test_a_crash_at_import_names_the_function(workshop: Workshop) -> None:
    good = write_function(workshop.root, "good", "def main(msg: str): pass")
    bad = write_function(workshop.root, "bad", "import os; os._exit(4)")

    with pytest.raises(LoadCrash) as caught:
        await workshop.make().start([good, bad])

    assert caught.value.function == "bad"
    assert "exit code 4" in caught.value.failure.message
    assert caught.value.again


async def test_an_import_that_hangs_is_named_and_given_up(workshop: Workshop) -> None:
    workshop.deadlines = Deadlines(load_s=0.4, load_note_s=0.1)
    slow = write_function(workshop.root, "slow", "import time; time.sleep(600)")

    worker = workshop.make()
    with pytest.raises(LoadCrash) as caught:
        await worker.start([slow])

    assert (caught.value.function, caught.value.again) == ("slow", False)
    (note,) = [e for e in workshop.probe.of(UserLog) if "takes longer" in e.message]
    script = slow.script_file.relative_to(workshop.root)
    text = f"importing {script} takes longer than 0.1 s (process {worker.pid})"
    assert (note.function, note.message) == ("slow", text)


INDESCRIBABLE = {
    "str raises SystemExit": """
        class Odd(Exception):
            def __str__(self):
                raise SystemExit(3)

        def main(msg: str):
            raise Odd
    """,
    "no module": """
        def main(msg: str):
            raise type("Odd", (Exception,), {"__module__": None})("x")
    """,
    "syntax error of numbers": """
        def main(msg: str):
            raise SyntaxError("m", (5, 1, 1, "t"))
    """,
    "attribute raises": """
        class Later(Exception):
            @property
            def delay(self):
                raise KeyError("delay")

        def main(msg: str):
            raise Later
    """,
    "cancelled before it began": """
        import asyncio

        async def main(msg: str):
            for task in asyncio.all_tasks():
                task.cancel()
            await asyncio.sleep(1)
    """,
}


@pytest.mark.parametrize("code", INDESCRIBABLE.values(), ids=INDESCRIBABLE.keys())
async def test_every_run_is_answered_however_odd_its_end(workshop: Workshop, code: str) -> None:
    worker = await started(workshop, ("odd", code))

    async with asyncio.timeout(10.0):
        ended = await asyncio.gather(*(worker.invoke(invocation("odd")) for _ in range(2)))

    assert {type(each.outcomes[0]).__name__ for each in ended} == {"Failed"}
