"""The loop that a user of azure-storage-queue writes first: receive, handle, delete, one by one."""

from __future__ import annotations

import os
import time

from azure.storage.queue import QueueClient

from benchmarks.peers.handled import from_environment

LEASE_S = 600
PAGE = 16
IDLE_S = 0.05


def main() -> None:
    """Work until ended from outside."""
    handled = from_environment()
    queue = QueueClient.from_connection_string(
        os.environ["BENCH_CONNECTION"], os.environ["BENCH_QUEUE"]
    )
    while True:
        for message in queue.receive_messages(messages_per_page=PAGE, visibility_timeout=LEASE_S):
            handled.one()
            queue.delete_message(message)
        time.sleep(IDLE_S)


if __name__ == "__main__":
    main()
