"""Celery on kombu's transport for storage queues, with a task that does nothing.

Run it as a sender by `python -m benchmarks.peers.celery_app 2000`, and by Celery as a worker.
"""

from __future__ import annotations

import os
import sys

from celery import Celery

from benchmarks.peers.handled import from_environment

PAYLOAD = "x" * 300

_parts = dict(part.split("=", 1) for part in os.environ["BENCH_CONNECTION"].split(";"))
app = Celery(
    "bench",
    broker=f"azurestoragequeues://{_parts['AccountKey']}@{_parts['QueueEndpoint']}",
)
app.conf.update(
    task_ignore_result=True,
    broker_connection_retry_on_startup=True,
    worker_hijack_root_logger=False,
)
_handled = from_environment()


@app.task(name="noop")
def noop(_payload: str) -> None:
    """Do nothing, once more."""
    _handled.one()


if __name__ == "__main__":
    for _ in range(int(sys.argv[1])):
        noop.apply_async((PAYLOAD,))
