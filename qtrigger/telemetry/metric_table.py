"""Every metric there is: its name, its kind, its labels and what it says.

Owns the one table that the meters, the page of the reference, the dashboard and the alerts are held
to. Knows no values and no library. Names and units follow the rules of Prometheus: base units,
the unit in the name, `_total` on counters, and labels whose values are few and known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from qtrigger.telemetry.outcome_words import WORDS

COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"

# The advice of OpenTelemetry's messaging conventions, and more for long functions; in seconds.
BUCKETS: Final = (
    *(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0),
    *(30.0, 60.0, 300.0, 600.0),
)
# Kinds of error of one function that are told apart; what is beyond them is `_OTHER`.
MOST_ERROR_TYPES: Final = 50
OTHER_ERRORS: Final = "_OTHER"
OTHER: Final = "other"

OUTCOMES: Final = tuple(WORDS.values())
REASONS: Final = ("tries", "undecodable", "rejected")
POLLS: Final = ("found", "empty", "missing", "error")
STATES: Final = (
    "ready", "queue missing", "degraded", "unavailable", "failing",
    "paused", "breaker open", "failed", "disabled", "not run here",
)  # fmt: skip
# Of a request: `none` is no answer at all.
NO_STATUS: Final = "none"
STATUSES: Final = (
    *(200, 201, 202, 204, 400, 401, 403, 404, 408, 409, 411, 412, 413, 416, 429),
    *(500, 501, 502, 503, 504),
)
OPERATIONS: Final = (
    "get_messages", "update_message", "delete_message", "put_message", "peek_messages",
    "get_properties", "create_queue", "clear_messages",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One family; the values of `labels` are bounded as `docs/reference/metrics.md` says."""

    name: str
    kind: str
    labels: tuple[str, ...] = ()
    text: str


