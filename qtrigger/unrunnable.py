"""Why functions of a host cannot run, with the place to mend.

Owns what is said of them once, whoever asks: the errors in the project's files, and what no worker
could load. Reads a host and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qtrigger.host import Host
from qtrigger.project.model import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One of them; `function` is "" for what keeps several from running, `place` is `file:line`."""

    function: str
    place: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrunnable:
    """The faults, and whether they leave no function to run."""

    faults: Sequence[Fault] = ()
    all: bool = False


def unrunnable(host: Host) -> Unrunnable:
    """What is wrong with the host's functions, those that are disabled aside."""
    project = host.project
    faults = [
        Fault(function=each.function, place=each.place, message=each.message)
        for each in project.problems
        if each.severity is Severity.ERROR
    ]
    faults += [
        Fault(function=name, place=each.place, message=each.message)
        for name, each in sorted(host.failures.items())
    ]
    enabled = {each.name for each in project.functions if not each.disabled}
    return Unrunnable(faults=faults, all=bool(faults) and not enabled - host.broken)
