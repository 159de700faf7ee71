"""What the pages say, without a browser: they are made on the server, and read without a script."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from qtrigger.admin.dashboard import assets
from qtrigger.admin.route import Answer, Asked, Refusal, Right
from qtrigger.testing.clock import ManualClock
from tests.browser.stage import SECRET, Stage, failed, warning

EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'</td></script>\u2028"


@pytest.fixture
def stage() -> Stage:
    return Stage("charge", "notify", clock=ManualClock(), problems=[warning("too much", "less")])


async def page(stage: Stage, path: str, **query: str) -> str:
    """The text of a page; `path` as it is in the table of routes, its name being charge."""
    (route,) = (each for each in stage.dashboard.routes() if each.path == path)
    answer = await route.answer(Asked(parts={"name": "charge"}, query=query))
    assert isinstance(answer, Answer)
    return answer.body.decode()


class Tags(HTMLParser):
    """What a page consists of: its elements, their attributes, and whether all are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def tags(text: str) -> Tags:
    parsed = Tags()
    parsed.feed(text)
    assert parsed.open == []
    return parsed


async def test_the_overview_says_how_each_function_stands(stage: Stage) -> None:
    stage.functions["charge"].update(per_second=12.3, running=3, succeeded=1204)
    stage.functions["notify"].update(state="paused", why="by ann until resumed")
    text = await page(stage, "/")
    for said in ("12/s", "3/24", "1,204", "paused", "by ann until resumed"):
        assert said in text


async def test_the_worst_thing_stands_first(stage: Stage) -> None:
    stage.functions["charge"].update(state="failed", why="functions/charge/__init__.py:3: no")
    text = await page(stage, "/")
    (banner,) = re.findall(r'<div class="banner".*?</div>', text)
    assert "charge cannot run: functions/charge/__init__.py:3: no" in banner
    assert "and 1 more thing" in banner  # the warning of host.json


async def test_where_all_is_well_nothing_is_said() -> None:
    text = await page(Stage("charge", clock=ManualClock()), "/")
    assert 'class="banner"' not in text


async def test_a_host_that_has_no_project_yet_has_pages() -> None:
    stage = Stage(clock=ManualClock())
    stage.project = None
    assert "No function runs yet" in await page(stage, "/")
    assert "0 errors" in await page(stage, "/check")
    assert "No function of this project has a poison queue" in await page(stage, "/poison")


async def test_runs_are_found_by_outcome_and_by_text(stage: Stage) -> None:
    stage.ran("charge", message_id="11111111-a")
    stage.ran("charge", failed("KeyError", "'Total'"), message_id="22222222-b")
    stage.ran("charge", message_id="33333333-c", lines=["charged order 7"])
    for query, ids in (
        ({}, {"11111111", "22222222", "33333333"}),
        ({"outcome": "bad"}, {"22222222"}),
        ({"outcome": "succeeded"}, {"11111111", "33333333"}),
        ({"contains": "TOTAL"}, {"22222222"}),
        ({"contains": "order 7"}, {"33333333"}),
        ({"outcome": "bad", "contains": "order 7"}, set()),
    ):
        text = await page(stage, "/f/{name}", **query)
        assert set(re.findall(r"<code>(\d{8})</code>", text)) == ids


async def test_one_run_is_shown_with_its_traceback_and_lines(stage: Stage) -> None:
    stage.ran("charge", failed("KeyError", "'total'"), lines=["charging"])
    text = await page(stage, "/f/{name}", run="1")
    assert "share = order[&quot;total&quot;]" in text
    assert "INFO shop: charging" in text


async def test_settings_have_their_origin(stage: Stage) -> None:
    text = await page(stage, "/f/{name}")
    assert re.search(r"batchSize</code></td>.*?>16</td>.*?host\.json:5", text)


