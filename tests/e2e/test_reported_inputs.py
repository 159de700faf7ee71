"""What users ran into with what a function is told: one project, one host, a far time zone."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, running

TOLD = """
    import json
    import azure.functions as func
    def main(msg: func.QueueMessage, id, dequeue_count: int, insertionTime, expiration_time,
             NextVisibleTime, pop_receipt: str, queue_trigger: str):
        times = [insertionTime, expiration_time, NextVisibleTime]
        assert times == [msg.insertion_time, msg.expiration_time, msg.time_next_visible]
        assert [id, pop_receipt, dequeue_count] == [msg.id, msg.pop_receipt, msg.dequeue_count]
        assert queue_trigger.encode() == msg.get_body()
        note(json.dumps([dequeue_count, id, *(time.isoformat() for time in times)]))
        if dequeue_count < 3:
            raise ValueError("not yet")
"""
TYPED = """
    import dataclasses

    @dataclasses.dataclass
    class Order:
        number: int
        customer: str = "nobody"

    def main(msg: Order):
        note(f"{msg.number} {msg.customer}")
"""
MODEL = """
    import pydantic

    class Order(pydantic.BaseModel):
        number: int

    def main(msg: Order):
        note(f"model {msg.number}")
"""


async def test_every_try_is_told_the_same_message_in_utc_and_its_own_count(
    folder: ProjectFolder, service: Service
) -> None:
    """The message never expires, so the service says the year 9999; Tokyo is ahead of UTC."""
    folder.function("told", TOLD)
    folder.environ["TZ"] = "Asia/Tokyo"
    await service.put_for_ever(folder.queue("told"), '{"Id": "its own", "dequeueCount": 99}')

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    tries = [json.loads(line) for line in folder.notes()]
    assert [count for count, *_ in tries] == [1, 2, 3]
    assert len({(message_id, inserted) for _, message_id, inserted, *_ in tries}) == 1
    assert "its own" not in {message_id for _, message_id, *_ in tries}
    for _, _, *texts in tries:
        inserted, expires, visible = map(datetime.fromisoformat, texts)
        assert all(time.utcoffset() == timedelta(0) for time in (inserted, expires, visible))
        assert expires.year == 9999
        assert abs(datetime.now(inserted.tzinfo) - inserted) < timedelta(hours=1)


async def test_a_body_that_does_not_fit_its_type_fails_alone_and_is_not_shown(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("typed", TYPED)
    folder.function("model", MODEL)
    folder.host_json({"maxDequeueCount": 1})
    bad = ['{"number": "pa55word"}', '{"number": pa55word}', '["pa55word"]']
    await service.put(folder.queue("typed"), [*bad, '{"number": 7, "more": 1}'])
    await service.put(folder.queue("model"), [*bad, '{"number": 8}'])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert sorted(folder.notes()) == ["7 nobody", "model 8"]
    assert sorted(await service.texts(folder.queue("typed-poison"))) == sorted(bad)
    assert sorted(await service.texts(folder.queue("model-poison"))) == sorted(bad)
    assert "number: a whole number was expected, not a string" in host.output
    assert "body is not JSON, and the function takes Order: Expecting value" in host.output
    assert "number: Input should be a valid integer" in host.output
    assert "pa55word" not in host.output
