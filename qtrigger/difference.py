"""What a project loaded anew has that the one before had not, in names of functions.

Pure values; owns what counts as added, removed, changed, broken and mended.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from qtrigger.project.model import FunctionDefinition, Project
from qtrigger.queues.account import Account


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The functions of a host at one moment: those that are enabled, and those that are broken."""

    functions: Mapping[str, FunctionDefinition]
    broken: AbstractSet[str]

    @property
    def names(self) -> AbstractSet[str]:
        """All of them."""
        return self.functions.keys() | self.broken


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Names of functions, each sorted. `live` are those that run, whatever became of them."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    broken: tuple[str, ...]
    mended: tuple[str, ...]
    live: tuple[str, ...]


def standing(project: Project, broken: AbstractSet[str]) -> Standing:
    """The functions of a project of which those are broken."""
    enabled = {each.name: each for each in project.functions if not each.disabled}
    return Standing(functions=enabled, broken=broken)


def difference(before: Standing, after: Standing) -> Difference:
    """What has become of the functions."""
    both = before.functions.keys() & after.functions.keys()
    changed = {name for name in both if before.functions[name] != after.functions[name]}
    return Difference(
        added=_sorted(after.names - before.names),
        removed=_sorted(before.names - after.names),
        changed=_sorted(changed),
        broken=_sorted(after.broken - before.broken),
        mended=_sorted((before.broken - after.broken) & after.names),
        live=_sorted(after.names - after.broken),
    )


def same_house(before: Project, after: Project) -> bool:
    """Whether a host of the one can go on with the other.

    host.json says the same, and the functions that both have are on the same accounts.
    """
    return before.host == after.host and not _moved(before, after)


def _moved(before: Project, after: Project) -> bool:
    accounts = {each.name: _accounts(each) for each in after.functions}
    return any(
        each.name in accounts and _accounts(each) != accounts[each.name]
        for each in before.functions
    )


def _accounts(function: FunctionDefinition) -> set[Account | None]:
    return {function.trigger.account, *(each.account for each in function.outputs)}


def _sorted(names: AbstractSet[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=str.casefold))