async def test_a_function_that_is_not_there_is_a_page_that_says_so(stage: Stage) -> None:
    (route,) = (each for each in stage.dashboard.routes() if each.path == "/f/{name}")
    answer = await route.answer(Asked(parts={"name": EVIL}))
    assert isinstance(answer, Answer)
    assert answer.status == 404
    assert b"there is no function" in answer.body
    assert tags(answer.body.decode()).names.count("script") == 1


async def test_costs_are_shown_where_there_is_a_price(stage: Stage) -> None:
    assert "Cost per day" not in await page(stage, "/")
    stage.currency = "EUR"
    stage.dashboard.looking._view = None
    assert "0.14 EUR" in await page(stage, "/")
    assert "0.07 EUR" in await page(stage, "/f/{name}")


async def test_findings_stand_on_the_check_page_with_connections(stage: Stage) -> None:
    text = await page(stage, "/check")
    for said in ("0 errors, 1 warning in 2 functions", "too much", "less", "host.json:7:5"):
        assert said in text
    assert "shopstore" in text
    assert "account key" in text
    assert "c2VjcmV0" not in text


@pytest.mark.parametrize("path", ["/", "/f/{name}", "/check"])
async def test_a_key_in_what_others_say_is_hidden(path: str) -> None:
    stage = Stage("charge", clock=ManualClock(), problems=[warning(f"cannot use {SECRET}")])
    stage.functions["charge"]["messages"]["problem"] = f"refused: {SECRET}"
    stage.ran("charge", failed("KeyError", SECRET, SECRET), lines=[SECRET])
    text = await page(stage, path, run="1")
    assert "(hidden)" in text
    assert SECRET not in text


async def test_a_poisoned_body_is_shown_at_once_in_development_alone(stage: Stage) -> None:
    made = stage.poison.add("charge-in-poison", 1, "KeyError", "'x'", '{"card": "4111"}')
    hidden = await page(stage, "/poison", id=made)
    shown = await page(stage, "/poison", id=made, body="1")
    stage.environment = "Development"
    stage.dashboard.looking._view = None
    at_once = await page(stage, "/poison", id=made)
    assert "4111" not in hidden
    assert "Show the body" in hidden
    assert all("&quot;card&quot;: &quot;4111&quot;" in each for each in (shown, at_once))
    assert "7b 22 63 61 72 64" in shown  # the same as bytes


async def test_poison_is_grouped_and_narrowed(stage: Stage) -> None:
    for number in range(3):
        stage.poison.add("charge-in-poison", number, "KeyError", "'x'")
    stage.poison.add("charge-in-poison", 9, "ValueError", "no")
    text = await page(stage, "/poison", error="ValueError")
    assert re.search(r"KeyError <span class=\"count\">3</span>", text)
    assert text.count('type="checkbox"') == 1
    assert "Requeue all matching (1)" in text
    assert "Requeue all (4)" in await page(stage, "/poison")


async def test_what_the_journal_does_not_know_is_a_group_as_well(stage: Stage) -> None:
    stage.poison.add("charge-in-poison", 1, "", "")
    stage.poison.add("charge-in-poison", 2, "ValueError", "no")
    assert "error=&quot;" not in await page(stage, "/poison")
    assert 'href="/poison?queue=charge-in-poison&amp;error="' in await page(stage, "/poison")
    text = await page(stage, "/poison", error="")
    assert text.count('type="checkbox"') == 1
    assert "Requeue all matching (1)" in text


async def test_a_message_that_has_gone_is_said_to(stage: Stage) -> None:
    stage.poison.add("charge-in-poison", 1, "KeyError", "'x'")
    assert 'type="checkbox"' in await page(stage, "/poison", id="no-such-message")


