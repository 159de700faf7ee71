"""Who is woken when this process adds a message."""

from __future__ import annotations

from qtrigger.wakeups import Wakeups


def test_only_listeners_of_that_address_are_woken() -> None:
    wakeups = Wakeups()
    woken: list[str] = []
    wakeups.register("http://a/orders", lambda: woken.append("a1"))
    wakeups.register("http://a/orders", lambda: woken.append("a2"))
    wakeups.register("http://b/orders", lambda: woken.append("b"))

    wakeups.wake("http://a/orders")
    wakeups.wake("http://a/nobody-listens")

    assert woken == ["a1", "a2"]
