"""Poisoned messages over HTTP: what is told of them, and what may be done to them."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from qtrigger.admin.poison.deeds import Deeds
from qtrigger.admin.poison.reach import Clients, Reach
from qtrigger.admin.poison.routes import PoisonRoutes
from qtrigger.admin.route import Answer, Asked, Refusal, Right
from qtrigger.errors import AccessDenied, QueueUnavailable
from qtrigger.journal import FailedTry, JournalFile, PoisonCopy
from qtrigger.journal_file import JournalWriter
from qtrigger.project.model import Project
from qtrigger.queues.client import NEVER_EXPIRES_S
from qtrigger.queues.memory import MemoryQueueService
from qtrigger.queues.services import QueueServices
from qtrigger.testing.clock import START, ManualClock
from tests.unit.project.folder import KEY, TRIGGER, ProjectFolder

POISON, ORDERS = "orders-poison", "orders"


class Desk:
    """The routes on a project with the function charge, over a queue service in memory."""

    def __init__(self, root: Path) -> None:
        self.clock = ManualClock()
        self.service = MemoryQueueService(self.clock)
        self.service.make(POISON)
        self.service.make(ORDERS)
        self.folder = ProjectFolder(root / "project")
        self.folder.function("charge", TRIGGER)
        self.state = root / "state"
        self.deeds = Deeds(self.clock)
        self.live: Project | None = self.folder.load()
        reach = Reach(
            project=lambda: self.live,
            clients=Clients(QueueServices(lambda _account: self.service)),
            journal=JournalFile(self.state),
            clock=self.clock,
            plain=lambda text: text.replace(KEY, "***"),
        )
        self.routes = {
            (each.method, each.path): each for each in PoisonRoutes(reach, self.deeds).routes()
        }

    async def poison(self, *bodies: str | bytes, queue: str = POISON) -> list[str]:
        """Put them there as a function would have them; their ids."""
        client = self.service.queue(queue)
        raw = [each.encode() if isinstance(each, str) else each for each in bodies]
        texts = [base64.b64encode(each).decode() for each in raw]
        return [await client.send(each, ttl_s=NEVER_EXPIRES_S) for each in texts]

    def journal(self, poison_id: str, number: int = 5, **other: Any) -> None:
        """Say why it was poisoned."""
        writer = JournalWriter(self.state, warn=pytest.fail, now=START.timestamp)
        known = {
            "function": "charge",
            "queue": ORDERS,
            "message_id": f"of-{poison_id}",
            "invocation_id": "run",
            "dequeue_count": number,
            "at": START,
            "duration_s": 0.25,
            "outcome": "failed",
            "error_type": "ValueError",
            "error_message": "no card",
            "place": "charge/__init__.py:7",
            "traceback": "Traceback …",
            "lines": ("INFO one",),
        }
        writer.put(FailedTry(**{**known, **other}))
        writer.put(
            PoisonCopy(
                poison_id=poison_id,
                poison_queue=POISON,
                message_id=f"of-{poison_id}",
                function="charge",
                queue=ORDERS,
                at=START,
            )
        )
        writer.close(10.0)

    async def ask(
        self,
        method: str,
        path: str,
        parts: Mapping[str, str] = {},
        query: Mapping[str, str] = {},
        **content: Any,
    ) -> Any:
        body = json.dumps(content).encode() if content else b""
        asked = Asked(parts={"queue": POISON, **parts}, query=query, body=body)
        answer = await self.routes[(method, path)].answer(asked)
        assert isinstance(answer, Answer)
        return json.loads(answer.body)

    async def queues(self) -> Any:
        return (await self.ask("GET", "/api/poison"))["queues"]

    async def listed(self, **query: str) -> Any:
        return await self.ask("GET", "/api/poison/{queue}", query=query)

    async def one(self, message_id: str) -> Any:
        return await self.ask("GET", "/api/poison/{queue}/{id}", {"id": message_id})

    async def do(self, deed: str, **content: Any) -> Any:
        """Begin it, and wait for its end."""
        begun = await self.ask("POST", f"/api/poison/{{queue}}/{deed}", **content)
        async with asyncio.timeout(20.0):
            await self.deeds.ended(begun["deed"])
        return await self.ask("GET", "/api/deeds/{deed}", {"deed": begun["deed"]})

    def back(self) -> list[str]:
        return sorted(
            base64.b64decode(each.text).decode() for each in self.service.peek_all(ORDERS)
        )

    def left(self) -> list[str]:
        return sorted(
            base64.b64decode(each.text).decode() for each in self.service.peek_all(POISON)
        )


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_each_poison_queue_says_how_many_it_has_and_since_when(desk: Desk) -> None:
    await desk.poison("a", "b")
    await desk.clock.advance(60.0)

    (queue,) = await desk.queues()

    assert queue == {
        "queue": POISON,
        "functions": ["charge"],
        "account": "acme",
        "count": 2,
        "more": False,
        "oldest_s": 60.0,
        "problem": "",
    }


async def test_a_queue_that_was_never_made_is_empty(desk: Desk) -> None:
    desk.service.remove(POISON)

    (queue,) = await desk.queues()

    assert (queue["count"], queue["problem"]) == (0, "")
    assert (await desk.listed())["messages"] == []


async def test_a_queue_that_refuses_says_why_without_a_secret(desk: Desk) -> None:
    desk.service.fail("peek", AccessDenied(f"no right with {KEY}", status=403), times=10)

    (queue,) = await desk.queues()
    with pytest.raises(Refusal) as refused:
        await desk.listed()

    assert queue["count"] is None
    assert "no right with ***" in queue["problem"]
    assert refused.value.status == 502
    assert KEY not in refused.value.text


async def test_a_message_is_listed_with_why_it_failed(desk: Desk) -> None:
    (known, unknown) = await desk.poison("a", "bb")
    desk.journal(known, error_message=f"no card for {KEY}")

    found = await desk.listed()

    first, second = found["messages"]
    assert (first["id"], first["copy_of"], first["tries"]) == (known, f"of-{known}", 5)
    assert first["error"] == {"type": "ValueError", "message": "no card for ***"}
    assert (second["id"], second["error"], second["size"]) == (unknown, None, 2)
    assert found["groups"] == [
        {"error_type": "ValueError", "count": 1},
        {"error_type": "", "count": 1},
    ]


async def test_messages_are_narrowed_by_error_and_by_words_of_body_error_or_id(desk: Desk) -> None:
    (first, second) = await desk.poison("apple", "pear")
    desk.journal(first)

    async def ids(**query: str) -> list[str]:
        return [each["id"] for each in (await desk.listed(**query))["messages"]]

    assert await ids(error="ValueError") == [first]
    assert await ids(error="") == [second]
    assert await ids(contains="PEAR") == [second]
    assert await ids(contains="no card") == [first]
    assert await ids(contains=second[:8]) == [second]
    assert await ids(contains=f"of-{first}") == [first]


async def test_beyond_what_a_queue_shows_it_says_that_there_are_more(desk: Desk) -> None:
    await desk.poison(*map(str, range(40)))

    found = await desk.listed()

    assert (len(found["messages"]), found["seen"], found["more"]) == (32, 32, True)
    assert (await desk.queues())[0]["more"]


async def test_looking_raises_no_count_and_shows_no_receipt(desk: Desk) -> None:
    (only,) = await desk.poison("a")

    texts = [await desk.queues(), await desk.listed(), await desk.one(only)]

    assert [each.dequeue_count for each in desk.service.peek_all(POISON)] == [0]
    assert "receipt" not in json.dumps(texts).casefold()


@pytest.mark.parametrize(
    ("body", "text", "content"),
    [
        (b'{"id": 1}', '{"id": 1}', {"id": 1}),
        (b"plain", "plain", None),
        (b"12", "12", None),
        (b"\xff\x00", None, None),
        ("\x00 <b> \u2028".encode(), "\x00 <b> \u2028", None),
        (b"x" * 49_152, "x" * 49_152, None),
        (b"[" * 20_000, "[" * 20_000, None),
    ],
)
async def test_a_body_is_told_as_text_as_json_and_as_bytes(
    desk: Desk, body: bytes, text: str | None, content: object
) -> None:
    (only,) = await desk.poison(body)

    found = (await desk.one(only))["body"]

    assert (found["text"], found["json"], found["decodable"]) == (text, content, True)
    assert base64.b64decode(found["base64"]) == body


async def test_a_text_that_does_not_fit_is_shown_as_it_stands(desk: Desk) -> None:
    only = await desk.service.queue(POISON).send("{no base64}", ttl_s=NEVER_EXPIRES_S)

    found = (await desk.one(only))["body"]

    assert (found["text"], found["decodable"]) == ("{no base64}", False)
    assert "messageEncoding is base64" in found["problem"]


async def test_every_try_is_told_with_its_traceback_and_lines(desk: Desk) -> None:
    (only,) = await desk.poison("a")
    for number in (1, 2):
        desk.journal(only, number, traceback=f"Traceback {KEY}", lines=(f"key {KEY}",))

    tries = (await desk.one(only))["tries"]

    assert [each["dequeue_count"] for each in tries] == [1, 2]
    assert (tries[0]["traceback"], tries[0]["lines"]) == ("Traceback ***", ["key ***"])


async def test_bodies_can_be_kept_from_being_shown(desk: Desk) -> None:
    (only,) = await desk.poison("a")
    desk.folder.host(qtrigger={"http": {"showBodies": False}})
    desk.live = desk.folder.load()

    assert (await desk.one(only))["body"] is None


async def test_a_message_that_is_not_shown_any_more_is_not_there(desk: Desk) -> None:
    with pytest.raises(Refusal, match="moved or deleted") as refused:
        await desk.one("a/../b%2f")

    assert refused.value.status == 404


@pytest.mark.parametrize("queue", ["orders", "receipts", "", "Orders-Poison", "../orders-poison"])
async def test_no_other_queue_of_the_account_can_be_reached(desk: Desk, queue: str) -> None:
    asked = Asked(parts={"queue": queue, "id": "x"}, body=b'{"all": true, "confirm": 1}')

    for (_, path), route in desk.routes.items():
        if path.startswith("/api/poison/{queue}"):
            with pytest.raises(Refusal) as refused:
                await route.answer(asked)
            assert refused.value.status == 404


async def test_before_there_is_a_host_it_says_so(desk: Desk) -> None:
    desk.live = None

    with pytest.raises(Refusal) as refused:
        await desk.queues()

    assert refused.value.status == 503


async def test_all_go_back_to_where_they_came_from_byte_for_byte(desk: Desk) -> None:
    await desk.poison("a", "b", "c")

    found = await desk.do("requeue", all=True, confirm=3)

    assert (found["state"], found["moved"], found["left"]) == ("done", 3, 0)
    assert (found["word"], desk.back(), desk.left()) == ("moved", ["a", "b", "c"], [])


async def test_those_that_are_named_go_back_and_the_others_stay_to_be_seen(desk: Desk) -> None:
    first, _, third = await desk.poison("a", "b", "c")

    found = await desk.do("requeue", ids=[first, third], confirm=2)

    assert (found["moved"], desk.back(), desk.left()) == (2, ["a", "c"], ["b"])
    assert desk.service.counts(POISON).visible == 1


async def test_those_with_an_error_are_deleted_and_no_others(desk: Desk) -> None:
    first, _ = await desk.poison("a", "b")
    desk.journal(first)

    found = await desk.do("delete", error_type="ValueError", confirm=1)

    assert (found["word"], found["moved"]) == ("deleted", 1)
    assert (desk.back(), desk.left()) == ([], ["b"])


async def test_those_older_than_some_time(desk: Desk) -> None:
    await desk.poison("old")
    await desk.clock.advance(timedelta(hours=2).total_seconds())
    await desk.poison("new")

    await desk.do("delete", older_than_s=3600, confirm=1)

    assert desk.left() == ["new"]


async def test_many_more_than_were_seen_are_not_touched(desk: Desk) -> None:
    await desk.poison(*map(str, range(30)))

    with pytest.raises(Refusal, match="about 30 by now, not 3") as refused:
        await desk.do("delete", all=True, confirm=3)

    assert refused.value.status == 409
    assert len(desk.left()) == 30


@pytest.mark.parametrize(
    "content",
    [
        {"confirm": 1},
        {"all": True},
        {"all": True, "confirm": True},
        {"all": True, "confirm": -1},
        {"all": True, "confirm": 0},
        {"all": False, "confirm": 1},
        {"all": True, "ids": ["a"], "confirm": 1},
        {"ids": [], "confirm": 0},
        {"ids": "a", "confirm": 1},
        {"ids": [1], "confirm": 1},
        {"ids": ["a"] * 1001, "confirm": 1001},
        {"contains": 1, "confirm": 1},
        {"error_type": 1, "confirm": 1},
        {"older_than_s": "1h", "confirm": 1},
        {"older_than_s": 1e300, "confirm": 1},
        {"everything": True, "confirm": 1},
    ],
)
async def test_what_is_not_said_clearly_is_not_done(desk: Desk, content: dict[str, Any]) -> None:
    await desk.poison("a")

    with pytest.raises(Refusal) as refused:
        await desk.ask("POST", "/api/poison/{queue}/delete", **content)

    assert refused.value.status == 400
    assert desk.left() == ["a"]


@pytest.mark.parametrize(
    "content", [{"contains": "n"}, {"all": True}, {"older_than_s": 0}, {"error_type": ""}]
)
async def test_it_is_done_to_no_more_than_were_confirmed(desk: Desk, content: Any) -> None:
    await desk.poison(*(f"n{number}" for number in range(60)))
    await desk.clock.advance(1.0)

    found = await desk.do("delete", **content, confirm=56)

    assert (found["moved"], len(desk.left())) == (56, 4)


@pytest.mark.parametrize("error", ["ValueError", "failed", ""])
async def test_an_error_means_those_that_the_listing_shows_for_it(desk: Desk, error: str) -> None:
    ids = await desk.poison("plain", "qualified", "lower", "untyped", "unknown")
    types = ("ValueError", "shop.errors.ValueError", "valueerror", "")
    for each, name in zip(ids, types, strict=False):
        desk.journal(each, error_type=name)
    (shown,) = (await desk.listed(error=error))["messages"]

    found = await desk.do("delete", error_type=error, confirm=5)

    assert found["moved"] == 1
    assert shown["id"] not in {each.id for each in desk.service.peek_all(POISON)}


async def test_bodies_that_are_not_shown_are_not_searched_either(desk: Desk) -> None:
    desk.folder.host(qtrigger={"http": {"showBodies": False}})
    desk.live = desk.folder.load()
    await desk.poison("card 4111")

    assert (await desk.listed(contains="4111"))["messages"] == []
    assert (await desk.do("delete", contains="4111", confirm=1))["moved"] == 0


async def test_a_listing_has_a_limit(desk: Desk) -> None:
    await desk.poison(*"abcde")

    assert len((await desk.listed(limit="2"))["messages"]) == 2
    for limit in ("0", "33", "-1", "x", "9" * 5000, "²"):
        with pytest.raises(Refusal, match="limit is a number"):
            await desk.listed(limit=limit)


@pytest.mark.parametrize("body", [rb'{"a": "\ud800"}', b'{"a": NaN}', b'{"a": 1e999}'])
async def test_a_body_that_json_cannot_say_is_told_as_text(desk: Desk, body: bytes) -> None:
    (only,) = await desk.poison(body)

    assert (await desk.one(only))["body"]["text"] == body.decode()


async def test_queues_of_one_name_in_two_accounts_are_told_apart(desk: Desk) -> None:
    other = f"DefaultEndpointsProtocol=https;AccountName=other;AccountKey={KEY}"
    desk.folder.values(
        AzureWebJobsStorage=f"DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={KEY}",
        Other=other,
    )
    desk.folder.function("refund", {**TRIGGER, "connection": "Other"})
    desk.live = desk.folder.load()

    assert {each["queue"] for each in await desk.queues()} == {f"{POISON}@acme", f"{POISON}@other"}
    with pytest.raises(Refusal) as refused:
        await desk.listed()
    assert refused.value.status == 404
    assert await desk.ask("GET", "/api/poison/{queue}", {"queue": f"{POISON}@other"})


async def test_a_queue_has_one_deed_at_a_time(desk: Desk) -> None:
    await desk.poison("a")
    begun = await desk.ask("POST", "/api/poison/{queue}/requeue", all=True, confirm=1)

    with pytest.raises(Refusal, match="already") as refused:
        await desk.ask("POST", "/api/poison/{queue}/delete", all=True, confirm=1)

    assert refused.value.status == 409
    assert begun["deed"]
    await desk.deeds.close()


async def test_a_stop_of_the_host_ends_a_deed_and_loses_nothing(desk: Desk) -> None:
    bodies = [str(number) for number in range(500)]
    await desk.poison(*bodies)
    desk.service.slow("send", 1.0, times=None, queue=ORDERS)
    begun = await desk.ask("POST", "/api/poison/{queue}/requeue", all=True, confirm=500)
    await desk.clock.advance(2.5)

    await desk.clock.run(desk.deeds.close())

    found = await desk.ask("GET", "/api/deeds/{deed}", {"deed": begun["deed"]})
    assert found["state"] == "stopped"
    assert 0 < found["moved"] < 500
    assert sorted([*desk.back(), *desk.left()]) == sorted(bodies)
    assert desk.service.counts(POISON).visible == len(desk.left())
    with pytest.raises(Refusal, match="stopping"):
        await desk.ask("POST", "/api/poison/{queue}/requeue", all=True, confirm=500)


async def test_a_service_that_breaks_off_leaves_the_rest_with_the_reason(desk: Desk) -> None:
    await desk.poison("a", "b")
    refusal = AccessDenied("no right to send", status=403)
    desk.service.fail("send", refusal, queue=ORDERS, times=None)

    found = await desk.do("requeue", all=True, confirm=2)

    assert (found["state"], found["moved"], found["left"]) == ("stopped", 0, 2)
    assert "no right to send" in found["reason"]
    assert desk.left() == ["a", "b"]


async def test_an_unknown_deed_is_not_there(desk: Desk) -> None:
    for method, path in (("GET", "/api/deeds/{deed}"), ("POST", "/api/deeds/{deed}/stop")):
        with pytest.raises(Refusal) as refused:
            await desk.ask(method, path, {"deed": "x"})
        assert refused.value.status == 404


def test_what_acts_needs_the_right_to_and_says_its_name(desk: Desk) -> None:
    for (method, _), route in desk.routes.items():
        assert (route.right is Right.ACT) == (method == "POST") == bool(route.action)


async def test_a_service_that_is_away_is_told_once_for_each_queue(desk: Desk) -> None:
    desk.service.fail("peek", QueueUnavailable("no answer", code="TimedOut"), times=None)

    (queue,) = await desk.queues()

    assert "no answer" in queue["problem"]
