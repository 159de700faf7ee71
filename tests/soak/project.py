"""The project of the soak: a plain and an async function that meet every usual end of a message.

What becomes of a message is fixed by its number alone, so that the end can be reckoned.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

QUEUES = ("plain", "awaited")
OUTPUT = "done"

# Each reload hands back what a poll brings meanwhile, and that costs it a try: among hundreds of
# reloads, one message may well meet five of them, but not ten.
MAX_DEQUEUE_COUNT = 10

# Of so many messages on a queue one is written on, one fails once, one fails for good.
WRITTEN_ON = 10
FAILS_ONCE = 1_000
FAILS_ALWAYS = 5_000

CODE = """
import json
import logging
import os

import azure.functions as func


def work(msg, out):
    number = json.loads(msg.get_body())["number"]
    if number % {always} == 1 or (number % {once} == 2 and msg.dequeue_count == 1):
        raise ValueError(f"message {{number}}")
    if number % {written} == 3:
        out.set(str(number))
    logging.info("message %d is worked on", number)
    counted = os.open(os.environ["NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(counted, b".")
    os.close(counted)


{main}
"""

MAINS = {
    "plain": "def main(msg: func.QueueMessage, out: func.Out[str]) -> None:\n    work(msg, out)",
    "awaited": (
        "async def main(msg: func.QueueMessage, out: func.Out[str]) -> None:\n    work(msg, out)"
    ),
}


def write_project(root: Path) -> None:
    """Put the project there."""
    queues = {
        "batchSize": 32,
        "newBatchThreshold": 16,
        "maxPollingInterval": "00:00:00.200",
        "maxDequeueCount": MAX_DEQUEUE_COUNT,
    }
    host = {"version": "2.0", "extensions": {"queues": queues}}
    (root / "host.json").write_text(json.dumps(host))
    for queue in QUEUES:
        folder = root / "functions" / queue
        folder.mkdir(parents=True)
        common = {"type": "queue", "connection": "AzureWebJobsStorage"}
        trigger = {**common, "type": "queueTrigger", "direction": "in", "name": "msg"}
        out = {**common, "direction": "out", "name": "out", "queueName": OUTPUT}
        bindings = [{**trigger, "queueName": queue}, out]
        (folder / "function.json").write_text(json.dumps({"bindings": bindings}))
        code = CODE.format(
            always=FAILS_ALWAYS, once=FAILS_ONCE, written=WRITTEN_ON, main=MAINS[queue]
        )
        (folder / "__init__.py").write_text(code)


def text_of(number: int, size: int) -> str:
    """The text of a message whose body has that many bytes."""
    head = f'{{"number": {number}, "rest": "'
    body = head + "x" * (size - len(head) - 2) + '"}'
    return base64.b64encode(body.encode()).decode()


def poisoned_of(messages: int) -> int:
    """How many of the messages 0, 1, 2 … end in the poison queue."""
    return len(range(1, messages, FAILS_ALWAYS))


def written_of(messages: int) -> int:
    """How many of the messages 0, 1, 2 … write to the output queue."""
    return len(range(3, messages, WRITTEN_ON))
