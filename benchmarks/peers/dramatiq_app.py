"""dramatiq on dramatiq-azure, with an actor that does nothing.

Run it as a sender by `python -m benchmarks.peers.dramatiq_app 2000`, and by dramatiq as a worker.
"""

from __future__ import annotations

import sys

import dramatiq
from dramatiq_azure import ASQBroker

from benchmarks.peers.handled import from_environment

PAYLOAD = "x" * 300

dramatiq.set_broker(ASQBroker())
_handled = from_environment()


@dramatiq.actor
def noop(_payload: str) -> None:
    """Do nothing, once more."""
    _handled.one()


if __name__ == "__main__":
    for _ in range(int(sys.argv[1])):
        noop.send(PAYLOAD)
