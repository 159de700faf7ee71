"""The values that loading a project yields. No behaviour beyond small look-ups; no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from qtrigger.project.options import JournalOptions, OwnOptions, Price, TracingOptions
from qtrigger.project.queue_names import poison_queue
from qtrigger.queues.account import Account


class Severity(StrEnum):
    """How bad a finding is. An error stops its function; a warning stops nothing."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A finding in the user's files or settings.

    `file` is relative to the project's root ("" for the environment), `line` and `column` count
    from 1 (0: unknown). `function` names the function it belongs to, "" for the whole project.
    `traceback` is there when user code raised something, in several lines.
    """

    severity: Severity
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    function: str = ""
    hint: str = ""
    traceback: str = ""

    @property
    def place(self) -> str:
        """`file:line:column` as far as they are known, "" when nothing is."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part)

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        hint = f"  hint: {self.hint}" if self.hint else ""
        return f"{place}{self.severity}: {self.message}{hint}"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueOptions:
    """The options of the queue trigger, per function. Source: host.json `extensions.queues`."""

    batch_size: int = 16
    new_batch_threshold: int = 8
    max_polling_interval_s: float = 60.0
    visibility_timeout_s: float = 0.0
    max_dequeue_count: int = 5
    message_encoding: str = "base64"

    @property
    def concurrency(self) -> int:
        """The most messages in processing at once."""
        return self.batch_size + self.new_batch_threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Tries within one receipt of a message, after the first; -1 retries are without end.

    `strategy` is `fixedDelay` (each wait is `minimum_s`) or `exponentialBackoff` (from
    `minimum_s`, doubling, to `maximum_s`).
    """

    strategy: str
    max_retries: int
    minimum_s: float
    maximum_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTrigger:
    """The `queueTrigger` binding: parameter name, resolved queue name, resolved account.

    `many` (`cardinality`) gives the function a list of messages. `line` and `column` are where its
    queue's name stands in the function's `source` (0: unknown).
    """

    name: str
    queue: str
    connection: str
    account: Account
    data_type: str = ""
    many: bool = False
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueOutput:
    """A `queue` binding with direction out.

    `queue` may still hold `{expressions}`; `account` is None when the connection cannot be
    resolved, which fails the invocation that writes to it and says `account_error`. `delay_s` and
    `ttl_s` are those of items that have none of their own, None for the service's. `line` and
    `column` are where the queue's name stands in the function's `source` (0: unknown).
    """

    name: str
    queue: str
    connection: str
    account: Account | None
    account_error: str = ""
    delay_s: float | None = None
    ttl_s: float | None = None
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionDefinition:
    """A function that can be run as far as its files say.

    `bindings` are the raw binding objects, `source` the file that declares them, `disabled` the
    reason for not polling ("" when enabled). The code of a `decorated` one stands in `source`, and
    `script_file` is what has to be imported to have it; `directory` is the folder of `source`.
    """

    name: str
    directory: Path
    script_file: Path
    entry_point: str
    source: str
    bindings: tuple[Mapping[str, Any], ...] = field(repr=False)
    trigger: QueueTrigger
    outputs: tuple[QueueOutput, ...]
    options: QueueOptions
    output_mode: str = "azure"
    disabled: str = ""
    retry: RetryPolicy | None = None
    decorated: bool = False
    own: OwnOptions = field(default_factory=OwnOptions)

    @property
    def poison_queue(self) -> str | None:
        """Where its poisoned messages go, in its trigger's account; None where there is none."""
        named = self.own.poison_queue
        return named if named or named is None else poison_queue(self.trigger.queue)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostConfig:
    """What host.json says, with defaults in place. Durations in seconds.

    `functions` are the only ones to run (empty: all). `log_levels` maps a category to the name of
    its least level. `watch_directories` and `watch_files` are names whose changes matter besides
    the function's own. `max_concurrent` is the most messages in processing in the whole host, None
    without limit. `journal` is None where no failures are to be kept, `price` where
    nobody has said one. `shows_bodies` is whether poisoned bodies may be shown over HTTP.
    """

    queues: QueueOptions = field(default_factory=QueueOptions)
    function_timeout_s: float | None = 1800.0
    shutdown_timeout_s: float = 30.0
    lease_s: float = 600.0
    output_mode: str = "azure"
    functions: tuple[str, ...] = ()
    watch_directories: tuple[str, ...] = ("node_modules",)
    watch_files: tuple[str, ...] = ("host.json", "function.json", "proxies.json")
    log_levels: Mapping[str, str] = field(default_factory=dict)
    retry: RetryPolicy | None = None
    max_concurrent: int | None = None
    journal: JournalOptions | None = field(default_factory=JournalOptions)
    price: Price | None = None
    shows_bodies: bool = True
    tracing: TracingOptions = field(default_factory=TracingOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveValue:
    """An option as it applies, as text, and where it comes from.

    `origin` is `default`, a place such as `host.json:12`, or `environment`.
    """

    key: str
    value: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Everything read from disk and environment at one moment.

    `settings` are the app settings that workers get in their environment, `origins` where each of
    them comes from: `environment`, or a place such as `local.settings.json:7`. `failed` names the
    functions that have errors; their problems say why. `not_run` gives the types of those triggers
    that are of another kind, by function. A `blocked` project must not run at all, since host.json,
    local.settings.json or the name of the script with decorators cannot be used; it has no
    functions. `decorator_script` is the file that may declare functions by decorators, which only
    a worker can tell; when it is `unread`, for an error in it, nobody knows what it declares.
    """

    root: Path
    environment: str
    host: HostConfig
    settings: Mapping[str, str] = field(repr=False)
    functions: tuple[FunctionDefinition, ...]
    failed: tuple[str, ...]
    problems: tuple[Problem, ...]
    not_run: Mapping[str, str] = field(default_factory=dict)
    blocked: bool = False
    effective: tuple[EffectiveValue, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)
    decorator_script: Path | None = None
    unread: bool = False
