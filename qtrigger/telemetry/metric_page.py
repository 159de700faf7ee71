"""The reference page of the metrics, made from their table.

`python -m qtrigger.telemetry.metric_page` prints the page, which stands in
docs/reference/metrics.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from qtrigger.telemetry import metric_table as table

_INTRODUCTION: Final = """\
# Metrics

Made from the table in the code by `python -m qtrigger.telemetry.metric_page`; a test fails when it
is not.

`/metrics` answers in Prometheus' text format, beside the standard `process_*` metrics of the host
itself (CPU time, memory, open files; on Linux). How to use them: [Observe](../how-to/observe.md).

"""
_NOTES: Final = """
## What the labels hold

Every label has few values, and none is an id, a text of an error or a part of a message.

| label | values |
|---|---|
"""
_LABELS: Final = (
    ("function", "the project's functions; one that a reload has removed is gone with its numbers"),
    ("queue", "the function's queue, or its poison queue"),
    ("outcome", table.OUTCOMES),
    (
        "error_type",
        (
            "the exception's class where the outcome is failed, else empty; at most "
            f"{table.MOST_ERROR_TYPES} for each function, the others are `{table.OTHER_ERRORS}`"
        ),
    ),
    ("reason (of poisoned messages)", table.REASONS),
    ("reason (of restarts)", table.RESTART_REASONS),
    ("result (of polls)", table.POLLS),
    ("result (of renewals)", ("renewed", "failed")),
    ("result (of reloads)", ("done", "rejected")),
    ("state", table.STATES),
    ("operation", (*table.OPERATIONS, table.OTHER)),
    ("status", (*map(str, table.STATUSES), table.OTHER, table.NO_STATUS)),
    ("currency", "what `qtrigger.currency` of host.json says"),
    ("worker", "1, 2, … up to the number of workers, and one more while a suspect runs"),
)
_END: Final = """
## What stands behind the numbers

Counters begin at 0 with the process, and go on over reloads.
Buckets of the histograms, in seconds: {buckets}.

What is on the queues is looked at when somebody asks, at most every 15 s and for 2 s at most.
Each look is one request for a queue's count, one peek where there are messages, and one count of
the poison queue; they are counted in `qtrigger_storage_transactions_total`.
What the service does not tell in time, or the credential may not read, has no sample.

`qtrigger_function_up` is 1 in the states ready, degraded and queue missing; functions that are
disabled or not run here have no sample.
A function that is paused is not up: `qtrigger_function_state{{state="paused"}}` tells it from one
that is broken.

`qtrigger_storage_requests_total` counts all requests of the process; those that no function makes
are in no `qtrigger_storage_transactions_total`.
"""


def page() -> str:
    """The whole page, as Markdown."""
    return "".join(
        [
            _INTRODUCTION,
            "| metric | type | labels | meaning |\n|---|---|---|---|\n",
            *_rows(),
            _NOTES,
            *_labels(),
            _END.format(buckets=", ".join(f"{each:g}" for each in table.BUCKETS)),
        ]
    )


def _rows() -> Iterator[str]:
    for metric in table.TABLE:
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        yield f"| `{metric.name}` | {metric.kind} | {labels} | {metric.text} |\n"


def _labels() -> Iterator[str]:
    for label, values in _LABELS:
        text = values if isinstance(values, str) else ", ".join(f"`{each}`" for each in values)
        yield f"| {label} | {text} |\n"


if __name__ == "__main__":
    sys.stdout.write(page())
