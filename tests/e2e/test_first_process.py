"""A host as the first process, as it is in a container: it is stopped, and it reaps."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.small_host import wait_until
from tests.e2e.conftest import Service
from tests.e2e.support import REPOSITORY, START, ProjectFolder, RunningHost, running

_UNSHARE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
NAMESPACE = _UNSHARE if os.geteuid() == 0 else (*_UNSHARE, "--user", "--map-root-user")


def namespaces_can_be_made() -> bool:
    try:
        tried = subprocess.run([*NAMESPACE, "true"], capture_output=True, timeout=10, check=False)
    except OSError:
        return False
    return tried.returncode == 0


pytestmark = pytest.mark.skipif(
    not namespaces_can_be_made(), reason="no process can be the first of others here"
)


def children(pid: int) -> list[int]:
    said = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(each) for each in said.split()]


def first_process(host: RunningHost) -> int:
    """The host's own number as the machine has it; what was started is `unshare`."""
    (found,) = children(host.pid)
    return found


def ended(pid: int) -> list[int]:
    """Its children that have ended and that nobody has asked after."""
    stats = {each: Path(f"/proc/{each}/stat") for each in children(pid)}
    return [
        each
        for each, path in stats.items()
        if path.exists() and path.read_text().rpartition(")")[2].split()[0] == "Z"
    ]


async def test_sigterm_lets_a_run_finish_within_the_shutdown_timeout(
    folder: ProjectFolder, service: Service
) -> None:
    folder.host_json(shutdownTimeout="00:00:20")
    folder.function(
        "charge",
        """
        import logging, time
        def main(msg):
            logging.info("begun")
            time.sleep(1.5)
            note("done")
        """,
    )
    await service.put(folder.queue("charge"), ["a"])

    with running(folder, program=(*NAMESPACE, *START)) as host:
        host.wait_for("INFO begun")
        os.kill(first_process(host), signal.SIGTERM)
        assert host.wait() == 0

    assert folder.notes() == ["done"]
    assert "1 ok" in host.output
    assert await service.count(folder.queue("charge")) == 0


async def test_processes_that_user_code_leaves_behind_do_not_stay(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function(
        "leave",
        """
        import subprocess
        def main(msg):
            subprocess.run(["sh", "-c", "setsid sleep 0.1 & setsid sleep 0.2 &"], check=True)
        """,
    )
    await service.put(folder.queue("leave"), ["a"])

    with running(folder, program=(*NAMESPACE, *START)) as host:
        host.wait_for("  ok  ")
        pid = first_process(host)
        wait_until(lambda: len(ended(pid)) == 2, "both have ended")
        wait_until(lambda: not ended(pid), "both were asked after")
        assert len(children(pid)) >= 1  # the worker is there still
        os.kill(pid, signal.SIGTERM)
        assert host.wait() == 0


def test_a_stop_that_comes_before_the_supervisors_handlers_is_not_lost() -> None:
    """Without a handler the first process does not even get the signal."""
    code = (
        "import signal; from qtrigger.orphans import leave_on_sigterm; "
        "leave_on_sigterm(); print('up', flush=True); signal.pause()"
    )
    command = [*NAMESPACE, sys.executable, "-c", code]
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environ) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == b"up\n"
        (pid,) = children(started.pid)
        os.kill(pid, signal.SIGTERM)
        assert started.wait(10.0) == 0
