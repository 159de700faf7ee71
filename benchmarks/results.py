"""What is measured, and what a run of it has shown: values without behaviour."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.consumers import Consumer

FOREIGN_CORES = 0.15


@dataclass(frozen=True, slots=True)
class Case:
    """A consumer and what it is measured under."""

    consumer: Consumer
    latency_ms: float = 0.0
    """How long each answer of the server waits."""
    batch_size: int | None = None
    """`batchSize` of host.json; None writes none, which means the default."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Resident memory, MB: the processes that were started, and those that these started."""

    host_mb: float
    worker_mb: float


@dataclass(frozen=True, slots=True)
class Result:
    """What a run has shown. CPU is in ms a message, user and system."""

    messages: int
    seconds: float
    rate: float
    host_ms: float
    worker_ms: float
    early: Memory
    """After a tenth of the messages."""
    late: Memory
    """After all of them."""
    peak: Memory
    """Each process at its highest."""
    gets: float
    server_ms: float
    server_cores: float
    foreign_cores: float
    faults: tuple[str, ...]

    @property
    def cpu_ms(self) -> float:
        """CPU of the whole tree."""
        return self.host_ms + self.worker_ms

    @property
    def disturbed(self) -> bool:
        """Whether other work ran beside it, so that it shows too little."""
        return self.foreign_cores > FOREIGN_CORES
