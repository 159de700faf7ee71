"""Retry policies, of function.json and of host.json.

Owns what a strategy needs. Whether and how a policy is carried out is not decided here.
"""

from __future__ import annotations

from typing import Any

from qtrigger.project import durations, problems
from qtrigger.project.findings import Findings
from qtrigger.project.jsonc import Path
from qtrigger.project.model import RetryPolicy
from qtrigger.project.schemas import Node
from qtrigger.project.shape import shape
from qtrigger.project.tree import Fault, Tree


def read(tree: Tree, at: Path, schema: Node, findings: Findings) -> RetryPolicy | None:
    """The policy at `at`, None when there is none or after an error was noted.

    `schema` is function.json's, which defines the policy for both files.
    """
    if tree.at(at) is None:
        return None
    faults = [
        *shape(tree, schema, node=schema["$defs"]["retry"], at=at),
        *problems.check(tree, schema, name="retry", at=at),
    ]
    given = tree.at(at)
    if isinstance(given, dict):
        faults += [
            Fault(
                path=(*at, key),
                message=f"{tree.label((*at, key))} is missing; {_strategy(given)} needs it",
            )
            for key in _needed(given)
            if key not in given
        ]
    for fault in faults:
        tree.report(fault, findings)
    if findings.failed:
        return None
    return _policy(tree, at, given, schema, findings)


def note_product(
    policy: RetryPolicy, tree: Tree, at: Path, max_dequeue_count: int, findings: Findings
) -> None:
    """Say how often a message is tried in all: the policy's tries count once per dequeue."""
    total = "no end of them"
    if policy.max_retries >= 0:
        total = f"{(policy.max_retries + 1) * max_dequeue_count} tries"
    findings.warning(
        f"the retry policy multiplies with maxDequeueCount; a message gets {total}",
        tree.place(at, on_key=True),
        "Azure does not support retry policies for queue triggers; maxDequeueCount is its own",
    )


def _policy(
    tree: Tree, at: Path, given: dict[str, Any], schema: Node, findings: Findings
) -> RetryPolicy | None:
    node = schema["$defs"]["interval"]
    least, most = (durations.read(given[key], node).seconds for key in _needed(given))
    assert least is not None
    assert most is not None
    if least > most:
        place = tree.place((*at, "minimumInterval"))
        findings.error(f"{tree.label(at)}: minimumInterval is longer than maximumInterval", place)
        return None
    return RetryPolicy(
        strategy=_strategy(given),
        max_retries=given["maxRetryCount"],
        minimum_s=least,
        maximum_s=most,
    )


def _strategy(given: dict[str, Any]) -> str:
    return str(given.get("strategy", "exponentialBackoff"))


def _needed(given: dict[str, Any]) -> tuple[str, str]:
    if _strategy(given) == "fixedDelay":
        return "delayInterval", "delayInterval"
    return "minimumInterval", "maximumInterval"
