"""Hosts on one queue, killed and starved of their service for as long as one likes.

Run it by `make chaos MINUTES=3 SEED=1`. The seed fixes what is sent and what is done to the
hosts; when it lands in their work is the machine's. Ends with an account of every message, and
with exit code 1 when that does not balance. Everything is on loopback, in a folder of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from qtrigger.clock import SystemClock
from qtrigger.queues.emulator.server import BuiltinEmulator
from qtrigger.queues.memory import MemoryQueueService
from tests.chaos import project
from tests.chaos.account import SETTLING_S, Account, Kill, counted, settle_account
from tests.chaos.hosts import WORKERS, Hosts, told_of
from tests.faults.proxy import Answer, Drop, Fault, FaultProxy, Hang, Lose, Reset, Slow

HOSTS = 3
SENT_PER_S = 25
LOOK_S = 0.25
LEFTOVER_LIMIT_S = 10.0

# A message may meet its time-out, dead hosts and lost answers one after the other.
DRAIN_LIMIT_S = 120.0

# A run to its time-out, a lease for a renewal just before its host died, a lease for a settlement
# that meets faults until then; and a busy machine.
HIDDEN_LIMIT_S = project.FUNCTION_TIMEOUT_S + 2 * project.LEASE_S + 4.0

ACTIONS = {"worker": 8, "host": 2, "stop": 1, "reload": 1, "fault": 6, "away": 1}
FAULTS: tuple[Fault, ...] = (
    Drop(),
    Hang(),
    Reset(),
    Lose(),
    Slow(0.5),
    Answer(500, "OperationTimedOut"),
    Answer(503, "ServerBusy", {"Retry-After": "1"}),
)
TOLD = {
    "worker": "workers killed",
    "host": "hosts killed",
    "stop": "hosts stopped",
    "reload": "hosts told to load the project anew",
    "fault": "spells of faults",
    "away": "outages",
}


class Chaos:
    """One run of it."""

    def __init__(
        self, service: MemoryQueueService, proxy: FaultProxy, hosts: Hosts, seed: int
    ) -> None:
        self.sent: dict[str, str] = {}
        self.longest_hidden_s = 0.0
        self.done: Counter[str] = Counter()
        self.outages: list[tuple[float, float]] = []
        self._service = service
        self._proxy = proxy
        self._hosts = hosts
        self._random = Random(seed)
        self._texts = Random(seed + 1)
        self._hidden: dict[tuple[str, str], float] = {}

    async def run(self, for_s: float) -> None:
        """Send, look and torment for that long, then let everything come to its end."""
        await self._service.queue(project.QUEUE).create()
        for _ in range(HOSTS):
            self._hosts.start()
        tasks = [asyncio.create_task(each) for each in (self._look(), self._send())]
        torment = asyncio.create_task(self._torment())
        try:
            await asyncio.wait({torment, *tasks}, timeout=for_s, return_when="FIRST_EXCEPTION")
            for ended in (torment, tasks[1]):
                ended.cancel()
            await asyncio.gather(torment, tasks[1], return_exceptions=True)
            await self._up_again()
            await self._drained()
        finally:
            for task in (torment, *tasks):
                task.cancel()
            ends = await asyncio.gather(torment, *tasks, return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception):
                raise end

    async def _send(self) -> None:
        queue = self._service.queue(project.QUEUE)
        number = 0
        while True:
            for _ in range(SENT_PER_S // 5):
                text = project.draw_text(self._texts, number)
                self.sent[text] = await queue.send(text)
                number += 1
            await asyncio.sleep(0.2)

    async def _look(self) -> None:
        """Note workers, and how long each message has been hidden by one receipt's taker."""
        while True:
            self._hosts.look()
            now = time.monotonic()
            wall = SystemClock().utcnow()
            hidden = {
                (message.id, str(message.dequeue_count))
                for message in self._service.peek_all(project.QUEUE)
                if message.next_visible > wall
            }
            self._hidden = {key: self._hidden.get(key, now) for key in hidden}
            since = min(self._hidden.values(), default=now)
            self.longest_hidden_s = max(self.longest_hidden_s, now - since)
            await asyncio.sleep(LOOK_S)

    async def _torment(self) -> None:
        await asyncio.sleep(1.5)
        while True:
            (what,) = self._random.choices(list(ACTIONS), weights=list(ACTIONS.values()))
            if await self._do(what):
                self.done[TOLD[what]] += 1
            await asyncio.sleep(self._random.uniform(0.3, 1.2))

    async def _do(self, what: str) -> bool:
        match what:
            case "worker":
                return self._hosts.kill_worker(self._random)
            case "host":
                self._hosts.kill_host(self._random.choice(self._hosts.pids))
            case "stop":
                await self._hosts.stop_host(self._random.choice(self._hosts.pids))
            case "reload":
                return self._hosts.reload_one(self._random)
            case "away":
                began = time.time()
                await self._proxy.down()
                await asyncio.sleep(self._random.uniform(0.2, 2.0))
                await self._proxy.up()
                self.outages.append((began, time.time()))
            case _:
                chance = self._random.choice((0.2, 0.5, 1.0))
                self._proxy.script(self._random.choice(FAULTS), chance=chance)
                await asyncio.sleep(self._random.uniform(0.2, 1.5))
                self._proxy.mend()
        return True

    async def _up_again(self) -> None:
        self._proxy.mend()
        began = time.time()
        await self._proxy.down()
        await self._proxy.up()
        self.outages.append((began, time.time()))

    async def _drained(self) -> None:
        end = time.monotonic() + DRAIN_LIMIT_S
        while self._service.peek_all(project.QUEUE) and time.monotonic() < end:  # noqa: ASYNC110
            await asyncio.sleep(LOOK_S)


