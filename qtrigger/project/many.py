"""Functions that get lists of messages (cardinality `many`): which, and what does not go with it.

Owns the option by which host.json says so, for projects that run on Azure as well, and what is
said of the rest and left out of the function's definition for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qtrigger.project import expressions
from qtrigger.project.binding_types import is_trigger
from qtrigger.project.bindings import Bindings
from qtrigger.project.findings import Findings
from qtrigger.project.host_json import HostFile
from qtrigger.project.model import QueueOutput, RetryPolicy
from qtrigger.project.options import OwnOptions
from qtrigger.project.tree import Tree

_HINT = "what failed of a list comes back by the queue, with maxDequeueCount and visibilityTimeout"


def as_host_says(found: Bindings, host: HostFile, function: str) -> Bindings:
    """The bindings with the cardinality of host.json in place, where it has one."""
    said = host.tree.at(host.own_path(function, "cardinality", shared=False))
    if said is None:
        return found
    return replace(
        found,
        trigger=replace(found.trigger, many=said == "many"),
        raw=tuple(
            {**each, "cardinality": said} if is_trigger(each) else each for each in found.raw
        ),
    )


def without_retries(policy: RetryPolicy | None, tree: Tree, findings: Findings) -> None:
    """Say that a retry policy is not carried out; it would run the whole list again."""
    if policy is not None:
        place = tree.place(("retry",), on_key=True) if tree.at(("retry",)) else tree.place(())
        text = 'the retry policy is not carried out with cardinality "many"'
        findings.warning(text, place, _HINT)


def without_order(own: OwnOptions, host: HostFile, function: str, findings: Findings) -> OwnOptions:
    """The options without an order, which a list that runs as a whole cannot have."""
    if not own.order_by:
        return own
    text = 'orderBy is not applied with cardinality "many"'
    hint = "the messages of a list run together; order them in the function, or get them singly"
    place = host.tree.place(host.own_path(function, "orderBy", shared=False), on_key=True)
    findings.warning(text, place, hint)
    return replace(own, order_by="")


def check_outputs(outputs: Sequence[QueueOutput], tree: Tree, findings: Findings) -> None:
    """Refuse a queue's name that is made from a message: the outputs are those of a whole list."""
    for output in outputs:
        expression = expressions.needing_message(output.queue)
        if expression is None:
            continue
        names = [binding.get("name") for binding in tree.at(("bindings",))]
        path = ("bindings", names.index(output.name), "queueName")
        text = f'{expression} has no value with cardinality "many": a run has several messages'
        hint = "{rand-guid}, {DateTime} and {sys.methodName} have one"
        findings.error(f"{tree.label(path)}: {text}", tree.place(path), hint)
