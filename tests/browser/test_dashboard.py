"""The pages in a real browser: what changes, clicks, keys, a phone, no script, hostile texts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from playwright.async_api import Page, expect

from qtrigger.admin.dashboard.viewers import MOST_VIEWERS
from tests.browser.conftest import Noted, Open
from tests.browser.stage import Server, Stage, failed

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATHS = ("/", "/f/charge?run=1", "/poison?id={id}&body=1", "/check")
# What has neither text, nor a label, nor an attribute that names it.
NAMELESS = """() => [...document.querySelectorAll("a,button,input,select,textarea,svg,table,nav")]
    .filter((each) => each.type !== "hidden")
    .filter((each) => !(each.ariaLabel || each.textContent.trim()
        || each.closest("label") || each.labels?.length))
    .map((each) => each.outerHTML.slice(0, 80))"""
HIDE = """(hidden) => {
    Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
    document.dispatchEvent(new Event("visibilitychange"));
}"""
EVIL = "<script>window.pwned=1</script><img src=x onerror=window.pwned=1>\"'</script>\u2028"


async def live(page: Page) -> None:
    """Wait until the stream is open."""
    await page.wait_for_selector("html[data-live]")


async def told(page: Page, times: int) -> None:
    """Wait until the page has been told something so many times more."""
    await page.evaluate(
        """(times) => new Promise((done) => new MutationObserver(() => --times || done())
            .observe(document.querySelector('[data-k="h.at"]'), {childList: true}))""",
        times,
    )


async def until(true: Callable[[], bool]) -> None:
    """Wait for something on the server's side, five seconds at most."""
    async with asyncio.timeout(5.0):
        while not true():  # noqa: ASYNC110  # what a browser has closed tells nobody here
            await asyncio.sleep(0.01)


async def test_figures_change_by_themselves(stage: Stage, visit: Open) -> None:
    page = await visit("/")
    await live(page)
    await expect(page.locator('[data-k="f.charge.failures"]')).to_have_text("0")
    for _ in range(3):
        stage.ran("charge", failed("KeyError", "'total'"))
    stage.functions["charge"]["state"] = "queue missing"
    await expect(page.locator('[data-k="f.charge.failures"]')).to_have_text("3")
    await expect(page.locator('[data-k="c.failed"]')).to_have_text("3")
    await expect(page.locator('[data-k="f.charge.state"]')).to_have_attribute("data-s", "warn")
    await expect(page.locator("#worst")).to_contain_text("charge is queue missing")


async def test_a_function_is_paused_and_resumed_by_click(stage: Stage, visit: Open) -> None:
    page = await visit("/f/charge")
    await page.get_by_role("button", name="Pause").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("For").select_option("1 hour")
    await dialog.get_by_label("Reason").fill("the bank is down")
    await dialog.get_by_role("button", name="Pause").click()
    await page.get_by_role("button", name="Resume").click()
    await expect(page.get_by_role("button", name="Pause")).to_be_visible()
    assert stage.asked == [
        ("/api/functions/charge/pause", {"for_s": 3600, "reason": "the bank is down"}),
        ("/api/functions/charge/resume", {}),
    ]


async def test_a_test_message_is_sent_as_it_was_typed(stage: Stage, visit: Open) -> None:
    page = await visit("/f/charge")
    await page.get_by_role("button", name="Run with a test message").click()
    await page.get_by_role("textbox", name="Text").fill('{"id": "ü<b>"}')
    await page.get_by_role("button", name="Send").click()
    await expect(page.locator("#toast")).to_have_text("a message is on charge-in")
    assert stage.asked == [("/api/functions/charge/send", {"text": '{"id": "ü<b>"}'})]


async def test_selected_messages_are_requeued_after_a_question(stage: Stage, visit: Open) -> None:
    ids = [stage.poison.add("charge-in-poison", each, "KeyError", "'x'") for each in range(4)]
    page = await visit("/poison")
    requeue = page.get_by_role("button", name="Requeue selected")
    await expect(requeue).to_be_disabled()
    await page.get_by_label(f"Select message {ids[0]}").check()
    await page.get_by_label(f"Select message {ids[2]}").check()
    await requeue.click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("Requeue 2 messages?")
    assert stage.asked == []
    await dialog.get_by_role("button", name="Requeue").click()
    await expect(page.locator("#toast")).to_have_text("moved 2")
    await expect(page.locator("[data-row]")).to_have_count(2)
    assert stage.asked == [
        ("/api/poison/charge-in-poison/requeue", {"ids": [ids[0], ids[2]], "confirm": 2})
    ]


