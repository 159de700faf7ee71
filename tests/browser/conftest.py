"""One Chromium for the tests of a module, and a page that notes whatever it should not do."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright

from tests.browser.stage import Server, Stage

# What makes it quiet and harmless as root in a container; without a display it draws all the same.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
OWN_HOSTS = {"127.0.0.1"}


def chromium() -> str:
    """Where the system's Chromium is."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    pytest.fail("no Chromium is installed: make chromium, or install your system's package of it")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    """Chromium, with a fresh profile."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        yield browser
        await browser.close()


@dataclass
class Noted:
    """What pages did that none should do."""

    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


@pytest.fixture
def stage() -> Stage:
    """A host with two functions."""
    return Stage("charge", "notify")


@pytest_asyncio.fixture(loop_scope="module")
async def server(stage: Stage) -> AsyncIterator[Server]:
    """What serves it."""
    async with Server(stage) as server:
        yield server


Open = Callable[..., Awaitable[Page]]


@pytest.fixture
def noted() -> Noted:
    """What pages of this test did."""
    return Noted()


@pytest_asyncio.fixture(loop_scope="module")
async def visit(browser: Browser, server: Server, noted: Noted) -> AsyncIterator[Open]:
    """Opens a page of the stage; at the end none may have failed, or asked another host."""
    contexts = []

    async def visit(path: str = "/", **context: Any) -> Page:
        wanted = {"viewport": {"width": 1280, "height": 800}, "base_url": server.address}
        made = await browser.new_context(**{**wanted, **context})
        contexts.append(made)
        page = await made.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda line: _console(noted, line.type, line.text))
        page.on("pageerror", lambda error: noted.errors.append(str(error)))
        page.on("dialog", lambda dialog: noted.dialogs.append(dialog.message))
        page.on("request", lambda request: _request(noted, request.url))
        await page.goto(path)
        return page

    yield visit
    for context in contexts:
        await context.close()
    assert noted == Noted()


def _console(noted: Noted, kind: str, text: str) -> None:
    if kind in ("error", "warning"):
        noted.errors.append(text)


def _request(noted: Noted, url: str) -> None:
    if urlsplit(url).hostname not in OWN_HOSTS:
        noted.foreign.append(url)
