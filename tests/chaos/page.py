"""A page of the dashboard in a real browser, while a host handles many messages.

By hand, `python -m tests.chaos.page --messages-per-second 2000 --seconds 20` says whether the
figures of the page are those of `/api/status` and `/metrics` when all is done, and the longest time
for which the page did not answer a click (the longest gap of its main thread). With `--rounds 5` it
also measures how many messages a second a host handles with and without that page, in turns, and
compares the medians. Messages come from the queue server of the benchmarks. Linux alone.
"""

# ruff: noqa: T201 - a program for people

from __future__ import annotations

import argparse
import os
import socket
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from json import loads
from pathlib import Path
from statistics import median
from typing import Final

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import small_host
from benchmarks.processes import running
from benchmarks.service import Service, serving
from qtrigger.admin.dashboard import words
from tests.browser.conftest import ARGUMENTS, chromium

QUEUE: Final = "q000"
TEXT: Final = "aGVsbG8="
LIMIT_S: Final = 60.0
FEED_S: Final = 0.1
# A backlog that outlasts a round, so that what is measured is the host and no sender.
MOST_A_SECOND: Final = 6000
WARM_S: Final = 2.0
SCRIPT: Final = "def main(msg: str) -> None:\n    pass\n"
# The page's own clock is asked as often as it answers; what is between two answers is a gap.
GAPS: Final = """() => {
    window.longest = 0;
    let before = performance.now();
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
        const now = performance.now();
        window.longest = Math.max(window.longest, now - before);
        before = now;
        setTimeout(() => channel.port2.postMessage(0), 0);
    };
    channel.port2.postMessage(0);
}"""


@dataclass(frozen=True, slots=True)
class Figures:
    """How many messages were handled, as each says; `longest_gap_ms` is the page's."""

    sent: int
    page: str
    status: int
    metrics: int
    longest_gap_ms: float

    @property
    def agree(self) -> bool:
        """Whether all say the same."""
        return self.sent == self.status == self.metrics and self.page == words.number(self.sent)


@contextmanager
def host(root: Path, service: Service) -> Iterator[str]:
    """A host with HTTP; its address."""
    small_host.write_project(root, 1)
    (root / "functions" / f"on_{QUEUE}" / "__init__.py").write_text(SCRIPT)
    port = _free_port()
    environ = small_host.environ_of(
        AzureWebJobsStorage=service.connection_string(), AZURE_FUNCTIONS_ENVIRONMENT="Production"
    )
    command = [sys.executable, "-m", "qtrigger", "start", str(root), "--http", str(port)]
    with (
        Path(os.devnull).open("wb") as nowhere,
        running(command, environ, nowhere, root),
    ):
        address = f"http://127.0.0.1:{port}"
        small_host.wait_until(lambda: _answers(f"{address}/health/ready"), "a host that is ready")
        yield address


def agreement(browser: Browser, per_second: int, seconds: float) -> Figures:
    """Send so many messages a second for so long with a page open, then compare."""
    with serving() as service, tempfile.TemporaryDirectory() as folder:
        service.create(QUEUE)
        with host(Path(folder), service) as address:
            page = _opened(browser, address)
            page.evaluate(GAPS)
            sent = _fed(service, page, per_second, seconds)
            small_host.wait_until(lambda: _status(address) == sent, "all messages handled")
            shown = page.locator('[data-k="c.processed"]')
            wanted = words.number(sent)
            deadline = time.monotonic() + LIMIT_S
            while shown.text_content() != wanted and time.monotonic() < deadline:
                page.wait_for_timeout(200)
            return Figures(
                sent=sent,
                page=shown.text_content() or "",
                status=_status(address),
                metrics=_metric(address),
                longest_gap_ms=page.evaluate("window.longest"),
            )


def throughput(browser: Browser, seconds: float, *, with_page: bool) -> float:
    """Messages a second that a host handles from a full queue, with a page open or without."""
    with serving() as service, tempfile.TemporaryDirectory() as folder:
        service.fill(QUEUE, int(MOST_A_SECOND * (seconds + WARM_S)), TEXT)
        with host(Path(folder), service) as address:
            page = _opened(browser, address) if with_page else None
            time.sleep(WARM_S)
            before, began = service.stats().deletes, time.monotonic()
            if page is not None:
                page.wait_for_timeout(seconds * 1000)
            else:
                time.sleep(seconds)
            handled = service.stats().deletes - before
            return handled / (time.monotonic() - began)


def _opened(browser: Browser, address: str) -> Page:
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector("html[data-live]")
    return page


def _fed(service: Service, page: Page, per_second: int, seconds: float) -> int:
    """Put messages on the queue at that rate; how many they were."""
    sent, began = 0, time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        due = int(per_second * passed) - sent
        if due:
            service.fill(QUEUE, due, TEXT)
            sent += due
        page.wait_for_timeout(FEED_S * 1000)  # lets the driver hear the page as well
    return sent


def _status(address: str) -> int:
    with urllib.request.urlopen(f"{address}/api/status", timeout=5) as answer:
        functions = loads(answer.read())["functions"]
    return int(sum(each["succeeded"] for each in functions))


def _metric(address: str) -> int:
    """The succeeded invocations that Prometheus would see."""
    with urllib.request.urlopen(f"{address}/metrics", timeout=5) as answer:
        lines = answer.read().decode().splitlines()
    found = [
        each
        for each in lines
        if each.startswith("qtrigger_invocations_total{") and 'outcome="succeeded"' in each
    ]
    return int(sum(float(each.rpartition(" ")[2]) for each in found))


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def main() -> int:
    """Measure, and say what was seen; 1 where figures differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages-per-second", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=0)
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        figures = agreement(browser, options.messages_per_second, options.seconds)
        print(
            f"sent {figures.sent:,}: the page says {figures.page}, /api/status "
            f"{figures.status:,}, /metrics {figures.metrics:,}; the longest gap of the page was "
            f"{figures.longest_gap_ms:.0f} ms"
        )
        rates: dict[bool, list[float]] = {False: [], True: []}
        for number in range(options.rounds * 2):
            with_page = number % 2 == 1
            rates[with_page].append(throughput(browser, options.seconds, with_page=with_page))
            print(f"{'with' if with_page else 'without'} a page: {rates[with_page][-1]:,.0f}/s")
        browser.close()
    if options.rounds:
        without, with_it = median(rates[False]), median(rates[True])
        print(
            f"medians of {options.rounds}: {without:,.0f}/s without, {with_it:,.0f}/s with a page "
            f"({with_it / without - 1:+.1%})"
        )
    return 0 if figures.agree else 1


if __name__ == "__main__":
    sys.exit(main())
