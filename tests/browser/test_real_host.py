"""The pages of a real `qtrigger start`: its server, its key, its policy, its messages."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from qtrigger.queues.account import EMULATOR_ACCOUNT, EMULATOR_KEY
from tests.e2e.support import ProjectFolder, RunningHost, qtrigger, running

pytestmark = pytest.mark.asyncio(loop_scope="module")

KEY = "a-key-of-this-test-alone-7141"
HOSTILE = "<img src=x onerror=window.pwned=1></script>"
CODE = f"""
import logging

def main(msg: str) -> None:
    logging.info("charging %s", msg)
    if msg == "bad":
        raise ValueError({HOSTILE!r})
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> ProjectFolder:
    """A project of one function, on an emulator of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    connection = (
        f"DefaultEndpointsProtocol=http;AccountName={EMULATOR_ACCOUNT};AccountKey={EMULATOR_KEY};"
        f"QueueEndpoint=http://127.0.0.1:{port}/{EMULATOR_ACCOUNT};"
    )
    folder = ProjectFolder(Path(tmp_path_factory.mktemp("shop")), connection, "shop")
    folder.function("charge", CODE)
    folder.host_json({"maxDequeueCount": 2})
    folder.environ.pop("QTRIGGER_START_NO_HTTP", None)
    folder.environ["QTRIGGER_HTTP_KEY"] = KEY
    return folder


@pytest.fixture(scope="module")
def host(folder: ProjectFolder) -> Iterator[RunningHost]:
    """A host of that project, which has handled two messages and given one of them up."""
    with running(folder, "--emulator", "builtin", "--http", "0") as host:
        host.wait_for("ready in")
        sent = qtrigger(
            *("send", "--project", str(folder.root), folder.queue("charge"), "good", "bad"),
            environ=folder.environ,
        )
        assert sent.returncode == 0, sent.stderr
        host.wait_for("POISON")
        yield host


def address(host: RunningHost) -> str:
    found = re.search(r"http://127\.0\.0\.1:\d+", host.output)
    assert found is not None, host.output
    return found[0]


async def signed_in(browser: Browser, host: RunningHost, errors: list[str]) -> Page:
    page = await browser.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    await page.goto(address(host))
    await page.get_by_label("Key of this host").fill(KEY)
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    await page.get_by_role("button", name="Go on").click()
    await page.wait_for_selector("html[data-live]")
    return page


async def test_a_key_opens_the_pages_of_a_real_host(browser: Browser, host: RunningHost) -> None:
    errors: list[str] = []
    page = await signed_in(browser, host, errors)
    await expect(page.locator('[data-k="c.failed"]')).to_have_text(re.compile("[24]"))
    await page.get_by_role("link", name="charge", exact=True).click()
    await page.get_by_label("Outcome").select_option("failed")
    await expect(page.locator("#runs .pill[data-s=ok]")).to_have_count(0)
    await page.locator("#runs [data-row] .open").first.click()
    await expect(page.locator("tr.detail")).to_contain_text(HOSTILE)
    await expect(page.locator("tr.detail")).to_contain_text("INFO root: charging bad")
    await expect(page.locator("tr.detail pre").first).to_contain_text("Traceback")
    assert await page.evaluate("[window.pwned, document.images.length]") == [None, 0]
    await page.goto(address(host) + "/check")
    await expect(page.get_by_role("row", name="AzureWebJobsStorage")).to_contain_text("account key")
    assert EMULATOR_KEY not in await page.content()
    assert errors == []
    await page.close()


async def test_a_function_is_tried_paused_and_resumed_by_click(
    browser: Browser, host: RunningHost
) -> None:
    errors: list[str] = []
    page = await signed_in(browser, host, errors)
    await page.get_by_role("link", name="charge", exact=True).click()
    succeeded = page.locator('[data-k="f.charge.succeeded"]')
    before = int(await succeeded.text_content() or "")
    await page.get_by_role("button", name="Run with a test message").click()
    await page.get_by_role("textbox", name="Text").fill("by hand")
    await page.get_by_role("button", name="Send").click()
    await expect(succeeded).to_have_text(str(before + 1))
    await page.get_by_role("button", name="Pause").click()
    await page.get_by_label("Reason").fill("a test")
    await page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    await expect(page.locator("#said")).to_contain_text("a test")
    await page.get_by_role("button", name="Resume").click()
    await expect(page.get_by_role("button", name="Pause")).to_be_visible()
    assert errors == []
    await page.close()


async def test_what_a_real_host_gave_up_is_brought_back_by_click(
    browser: Browser, host: RunningHost
) -> None:
    errors: list[str] = []
    page = await signed_in(browser, host, errors)
    given_up = sum("POISON" in line for line in host.lines)
    await page.goto(address(host) + "/poison")
    await expect(page.locator("[data-row]")).to_have_count(1)
    await page.get_by_role("link", name="ValueError 1").click()
    await page.locator("[data-row] .open").click()
    await expect(page.locator("tr.detail details.try")).to_have_count(2)
    await expect(page.locator("tr.detail")).to_contain_text("bad")
    await page.get_by_role("button", name="Requeue all matching (1)").click()
    await page.get_by_role("dialog").get_by_role("button", name="Requeue").click()
    await expect(page.locator("#toast")).to_contain_text("moved 1")
    await asyncio.to_thread(host.wait_for, "POISON", count=given_up + 1)  # it fails again
    assert await page.evaluate("[window.pwned, document.images.length]") == [None, 0]
    assert errors == []
    await page.close()