INVOCATIONS = Metric(
    name="qtrigger_invocations_total",
    kind=COUNTER,
    labels=("function", "outcome", "error_type"),
    text="Invocations that have ended, retries of a policy counted with them as one.",
)
RETRIES = Metric(
    name="qtrigger_invocation_retries_total",
    kind=COUNTER,
    labels=("function",),
    text="Runs that failed and that a retry policy wants again within the same receipt.",
)
DURATION = Metric(
    name="qtrigger_invocation_duration_seconds",
    kind=HISTOGRAM,
    labels=("function",),
    text="How long functions ran, waits excluded; not those that were interrupted.",
)
WAIT = Metric(
    name="qtrigger_message_wait_seconds",
    kind=HISTOGRAM,
    labels=("function",),
    text="From a message's insertion to its first try, a delay that it was sent with included.",
)
RUNNING = Metric(
    name="qtrigger_invocations_running",
    kind=GAUGE,
    labels=("function",),
    text="Messages in processing now.",
)
SLOTS = Metric(
    name="qtrigger_slots",
    kind=GAUGE,
    labels=("function",),
    text="The most messages in processing at once, batchSize + newBatchThreshold.",
)
QUEUE_MESSAGES = Metric(
    name="qtrigger_queue_messages",
    kind=GAUGE,
    labels=("function", "queue"),
    text="Messages on the queue, hidden ones too; approximate, as the service counts them.",
)
QUEUE_VISIBLE = Metric(
    name="qtrigger_queue_visible_messages",
    kind=GAUGE,
    labels=("function", "queue"),
    text="Messages that could be received now, told up to 32; more may be then.",
)
OLDEST = Metric(
    name="qtrigger_queue_oldest_message_age_seconds",
    kind=GAUGE,
    labels=("function", "queue"),
    text="Age of the oldest of the first 32 visible messages; 0 when there is none.",
)
POISON_MESSAGES = Metric(
    name="qtrigger_poison_messages",
    kind=GAUGE,
    labels=("function", "queue"),
    text="Messages on the function's poison queue; approximate.",
)
POISONED = Metric(
    name="qtrigger_messages_poisoned_total",
    kind=COUNTER,
    labels=("function", "reason"),
    text="Messages moved to the poison queue.",
)
POLLS_DONE = Metric(
    name="qtrigger_polls_total",
    kind=COUNTER,
    labels=("function", "result"),
    text="Polls by what they met: messages, none, no such queue, or an error.",
)
POLL_INTERVAL = Metric(
    name="qtrigger_poll_interval_seconds",
    kind=GAUGE,
    labels=("function",),
    text="The wait after the last poll; 0 while messages are found.",
)
REQUESTS = Metric(
    name="qtrigger_storage_requests_total",
    kind=COUNTER,
    labels=("operation", "status"),
    text="Requests to the queue service by HTTP status; status none is no answer.",
)
THROTTLED = Metric(
    name="qtrigger_storage_throttled_total",
    kind=COUNTER,
    text="Requests that an account put off because it is busy.",
)
TRANSACTIONS = Metric(
    name="qtrigger_storage_transactions_total",
    kind=COUNTER,
    labels=("function",),
    text="Requests to the queue service for the sake of a function, as the service bills them.",
)
COST = Metric(
    name="qtrigger_storage_cost_total",
    kind=COUNTER,
    labels=("function",),
    text="What those transactions cost at the price of host.json; absent without one.",
)
CURRENCY = Metric(
    name="qtrigger_storage_currency_info",
    kind=GAUGE,
    labels=("currency",),
    text="Always 1; the label says what the cost is in; absent without a price.",
)
RENEWALS = Metric(
    name="qtrigger_lease_renewals_total",
    kind=COUNTER,
    labels=("function", "result"),
    text="Renewals of leases, renewed or failed; one that failed is tried again.",
)
LEASES_LOST = Metric(
    name="qtrigger_leases_lost_total",
    kind=COUNTER,
    labels=("function",),
    text="Messages that were no longer ours before they were settled.",
)
WORKER_RESTARTS = Metric(
    name="qtrigger_worker_restarts_total",
    kind=COUNTER,
    labels=("reason",),
    text="Workers that ended by themselves, or with a run over its time, and are replaced.",
)
RESTART_REASONS: Final = ("exit", "signal", "not_started", "timed_out", OTHER)
WORKERS = Metric(
    name="qtrigger_workers",
    kind=GAUGE,
    text="Workers that take invocations now.",
)
WORKER_MEMORY = Metric(
    name="qtrigger_worker_memory_bytes",
    kind=GAUGE,
    labels=("worker",),
    text="Resident memory of a worker, by its place among them (1, 2, …).",
)
RELOADS = Metric(
    name="qtrigger_reloads_total",
    kind=COUNTER,
    labels=("result",),
    text="Reloads, done or rejected.",
)
FUNCTION_UP = Metric(
    name="qtrigger_function_up",
    kind=GAUGE,
    labels=("function",),
    text="1 while messages of a function are taken, or would be if there were any; else 0.",
)
FUNCTION_STATE = Metric(
    name="qtrigger_function_state",
    kind=GAUGE,
    labels=("function", "state"),
    text="1 for the state a function is in, 0 for the others.",
)
HOST_READY = Metric(
    name="qtrigger_host_ready",
    kind=GAUGE,
    text="1 while the host runs functions; 0 while it starts or drains.",
)
BUILD = Metric(
    name="qtrigger_build_info",
    kind=GAUGE,
    labels=("version", "python"),
    text="Always 1; the labels say what runs.",
)
LAST_SUCCESS = Metric(
    name="qtrigger_last_success_timestamp_seconds",
    kind=GAUGE,
    labels=("function",),
    text="When a function succeeded last, as Unix time; absent before the first time.",
)

TABLE: Final = (
    INVOCATIONS, RETRIES, DURATION, WAIT, RUNNING, SLOTS,
    QUEUE_MESSAGES, QUEUE_VISIBLE, OLDEST, POISON_MESSAGES, POISONED,
    POLLS_DONE, POLL_INTERVAL, REQUESTS, THROTTLED, TRANSACTIONS, COST, CURRENCY,
    RENEWALS, LEASES_LOST, WORKER_RESTARTS, WORKERS, WORKER_MEMORY, RELOADS,
    FUNCTION_UP, FUNCTION_STATE, HOST_READY, BUILD, LAST_SUCCESS,
)  # fmt: skip
# States in which messages are taken, or would be.
UP_STATES: Final = frozenset({"ready", "degraded", "queue missing"})
# Of functions that nobody expects to run.
ABSENT_STATES: Final = frozenset({"disabled", "not run here"})
