"""A cluster takes a host away while it works, and what is hidden meanwhile is told apart."""

from __future__ import annotations

import json
import signal
import time
from typing import Any

import pytest
import yaml

from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, qtrigger, running

SLOW = """
import logging, time
def main(msg: str):
    logging.info("begun %s", msg)
    time.sleep(float(msg))
    note("done")
"""


def grace_s(folder: ProjectFolder) -> int:
    """How long a cluster waits for a pod of this project to end."""
    made = qtrigger("kubernetes", str(folder.root), "--image", "a:1", environ=folder.environ)
    assert made.returncode == 0, made.stderr
    (pod,) = (
        each["spec"]["template"]["spec"]
        for each in yaml.safe_load_all(made.stdout)
        if each["kind"] == "Deployment"
    )
    return int(pod["terminationGracePeriodSeconds"])


@pytest.mark.parametrize(
    ("run_s", "limit", "left"),
    [("1.5", "00:00:20", []), ("600", "00:00:01", ["600"])],
    ids=["finishes", "handed back"],
)
async def test_a_host_that_is_taken_away_ends_within_its_grace_and_loses_nothing(
    folder: ProjectFolder, service: Service, run_s: str, limit: str, left: list[str]
) -> None:
    folder.host_json(shutdownTimeout=limit)
    folder.function("charge", SLOW)
    await service.put(folder.queue("charge"), [run_s])

    with running(folder) as host:
        host.wait_for(f"begun {run_s}")
        began = time.monotonic()
        host.signal(signal.SIGTERM)
        host.wait()
        took_s = time.monotonic() - began

    assert took_s < grace_s(folder)
    assert folder.notes() == ([] if left else ["done"])
    # What did not finish is visible at once, and waits for no lease.
    assert await service.texts(folder.queue("charge")) == left


async def test_messages_in_work_are_told_from_those_that_were_sent_for_later(
    folder: ProjectFolder, service: Service
) -> None:
    """A length alone says 103. After a kill nobody works on them, and the lease says how long."""
    queue = folder.queue("charge")
    folder.function("charge", SLOW)
    await service.put_later(queue, ["0"] * 100, 3600)
    await service.put(queue, ["600"] * 3)

    with running(folder) as host:
        host.wait_for("begun 600", count=3)
        charge = standing(folder)
        assert (charge["running"], charge["messages"]["ours"]) == (3, 3)
        assert (charge["messages"]["waiting"], charge["messages"]["hidden"]) == (0, 100)
        assert "3 ours, 100 others" in qtrigger("status", str(folder.root)).stdout
        host.signal(signal.SIGKILL)

    with running(folder) as host:
        host.wait_for("ready in")
        charge = standing(folder)
        assert (charge["running"], charge["messages"]["hidden"]) == (0, 103)
        shown = qtrigger("status", str(folder.root)).stdout
        assert "0 ours, 103 others" in shown
        assert "comes back within 10 min (qtrigger.lease)" in shown


def standing(folder: ProjectFolder) -> Any:
    """How the only function of the only host stands."""
    said = qtrigger("status", str(folder.root), "--format", "json")
    assert said.returncode == 0, said.stderr
    ((charge,),) = (each["functions"] for each in json.loads(said.stdout)["hosts"])
    return charge