async def test_all_of_one_error_are_deleted_after_a_question(stage: Stage, visit: Open) -> None:
    for number in range(3):
        stage.poison.add("charge-in-poison", number, "KeyError", "'x'")
    stage.poison.add("charge-in-poison", 9, "ValueError", "no")
    page = await visit("/poison")
    await page.get_by_role("link", name="KeyError 3").click()
    await page.get_by_role("button", name="Delete all matching (3)").click()
    await page.keyboard.press("Escape")
    assert stage.asked == []
    await page.get_by_role("button", name="Delete all matching (3)").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.locator("#toast")).to_have_text("deleted 3")
    assert stage.asked == [
        ("/api/poison/charge-in-poison/delete", {"error_type": "KeyError", "confirm": 3})
    ]


async def test_everything_can_be_done_by_keys(stage: Stage, visit: Open) -> None:
    ids = [stage.poison.add("charge-in-poison", each, "KeyError", "'x'") for each in range(3)]
    page = await visit("/")
    press = page.keyboard.press
    await press("?")
    await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    await press("Escape")
    await press("j")
    await press("j")
    await press("Enter")
    await expect(page.get_by_role("heading", name="notify", exact=True)).to_be_visible()
    await press("g")
    await press("p")
    await expect(page.get_by_role("heading", name="Poison", exact=True)).to_be_visible()
    await press("/")
    await page.keyboard.type("0000000")
    await press("Escape")
    await press("j")
    await press("j")
    await press("Enter")
    await expect(page.locator("tr.detail")).to_contain_text(ids[1])
    await press("r")
    await expect(page.get_by_role("dialog")).to_contain_text("Requeue 1 message?")
    await press("Enter")
    await expect(page.locator("#toast")).to_have_text("moved 1")
    assert stage.asked[-1][1] == {"ids": [ids[1]], "confirm": 1}


async def test_the_overview_is_filtered_as_one_types(visit: Open) -> None:
    page = await visit("/")
    await page.keyboard.press("/")
    await page.keyboard.type("NOTI")
    await expect(page.locator("[data-row]:visible")).to_have_count(1)


async def test_new_runs_come_into_the_list_and_what_is_open_stays(
    stage: Stage, visit: Open
) -> None:
    stage.ran("charge", failed("KeyError", "'total'"))
    page = await visit("/f/charge")
    await page.locator("[data-row] .open").click()
    await expect(page.locator("tr.detail pre").first).to_contain_text("Traceback")
    stage.ran("charge", message_id="99999999-aaaa")
    await expect(page.locator("[data-row]")).to_have_count(2)
    await expect(page.locator("tr.detail pre").first).to_contain_text("Traceback")
    await page.get_by_label("Outcome").select_option("bad")
    await expect(page.locator("[data-row]")).to_have_count(1)
    await page.go_back()
    await expect(page.locator("[data-row]")).to_have_count(2)


async def test_a_phone_shows_pages_without_scrolling_sideways(stage: Stage, visit: Open) -> None:
    long = "a_function_with_a_very_long_name_" * 3
    stage.functions["charge"].update(why=long * 3, state="failed", queue=long)
    stage.ran("charge", failed("KeyError", long * 4), lines=[long * 4])
    made = stage.poison.add("charge-in-poison", 1, "KeyError", long * 4, long * 9)
    page = await visit("/", viewport={"width": 360, "height": 740})
    for path in PATHS:
        await page.goto(path.format(id=made))
        widths = "[document.documentElement.scrollWidth, document.body.scrollWidth]"
        assert (path, await page.evaluate(widths)) == (path, [360, 360])


async def test_the_dark_is_dark_and_nothing_moves_for_who_wants_that(visit: Open) -> None:
    page = await visit("/", color_scheme="dark", reduced_motion="reduce")
    await live(page)
    ground, text, moves = await page.evaluate(
        """() => [getComputedStyle(document.documentElement).backgroundColor,
                  getComputedStyle(document.documentElement).color,
                  document.getAnimations().length]"""
    )
    assert (ground, text, moves) == ("rgb(16, 17, 19)", "rgb(237, 237, 239)", 0)


