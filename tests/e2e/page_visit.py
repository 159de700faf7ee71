"""A page's project, its host, and a reader who types the page's lines.

Owns what stands for what only the page's readers have: their ids, folders, ports and app.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.docs.blocks import REPOSITORY, blocks
from tests.docs.transcripts import fits
from tests.e2e import page_lines
from tests.e2e.page_lines import Step
from tests.e2e.reader import Reader, emulators_account, free_port
from tests.e2e.support import LIMIT_S, Background
from tests.e2e.terminal import INTERRUPT, on_terminal

# Pages on which the reader has nothing yet, or no queue service but the one that they bring.
_FROM_NOTHING = frozenset({"README.md"})
_OWN_EMULATOR = _FROM_NOTHING | {"docs/how-to/emulator.md", "docs/how-to/one-off-runs.md"}
# Pages about HTTP; the other hosts would take each other's ports.
_HTTP = frozenset({"docs/how-to/dashboard.md", "docs/how-to/observe.md"})
_OF_THIS_REPOSITORY = frozenset({"docs/how-to/invoke.md"})

# What pages without a project of their own speak of.
_SHOP: Mapping[str, str] = {
    "host.json": '{"version": "2.0", "extensions": {"queues": {"maxDequeueCount": 1}}}',
    "order.json": '{"id": 8}',
    "function_app.py": """
import logging

import azure.functions as func

app = func.FunctionApp()


@app.queue_trigger(arg_name="msg", queue_name="orders", connection="AzureWebJobsStorage")
def ship(msg: func.QueueMessage) -> None:
    logging.info("shipped %s", msg.get_json()["id"])


@app.queue_trigger(arg_name="msg", queue_name="charges", connection="AzureWebJobsStorage")
def charge(msg: func.QueueMessage) -> None:
    logging.info("charged %s", msg.get_json()["id"])
""",
}
_EXAMPLE_ID = "8f3a21c0"
_EXAMPLE_PORTS = re.compile(r"\b(7071|8080)\b")
# A reader's keys; hosts that others can reach are answered by them alone.
_KEYS = {"QTRIGGER_HTTP_KEY": "k" * 32, "QTRIGGER_HTTP_READ_KEY": "r" * 32}
# What is pressed in commands that go on or ask, once they have said something.
_KEYS_PRESSED = {" --watch": INTERRUPT, "qtrigger emulator clean": b"y\n"}
_GOES_ON = re.compile(r"qtrigger (emulator )?start\b")
_IS_UP = re.compile(r'ready in|"kind": "host.ready"|Ctrl-C stops it')
_OURS = f'File "{REPOSITORY / "qtrigger"}/'


class Visit:
    """One page's reader; with it end the host and whatever else the reader started."""

    def __init__(self, page: Path, root: Path, connection: str) -> None:
        self._of = page_lines.name(page)
        self._steps = page_lines.steps(page)
        self._project = root / "shop"
        self._stack = ExitStack()
        self._running: Background | None = None
        self._reader = Reader(root, home=root)
        port = free_port()
        if self._of in _OWN_EMULATOR:
            connection = emulators_account(port)
        self._reader.environ |= {
            **dict.fromkeys(("AzureWebJobsStorage", "Partner"), connection),
            "QTRIGGER_EMULATOR_START_PORT": str(port),
            "XDG_DATA_HOME": str(Path.home() / ".local" / "share"),  # where Azurite is
            **(_KEYS if self._of in _HTTP else {"QTRIGGER_START_NO_HTTP": "1"}),
        }
        if self._of not in _FROM_NOTHING:
            self._write_project(page)

    def __enter__(self) -> Self:
        if self._of in _FROM_NOTHING:
            return self
        if not self._steps[0].text.startswith("cd "):
            self._run("cd shop")
        if not _GOES_ON.match(self._steps[0].text):
            self._start(f"qtrigger start {self._project}")
        if any(_EXAMPLE_ID in each.text for each in self._steps) and self._fallen_back:
            self._run("qtrigger send charges '{}'")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._stack:
            if error is None:
                self._end()

    def type(self, step: Step) -> None:
        """Type it, and see that it ends well, or comes up and goes on."""
        line = self._here(step.text)
        if "when it has ended" in line:
            self._end()
        pressed = [key for words, key in _KEYS_PRESSED.items() if words in line]
        if _GOES_ON.match(line) and "\n" not in line:
            self._end()
            self._start(line)
        elif pressed:
            self._press(line, pressed[0])
        else:
            # Of a script each line counts.
            said = self._run(f"set -e\n{line}")
            assert not step.shown or fits(step.shown).fullmatch(said.rstrip("\n")), said

    def _run(self, line: str) -> str:
        ended = self._reader.run(line)
        assert ended.returncode == 0, f"{line}\n{ended.stdout}{ended.stderr}"
        return ended.stdout

    def _start(self, line: str) -> None:
        program = ["bash", "-c", f"exec {line}"]
        self._running = Background(program, self._reader.environ, self._reader.root)
        self._stack.callback(self._running.end)
        if "--exit-when-idle" in line:
            self._end(interrupt=False)
        else:
            self._running.wait_for_match(_IS_UP)

    def _end(self, *, interrupt: bool = True) -> None:
        """See what runs end well, by Ctrl-C or by itself."""
        if self._running is None:
            return
        if interrupt:
            self._running.signal(signal.SIGINT)
        assert self._running.wait() == 0, self._running.output
        assert _OURS not in self._running.output, self._running.output
        self._running = None

    def _press(self, line: str, key: bytes) -> None:
        program = ["bash", "-c", f"exec {line}"]
        with on_terminal(self._reader, {}, 100, program) as terminal:
            terminal.wait_for_match(re.compile(r"\S"))
            terminal.press(key)
            assert terminal.wait() == 0, terminal.text

    def _here(self, text: str) -> str:
        """A line with what is here in place of what the page's readers have."""
        text = text.replace("sudo /opt/qtrigger/bin/", "").replace("/opt/qtrigger/bin/", "")
        for folder in ("/srv/orders", "/srv/shop"):
            text = text.replace(folder, str(self._project))
        text = text.replace("/var/lib/qtrigger/orders", str(self._project / ".qtrigger"))
        text = _EXAMPLE_PORTS.sub(lambda _: str(free_port()), text)
        return text.replace(_EXAMPLE_ID, self._an_id()) if _EXAMPLE_ID in text else text

    def _an_id(self) -> str:
        """A message's in a poison queue, once there is one."""
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until:  # every look is a process
            listed = json.loads(self._run("qtrigger poison list --format json"))
            for each in listed["messages"]:
                return str(each["id"])[:8]
        raise AssertionError("no message was poisoned")

    def _write_project(self, page: Path) -> None:
        files = {block.path: block.text for block in blocks(page) if block.path}
        self._fallen_back = not any(path.endswith(".py") for path in files)
        if self._of in _OF_THIS_REPOSITORY:
            shutil.copytree(REPOSITORY / "functions", self._project / "functions")
            shutil.copy(REPOSITORY / "host.json", self._project)
            return
        for path, text in ({**_SHOP, **files} if self._fallen_back else files).items():
            target = self._project / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