@pytest.mark.parametrize("path", ["/", "/f/{name}", "/poison", "/check"])
async def test_what_others_say_is_never_markup(path: str) -> None:
    stage = Stage("charge", clock=ManualClock(), problems=[warning(EVIL, EVIL)])
    stage.functions["charge"].update(queue=EVIL, state=EVIL, why=EVIL, connection=EVIL)
    stage.ran("charge", failed(EVIL, EVIL, EVIL, EVIL), message_id=EVIL, lines=[EVIL])
    made = stage.poison.add("charge-in-poison", 1, EVIL, EVIL, EVIL)
    found = tags(await page(stage, path, run="1", id=made, body="1", contains="", error=""))
    assert found.names.count("script") == 1
    assert "img" not in found.names
    assert not [name for name, _ in found.attributes if name.startswith("on") or name == "style"]
    assert not [
        value
        for name, value in found.attributes
        if name in ("src", "href") and value and value[0] not in "/#"
    ]


@pytest.mark.parametrize("field", ["contains", "outcome", "run", "error", "queue", "id"])
async def test_what_is_asked_for_is_never_markup(stage: Stage, field: str) -> None:
    stage.poison.add("charge-in-poison", 1, "KeyError", "'x'")
    for path in ("/f/{name}", "/poison"):
        found = tags(await page(stage, path, **{field: EVIL}))
        assert found.names.count("script") == 1
        assert "img" not in found.names


async def test_files_are_those_of_the_table_alone(stage: Stage) -> None:
    (route,) = (each for each in stage.dashboard.routes() if each.path == "/assets/{file}")
    assert route.right is Right.OPEN
    for name in ("../routes.py", "routes.py", "", ".", "dashboard.css/", "DASHBOARD.CSS"):
        with pytest.raises(Refusal):
            await route.answer(Asked(parts={"file": name}))
    answer = await route.answer(Asked(parts={"file": "dashboard.js"}))
    assert isinstance(answer, Answer)
    assert answer.content_type.startswith("text/javascript")


def test_the_script_is_small_and_nothing_is_loaded_from_elsewhere() -> None:
    folder = Path(assets.__file__).parent / "assets"
    assert (folder / "dashboard.js").stat().st_size <= 15_000
    for file in folder.iterdir():
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|//[a-z]+\.|@import|innerHTML|eval\(", text), file


async def test_recent_runs_are_told_as_json(stage: Stage) -> None:
    (route,) = (each for each in stage.dashboard.routes() if each.path == "/api/recent/{name}")
    stage.ran("charge", failed("KeyError", "'x'"))
    stage.ran("charge")
    answer = await route.answer(Asked(parts={"name": "charge"}, query={"after": "1"}))
    assert isinstance(answer, Answer)
    assert b'"number":2' in answer.body
    assert b'"number":1' not in answer.body
    for after in ("-1", "x", "1" * 30, "\u0661"):
        with pytest.raises(Refusal) as refused:
            await route.answer(Asked(parts={"name": "charge"}, query={"after": after}))
        assert refused.value.status == 400


def contrast(first: str, second: str) -> float:
    """The ratio that WCAG 2 defines for two colours."""

    def light(colour: str) -> float:
        full = "".join(each * 2 for each in colour) if len(colour) == 3 else colour
        parts = [int(full[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        linear = [
            each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    more, less = sorted((light(first), light(second)), reverse=True)
    return (more + 0.05) / (less + 0.05)


@pytest.mark.parametrize("scheme", [0, 1])
def test_every_text_stands_out_from_its_ground(scheme: int) -> None:
    text = (Path(assets.__file__).parent / "assets" / "dashboard.css").read_text()
    blocks = re.findall(r":root \{(.*?)\}", text, re.DOTALL)
    found = dict(re.findall(r"--([a-z-]+): #([0-9a-f]{3,6});", blocks[scheme]))
    pairs = [
        (ink, ground)
        for ink in ("text", "quiet", "ok", "warn", "bad", "accent")
        for ground in ("ground", "raised", "sunk")
    ]
    pairs += [
        ("bad", "bad-soft"),
        ("warn", "warn-soft"),
        ("on-accent", "accent"),
        ("text", "accent-soft"),
        ("raised", "bad"),
    ]
    faint = {pair: contrast(found[pair[0]], found[pair[1]]) for pair in pairs}
    assert {pair: ratio for pair, ratio in faint.items() if ratio < 4.5} == {}
