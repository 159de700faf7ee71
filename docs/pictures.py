"""Takes the pictures of the dashboard that the documentation shows, into docs/pictures.

By hand: `python -m docs.pictures`. The pages are real, the host is played (tests.browser.stage): a
shop in which one bank declines cards, one function cannot be loaded and one is paused. It needs
Chromium, and the font Inter for pictures that look the same everywhere.
"""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from random import Random
from typing import Final

from playwright.async_api import Browser, async_playwright

from qtrigger.admin.dashboard.looking import Depth
from qtrigger.clock import SystemClock
from tests.browser.conftest import ARGUMENTS, chromium
from tests.browser.stage import Server, Stage, failed, warning

FOLDER: Final = Path(__file__).parent / "pictures"
SECONDS: Final = 600
DEPTH_S: Final = 5
DECLINED: Final = "the bank declines the card: insufficient funds"


class PlayedClock(SystemClock):
    """The system's clock, but for moments at which something is to have happened."""

    def __init__(self) -> None:
        self.at: float | None = None

    def monotonic(self) -> float:
        """See `Clock`."""
        return super().monotonic() if self.at is None else self.at


def shop() -> Stage:
    """A host with a story of ten minutes."""
    finding = warning("batchSize 64 is more than the service gives at once", "write 32 or less")
    clock = PlayedClock()
    names = ("charge", "receipts", "resize", "notify", "import_orders")
    stage = Stage(*names, problems=[finding], clock=clock)
    stage.currency = "EUR"
    random = Random(7)  # noqa: S311  # a story, guards nothing
    began = stage.clock.monotonic() - SECONDS
    for second in range(SECONDS):
        clock.at = began + second
        _second(stage, second, random)
    clock.at = None
    _now(stage)
    for name, waiting in (("charge", 22), ("receipts", 4), ("notify", 0)):
        _depths(stage, name, waiting, began, random)
    for number in range(9):
        body = (
            f'{{"id": {4471 + number}, "total": 12.5, "country": "DE", "lines": ["book", "pen"]}}'
        )
        text = f"{DECLINED} (order {4471 + number})"
        stage.poison.add(
            "charge-in-poison", 0x8F3A2155 + number * 97_777, "CardDeclined", text, body
        )
    for number in range(3):
        text = "division by zero"
        stage.poison.add("charge-in-poison", 0x51AA2171 + number, "ZeroDivisionError", text)
    stage.poison.content["notify-in-poison"] = []
    return stage


def _second(stage: Stage, second: int, random: Random) -> None:
    outage = 300 < second < 380
    for name, rate in (
        ("charge", 3 + 2 * math.sin(second / 70)),
        ("receipts", 1.2),
        ("notify", 0.3),
    ):
        for _ in range(int(rate + random.random())):
            bad = name == "charge" and random.random() < (0.25 if outage else 0.01)
            order = random.randrange(1000, 9999)
            stage.ran(
                name,
                failed("CardDeclined", f"{DECLINED} (order {order})") if bad else None,
                message_id=f"{random.getrandbits(32):08x}-5b1e-4c1a-9d2f-6f1f0a3b7c55",
                duration_s=random.lognormvariate(-3.2, 0.5) * (3 if outage else 1),
                lines=[f"charging order {order}"] if name == "charge" else (),
                dequeue_count=2 if bad else 1,
            )


def _now(stage: Stage) -> None:
    there = stage.functions["charge"]["messages"]

    def now(name: str, waiting: int, oldest_s: float | None, **more: object) -> None:
        messages = {**there, "waiting": waiting, "oldest_s": oldest_s}
        stage.functions[name].update(messages=messages, **more)

    now("charge", 18, 4.2, per_second=4.1, running=3)
    now("receipts", 2, 1.3, per_second=1.2, running=1)
    now("import_orders", 0, None)
    why = "by ann@ops until 14:30:00 UTC: the mail server is down"
    now("notify", 31, 1210.0, state="paused", why=why)
    broken = "functions/resize/__init__.py:12: invalid syntax"
    stage.functions["resize"].update(state="failed", why=broken, messages=None)


def _depths(stage: Stage, name: str, waiting: int, began: float, random: Random) -> None:
    for number in range(SECONDS // DEPTH_S):
        wave = waiting * (1 + 0.6 * math.sin(number / 9)) + random.random() * 4
        count = wave if waiting else max(0, number - 50) * 0.45
        age_s = count / 4 if waiting else max(0, number - 50) * 20.0
        depth = Depth(int(began) + number * DEPTH_S, int(count), age_s)
        stage.dashboard.looking.note(name, depth)


async def take(browser: Browser, address: str, name: str, path: str, scheme: str) -> None:
    """One picture."""
    context = await browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": 1280, "height": 720},
        device_scale_factor=1.5,
        reduced_motion="reduce",
    )
    page = await context.new_page()
    await page.goto(address + path)
    await page.wait_for_selector("html[data-live]")
    await page.screenshot(path=FOLDER / f"{name}.png")
    await context.close()


async def main() -> None:
    """All pictures."""
    FOLDER.mkdir(exist_ok=True)
    stage = shop()
    run = next(each.number for each in stage.recent.runs("charge") if each.outcome == "failed")
    message = stage.poison.content["charge-in-poison"][0]["id"]
    async with Server(stage) as server, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        for name, path, scheme in (
            ("overview", "/", "light"),
            ("function", f"/f/charge?outcome=bad&run={run}", "dark"),
            ("poison", f"/poison?id={message}&body=1", "light"),
        ):
            await take(browser, server.address, name, path, scheme)
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