async def run(
    for_s: float, seed: int, root: Path, settling_s: float = SETTLING_S
) -> tuple[Account, list[str]]:
    """Run a chaos in that folder; return its account, and the story of it in lines."""
    project.write_project(root)
    emulator = BuiltinEmulator(SystemClock())
    service = emulator.service
    async with FaultProxy(await emulator.start(0), seed=seed) as proxy:
        hosts = Hosts(root, proxy.port)
        chaos = Chaos(service, proxy, hosts, seed)
        try:
            await chaos.run(for_s)
            await hosts.stop_all()
            leftover = await _leftover(hosts)
        finally:
            hosts.end()
        struck = {path.rpartition("/")[2] for path in proxy.struck_paths}
        faults = sum(proxy.struck.values())
    await emulator.stop()
    notes = project.read_notes(root / "notes.txt")
    ends = [Kill(pid, at, by_itself=True) for pid, at in notes.ended_workers()]
    account = settle_account(
        chaos.sent,
        notes.done,
        _texts(service, project.POISON),
        _texts(service, project.QUEUE),
        hosts.kills + ends,
        struck,
        chaos.outages,
        settling_s=settling_s,
        told=told_of(root),
    )
    account.longest_hidden_s = chaos.longest_hidden_s
    account.hidden_limit_s = HIDDEN_LIMIT_S
    account.odd_exits = hosts.odd_exits
    account.leftover = leftover
    chaos.done["requests met by a fault"] = faults
    return account, _story(chaos, for_s, seed)


def _story(chaos: Chaos, for_s: float, seed: int) -> list[str]:
    """What was done to the hosts and what the functions did, as a person reads it."""
    kinds = Counter(project.kind_of(text) for text in chaos.sent)
    hosts = f"{HOSTS} hosts of {WORKERS} workers on one queue"
    limits = f"leases of {project.LEASE_S:g} s, time-out {project.FUNCTION_TIMEOUT_S:g} s"
    return [
        f"{for_s:.0f} s of chaos by seed {seed}: {hosts}, {limits}",
        "what was done to the hosts",
        *(counted(count, what) for what, count in sorted(chaos.done.items())),
        "what the functions did",
        *(counted(kinds[name], kind.says) for name, kind in project.KINDS.items()),
    ]


async def _leftover(hosts: Hosts) -> list[int]:
    """The workers that outlive their hosts by more than it may take them to notice."""
    end = time.monotonic() + LEFTOVER_LIMIT_S
    while (left := hosts.leftover()) and time.monotonic() < end:  # noqa: ASYNC110
        await asyncio.sleep(LOOK_S)
    return left


def _texts(service: MemoryQueueService, queue: str) -> list[str]:
    if queue not in service.names():
        return []
    return [message.text for message in service.peek_all(queue)]


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="qtrigger-chaos-"))
    account, story = asyncio.run(run(given.minutes * 60.0, given.seed, root))
    sys.stdout.write("\n".join([*story, *account.lines()]) + "\n")
    if account.balances:
        shutil.rmtree(root)
        return 0
    sys.stdout.write(f"the hosts' logs and the functions' notes are in {root}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