async def test_pages_are_read_without_a_script(stage: Stage, visit: Open) -> None:
    stage.ran("charge", failed("KeyError", "'total'"))
    stage.ran("charge")
    made = stage.poison.add("charge-in-poison", 1, "KeyError", "'x'", '{"id": 7}')
    page = await visit("/", java_script_enabled=False)
    await expect(page.get_by_role("row", name="charge")).to_contain_text("ready")
    await page.get_by_role("link", name="charge").click()
    await page.get_by_label("Outcome").select_option("bad")
    await page.get_by_role("button", name="Filter").click()
    await page.locator("[data-row] .open").click()
    await expect(page.locator("tr.detail pre").first).to_contain_text("Traceback")
    await expect(page.get_by_role("button", name="Pause")).to_be_hidden()
    await expect(page.locator("main")).to_contain_text("qtrigger pause charge")
    await page.goto(page.url.split("/f/")[0] + f"/poison?id={made}")
    await page.get_by_role("link", name="Show the body").click()
    await expect(page.locator("tr.detail")).to_contain_text('"id": 7')


async def test_hostile_texts_are_texts(stage: Stage, visit: Open) -> None:
    stage.ran("charge", failed(EVIL, EVIL, EVIL, EVIL), message_id=EVIL, lines=[EVIL])
    made = stage.poison.add("charge-in-poison", 1, EVIL, EVIL, EVIL)
    pages = [await visit(path.format(id=made)) for path in PATHS]
    for page in pages:
        await live(page)
    stage.functions["charge"].update(state=EVIL, why=EVIL, queue=EVIL)
    stage.ran("charge", failed(EVIL, EVIL), message_id=EVIL)
    # What has changed, and the parts that are fetched for it.
    await asyncio.gather(*(told(page, 2) for page in pages))
    for page in pages:
        assert await page.evaluate("[window.pwned, document.images.length]") == [None, 0]
        assert await page.locator("script").count() == 1


async def test_a_host_that_is_gone_is_said_to_be_and_comes_back_by_itself(
    stage: Stage, server: Server, visit: Open, noted: Noted
) -> None:
    page = await visit("/")
    await live(page)
    await page.clock.install()
    await server.close()
    await page.clock.fast_forward(8000)
    await expect(page.get_by_role("alert")).to_contain_text("no answer since")
    stage.ran("charge")
    await server.open()
    for _ in range(3):
        await page.clock.fast_forward(3000)
    await expect(page.get_by_role("alert")).to_be_hidden()
    await expect(page.locator('[data-k="c.processed"]')).to_have_text("1")
    # The browser itself says on the console that a connection was refused.
    noted.errors = [each for each in noted.errors if "ERR_" not in each]


async def test_who_has_to_give_a_key_anew_is_asked_for_it(
    stage: Stage, server: Server, visit: Open, noted: Noted
) -> None:
    page = await visit("/")
    await live(page)
    stage.signed_out = True
    stage.dashboard.close()  # as where the host has been started anew
    await expect(page.locator("body")).to_have_text("a key is needed", timeout=9000)
    # The browser's own words for the refusals, and for the icon that a bare answer has not.
    noted.errors = [each for each in noted.errors if "Failed to load resource" not in each]


async def test_one_page_too_many_says_so(stage: Stage, visit: Open, noted: Noted) -> None:
    streams = [stage.dashboard._viewers.stream() for _ in range(MOST_VIEWERS)]
    for stream in streams:
        await anext(stream)
    page = await visit("/")
    await expect(page.get_by_role("alert")).to_contain_text("too many pages watch this host")
    await expect(page.get_by_role("row", name="charge")).to_contain_text("ready")
    noted.errors = [each for each in noted.errors if "503" not in each]
    for stream in streams:
        await stream.aclose()


async def test_a_page_that_nobody_sees_asks_for_nothing(stage: Stage, visit: Open) -> None:
    page = await visit("/")
    await live(page)
    await page.evaluate(HIDE, True)
    await expect(page.locator("html")).not_to_have_attribute("data-live", "")
    await until(lambda: len(stage.dashboard._viewers) == 0)
    asked = len(stage.paths)
    stage.ran("charge")
    await expect(page.locator('[data-k="c.processed"]')).to_have_text("0")
    assert len(stage.paths) == asked
    await page.evaluate(HIDE, False)
    await expect(page.locator('[data-k="c.processed"]')).to_have_text("1")


async def test_every_control_has_a_name_and_focus_is_seen(stage: Stage, visit: Open) -> None:
    stage.ran("charge", failed("KeyError", "'x'"))
    made = stage.poison.add("charge-in-poison", 1, "KeyError", "'x'")
    page = await visit("/")
    for path in PATHS:
        await page.goto(path.format(id=made))
        assert (path, await page.evaluate(NAMELESS)) == (path, [])
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    width = await page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert width == "2px"
