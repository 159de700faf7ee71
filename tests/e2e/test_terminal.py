"""What a person sees of `qtrigger start`: on a terminal, without colours, and in a pipe."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping

from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, qtrigger, running
from tests.e2e.terminal import CODES, INTERRUPT, on_terminal

FAILS = """
import json
def main(msg):
    json.loads("{")
"""


async def test_a_terminal_gets_colours_and_its_width_and_a_pipe_gets_plain_lines(
    folder: ProjectFolder, service: Service
) -> None:
    """With NO_COLOR the terminal gets the same without a code."""
    for environ in ({"NO_COLOR": ""}, {"NO_COLOR": "1"}):
        await _on_a_terminal(folder, service, environ)
    with running(folder, "--log-format", "auto") as host:
        host.wait_for("ready in")
        host.signal(signal.SIGTERM)
        assert host.wait() == 0
    assert "\x1b" not in host.output
    assert "Try:" not in host.output


async def _on_a_terminal(
    folder: ProjectFolder, service: Service, environ: Mapping[str, str]
) -> None:
    if not (folder.root / "functions").exists():
        folder.host_json({"maxDequeueCount": 1})
        folder.function("breaks", FAILS)
    await service.put(folder.queue("breaks"), ["a"])
    with on_terminal(folder, environ) as terminal:
        terminal.wait_for("hint: qtrigger poison show")
        terminal.press(INTERRUPT)
        assert terminal.wait() == 0
    text = CODES.sub("", terminal.text)
    assert bool(CODES.search(terminal.text)) is not bool(environ["NO_COLOR"])
    assert text.startswith("qtrigger ")
    assert "Try:  qtrigger send" in text
    assert "… 3 frames of libraries" in text
    assert "stopping  Ctrl-C: nothing is running" in text
    assert "0 ok · 1 failed · 1 poisoned · 0 handed back" in text
    table = text[text.index("FUNCTION") : text.index("ready in")].splitlines()
    assert max(map(len, table)) <= 80


def test_check_colours_what_it_says_when_asked_to(folder: ProjectFolder) -> None:
    (folder.root / "host.json").write_text('{"version": "2.0", "extensionz": {}}')
    arguments = ("check", str(folder.root), "--no-import")

    assert "\x1b[" in qtrigger(*arguments, "--color", "always", environ=folder.environ).stdout
    assert "\x1b[" not in qtrigger(*arguments, environ=folder.environ).stdout


def test_in_json_an_error_before_the_host_is_up_is_a_line_too(folder: ProjectFolder) -> None:
    done = qtrigger(
        "start", str(folder.root), "--environment", "Production", environ=folder.environ
    )

    kinds = re.findall(r'"kind": "([\w.]+)"', done.stdout)
    assert (done.returncode, done.stderr) == (3, "")
    assert kinds[-2:] == ["start.failed", "summary"]
