"""What is to run in a cluster, as values: which queues are watched, which settings are given.

Owns their form and the arithmetic on them. Knows no object of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from qtrigger.manifests.image import STATE
from qtrigger.project.model import FunctionDefinition, HostConfig

# What every pod has by value, whatever a setting of that name is here.
GIVEN: Final[Mapping[str, str]] = MappingProxyType(
    {"AZURE_FUNCTIONS_ENVIRONMENT": "Production", "QTRIGGER_STATE": STATE}
)
# What follows an account's name in the address of its queue service.
PUBLIC: Final = "queue.core.windows.net"


class SignsIn(StrEnum):
    """How pods and KEDA sign in to the storage account."""

    CONNECTION = "connection"
    WORKLOAD_IDENTITY = "workload-identity"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A storage account in a cloud: its name, and its queue service's host without it."""

    account: str
    suffix: str = PUBLIC

    @property
    def address(self) -> str:
        """The address of its queue service."""
        return f"https://{self.account}.{self.suffix}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A function whose queue is watched.

    `length` is how many of its messages one replica works on at once, `sum_in_words` how that
    comes about. `connection` is the variable of its account's connection; `place` is where that
    is, None where a connection string says so.
    """

    function: str
    queue: str
    connection: str
    length: int
    sum_in_words: str
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that the objects are made of; times in whole seconds.

    `secrets` maps variables to texts that stand for their values, `plain` to values. `once` runs
    the project until its queues are empty, as often as needed, and not all the time.
    """

    name: str
    image: str
    signs_in: SignsIn
    watched: Sequence[Watched]
    secrets: Mapping[str, str]
    plain: Mapping[str, str] = field(default_factory=dict)
    namespace: str = ""
    once: bool = False
    min_replicas: int = 0
    max_replicas: int = 10
    polling_interval_s: int = 15
    cooldown_s: int = 300
    grace_s: int = 45


def in_work_at_once(function: FunctionDefinition, host: HostConfig) -> tuple[int, str]:
    """How many messages of a function one host works on at once, and the sum in words."""
    options = function.options
    words = f"{options.batch_size} + {options.new_batch_threshold}"
    limits = {
        "the function's maxConcurrent": function.own.max_concurrent,
        "the host's maxConcurrent": host.max_concurrent,
    }
    room = options.concurrency
    for name, limit in limits.items():
        if limit is not None and limit < room:
            room, words = limit, name
    return room, words
