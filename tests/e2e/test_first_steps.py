"""A newcomer's first ten minutes, by the commands that the README gives them."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.reader import emulators_account, free_port
from tests.e2e.support import QTRIGGER, REPOSITORY, qtrigger, running


@dataclass
class Newcomer:
    """A folder without anything, and a machine whose emulator has a port of its own."""

    folder: Path
    root: Path  # of the project that is going to be there
    environ: dict[str, str]

    def says(self, *words: str) -> str:
        """Run a command in the project, which must go well, and return its output."""
        where = self.root if self.root.exists() else self.folder
        ended = qtrigger("-C", str(where), *words, environ=self.environ)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout


@pytest.fixture
def newcomer(tmp_path: Path) -> Newcomer:
    account = emulators_account(free_port())
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    # What init writes means port 10001, which another test or a person may hold.
    environ = {**kept, "PYTHONPATH": str(REPOSITORY), "AzureWebJobsStorage": account}
    return Newcomer(tmp_path, tmp_path / "shop", environ)


def test_from_nothing_to_a_message_that_was_handled(newcomer: Newcomer) -> None:
    newcomer.says("init", "shop")
    newcomer.says("new", "ship", "--queue", "parcels", "--output", "shipped")

    with running(newcomer) as host:
        host.wait_for("ship")
        newcomer.says("send", "orders", '{"id": 1}')
        host.wait_for('process_order got {"id": 1}')
        newcomer.says("send", "parcels", "a box")
        host.wait_for("ship got a box")
        assert "running" in newcomer.says("emulator", "status")

        script = newcomer.root / "function_app.py"
        script.write_text(script.read_text().replace("process_order got", "thanks for"))
        host.wait_for("live again in")
        newcomer.says("send", "orders", '{"id": 2}')
        host.wait_for('thanks for {"id": 2}')

        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert "removed" in newcomer.says("emulator", "clean", "--yes")


def test_the_emulator_runs_alone_until_it_is_stopped(newcomer: Newcomer) -> None:
    newcomer.says("init", "shop", "--model", "v1")
    port = newcomer.environ["AzureWebJobsStorage"].rpartition(":")[2].partition("/")[0]
    command = [*QTRIGGER, "-C", str(newcomer.root), "emulator", "start", "--port", port]
    with subprocess.Popen(
        command, env=newcomer.environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as emulator:
        try:
            assert emulator.stdout is not None
            assert f"127.0.0.1:{port}, data in .azurite/" in emulator.stdout.readline()
            assert str(emulator.pid) in newcomer.says("emulator", "status")
            assert "sent 1 to orders" in newcomer.says("send", "orders", "early")
            assert "already running" in newcomer.says("emulator", "start", "--port", port)
        finally:
            emulator.send_signal(signal.SIGTERM)
        assert emulator.wait(20) == 0

    with pytest.raises(AssertionError):
        newcomer.says("emulator", "status", "--port", port)


def test_an_empty_folder_is_told_of_init(newcomer: Newcomer) -> None:
    ended = qtrigger("-C", str(newcomer.folder), "start", environ=newcomer.environ)

    assert ended.returncode == 3
    assert "qtrigger init" in ended.stderr


@pytest.mark.parametrize(("alias", "verb"), [("validate", "check")])
def test_other_tools_words_are_taken(newcomer: Newcomer, alias: str, verb: str) -> None:
    newcomer.says("init", "shop", "--model", "v1")

    assert newcomer.says(alias, "--no-import") == newcomer.says(verb, "--no-import")
    assert alias not in newcomer.says("--help")


def test_bash_completes_verbs_and_the_projects_functions(newcomer: Newcomer) -> None:
    newcomer.says("init", "shop", "--model", "v1")
    (newcomer.folder / "qtrigger").write_text(f'#!/bin/sh\nexec {" ".join(QTRIGGER)} "$@"\n')
    (newcomer.folder / "qtrigger").chmod(0o755)
    script = newcomer.folder / "completion.bash"
    script.write_text(newcomer.says("completion", "bash"))
    asked = (
        f"source {script}; PATH={newcomer.folder}:$PATH; COMP_WORDS=(qtrigger {{words}}); "
        'COMP_CWORD={number}; _qtrigger_completion qtrigger; echo "${{COMPREPLY[@]}}"'
    )

    def completed(*words: str) -> str:
        line = asked.format(words=" ".join(words), number=len(words))
        return subprocess.run(
            ["bash", "-c", line],
            cwd=newcomer.root,
            env=newcomer.environ,
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        ).stdout.strip()

    assert completed("pau") == "pause"
    assert completed("pause", "''") == "process_order"


def test_a_folder_to_begin_in_must_be_there(newcomer: Newcomer) -> None:
    ended = qtrigger("-C", str(newcomer.folder / "nowhere"), "check", environ=newcomer.environ)

    assert ended.returncode == 2
    assert "nowhere: No such file or directory" in ended.stderr
