"""Functions that are left alone for a while: by hand, and by their circuit breakers."""

from __future__ import annotations

import re
import signal
from collections import Counter

from tests.e2e.conftest import Service
from tests.e2e.howto import write_project
from tests.e2e.support import ProjectFolder, qtrigger, running


async def test_a_function_is_paused_and_resumed_from_another_terminal(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("pause-and-resume", folder)
    queue, root = folder.queue("charges"), str(folder.root)
    await service.put(queue, ["zeroth"])
    with running(folder) as host:
        host.wait_for("charged zeroth")
        paused = qtrigger("pause", "charge", root, "--for", "10m", "--reason", "the bank is down")
        assert paused.returncode == 0, paused.stderr
        host.wait_for("(the bank is down): no more messages are asked for")
        await service.put(queue, ["first", "second"])
        assert "charge  paused by " in qtrigger("pause", f"{root}/").stdout
        host.signal(signal.SIGTERM)
        assert host.wait() == 0
    assert await service.dequeue_counts(queue) == [0, 0]

    with running(folder) as host:
        host.wait_for("paused: by ")
        assert qtrigger("resume", "charge", root).returncode == 0
        host.wait_for("resumed by hand: it is polled again")
        host.wait_for("charged first")
        host.wait_for("charged second")


async def test_an_outage_poisons_nothing_and_all_messages_are_processed_after_it(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("circuit-breaker", folder)
    queue = folder.queue("bookings")
    down, booked = folder.root / "book" / "down", folder.root / "book" / "booked.txt"
    down.touch()
    sent = [f"booking-{number}" for number in range(300)]
    await service.put(queue, sent)
    with running(folder) as host:
        host.wait_for("circuit breaker open after 10 failures in a row")
        host.wait_for("the message that was tried has failed too", count=2)
        assert await service.count(queue + "-poison") == 0
        assert await service.count(queue) == 300
        down.unlink()
        host.wait_for("circuit breaker closed: a message has succeeded")
        host.wait_for("  ok  ", count=300)
        host.signal(signal.SIGTERM)
        assert host.wait() == 0
    assert Counter(booked.read_text().split()) == Counter(sent)
    assert await service.count(queue) == 0
    assert await service.count(queue + "-poison") == 0
    assert not re.search("POISON", host.output)
