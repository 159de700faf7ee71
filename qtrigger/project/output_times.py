"""How long what is written to an output stays hidden and lives, where its binding says so.

Owns the reading of both keys and that they fit each other. Their bounds are the schema's.
"""

from __future__ import annotations

from dataclasses import dataclass

from qtrigger.project import durations
from qtrigger.project.findings import Findings
from qtrigger.project.jsonc import Path
from qtrigger.project.schemas import Node
from qtrigger.project.tree import Tree
from qtrigger.queues.client import NEVER_EXPIRES_S

DELAY, LIFETIME = "visibilityTimeout", "timeToLive"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTimes:
    """In seconds, None where the binding leaves it to the service."""

    delay_s: float | None
    ttl_s: float | None


def read(tree: Tree, schema: Node, path: Path, findings: Findings) -> OutputTimes:
    """Those of the output at `path`, which is in its schema's shape."""
    given, keys = tree.at(path), schema["$defs"]["queue"]["properties"]
    delay_s = ttl_s = None
    if given.get(DELAY) is not None:
        delay_s = durations.read(given[DELAY], keys[DELAY]).seconds
    if given.get(LIFETIME) is not None:
        seconds = durations.read(given[LIFETIME], keys[LIFETIME]).seconds
        ttl_s = NEVER_EXPIRES_S if seconds is None else seconds
    if delay_s is not None and ttl_s is not None and 0 <= ttl_s <= delay_s:
        findings.error(
            f"{DELAY} {given[DELAY]} is not less than {LIFETIME} {given[LIFETIME]}: a message "
            "would expire before anybody sees it",
            tree.place((*path, DELAY)),
            "the service refuses such a message",
        )
    return OutputTimes(delay_s=delay_s, ttl_s=ttl_s)
