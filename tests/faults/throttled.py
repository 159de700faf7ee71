"""Messages through an account that is busy now and then, by hand.

`python -m tests.faults.throttled` spreads messages over the given time while a part of all
requests is answered 503, waits for the end of the spell, and prints what was told and counted. It
ends with 1 when a message was lost, or when throttling was told more often than at each change.
"""

from __future__ import annotations

import argparse
import asyncio
import sys

from qtrigger.events import QueueStateChanged, ThrottlingBegan, ThrottlingEnded
from qtrigger.telemetry.lines import line_of
from tests.faults.house import CLOCK, behind_proxy, put, texts
from tests.faults.proxy import Answer


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


async def run(seconds: float, messages: int, chance: float, quiet_s: float) -> bool:
    """Say whether everything went as it should."""
    async with behind_proxy() as (house, service):
        await put(service, [])
        house.proxy.script(Answer(503, "ServerBusy"), chance=chance)
        began = CLOCK.monotonic()
        await house.start()
        for number in range(messages):
            await service.queue("orders").send(f"plain-{number}")
            await CLOCK.sleep(seconds / messages)
        while texts(service, "orders") and CLOCK.monotonic() < began + 2 * seconds:
            await CLOCK.sleep(0.1)
        took_s = CLOCK.monotonic() - began
        struck, asked = house.proxy.struck.total(), house.proxy.requests.total()
        house.proxy.mend()
        await CLOCK.sleep(quiet_s)
        (limits,) = house.throttling
        stranded = await house.stop()

        told = [
            event
            for event in house.probe.events
            if isinstance(event, ThrottlingBegan | ThrottlingEnded | QueueStateChanged)
        ]
        say(
            f"{messages} messages in {took_s:.1f} s, {len(house.done)} processed, "
            f"{sum(house.runs.values())} runs, {stranded} stranded"
        )
        say(
            f"{asked} requests, {struck} answered 503 ({struck / asked:.1%}); "
            f"counted by the host: {limits.busy} busy in {limits.spells} spells"
        )
        for event in told:
            say(f"  {line_of(event).event}: {line_of(event).text}")
        states = [event for event in told if isinstance(event, QueueStateChanged)]
        return len(house.done) == messages and len(told) == 2 and not states


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--messages", type=int, default=400)
    parser.add_argument("--chance", type=float, default=0.2)
    parser.add_argument("--quiet", type=float, default=40.0)
    given = parser.parse_args()
    return not asyncio.run(run(given.seconds, given.messages, given.chance, given.quiet))


if __name__ == "__main__":
    sys.exit(main())
