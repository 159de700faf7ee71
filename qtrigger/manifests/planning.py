"""Makes the plan for a cluster out of a loaded project and what was asked for.

Owns which functions are watched, how accounts are named, and which settings become placeholders.
No value of a local setting gets into a plan, but for what names a queue.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from qtrigger.errors import ProjectError
from qtrigger.manifests.plan import GIVEN, PUBLIC, Place, SignsIn, Watched, in_work_at_once
from qtrigger.project.model import FunctionDefinition, Project
from qtrigger.project.needed import connection_setting, left_to_the_code, named_settings
from qtrigger.queues.account import Account, Identity

_ACCOUNT: Final = re.compile(r"(?P<account>[a-z0-9]{3,24})(?:\.(?P<suffix>[a-z0-9.-]+))?")
_SWITCHED_OFF: Final = "setting "


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """What a plan takes from a project.

    `watched`, `secrets` and `plain` are the plan's; `remarks` is what a person is told besides.
    """

    signs_in: SignsIn
    watched: Sequence[Watched]
    secrets: Mapping[str, str]
    plain: Mapping[str, str]
    remarks: Sequence[str]


def place_of(text: str) -> Place | None:
    """The account that a person names, by name or by its queue service's host, else None."""
    found = _ACCOUNT.fullmatch(text)
    if found is None:
        return None
    suffix = found["suffix"] or PUBLIC
    # In every cloud; the host of another of the account's services has no queues.
    return Place(account=found["account"], suffix=suffix) if "queue" in suffix.split(".") else None


def extract(project: Project, wanted: SignsIn | None, accounts: Mapping[str, Place]) -> Extract:
    """Take from a project what a plan needs.

    `wanted` None signs in by identities where all connections are some. `accounts` are places by
    connection, that of "" is for all others. Raises ProjectError when nobody says where an account
    is, or when one is said for a connection that is not used.
    """
    functions = [each for each in project.functions if not each.disabled]
    used = _connections(project, functions)
    signs_in = wanted or _signs_in(used.values())
    by_identity = signs_in is SignsIn.WORKLOAD_IDENTITY
    places = _places(used, _of_used(used, accounts, project)) if by_identity else {}
    needed = {
        each.name: f"<{each.why}>"
        for each in named_settings(project, functions)
        if each.name.upper() not in GIVEN
    }
    secrets = {} if places else dict.fromkeys(used, "<connection string of the account>")
    left = left_to_the_code(project, [*used, *needed])
    return Extract(
        signs_in=signs_in,
        watched=[_watched(each, project, places) for each in functions],
        secrets={**secrets, **{name: text for name, text in needed.items() if name not in used}},
        plain={**_identities(places), **_switches(project.functions)},
        remarks=[*_not_watched(project), *_not_given(left), *_per_replica(functions, project)],
    )


def _watched(
    function: FunctionDefinition, project: Project, places: Mapping[str, Place]
) -> Watched:
    connection = connection_setting(function.trigger.connection, project)
    length, words = in_work_at_once(function, project.host)
    return Watched(
        function=function.name,
        queue=function.trigger.queue,
        connection=connection,
        length=length,
        sum_in_words=words,
        place=places.get(connection),
    )


def _connections(
    project: Project, functions: Iterable[FunctionDefinition]
) -> dict[str, Account | None]:
    """The variables of the connections that are used, and the account that each is here."""
    found: dict[str, Account | None] = {}
    for function in functions:
        trigger = function.trigger
        found.setdefault(connection_setting(trigger.connection, project), trigger.account)
        for output in function.outputs:
            found.setdefault(connection_setting(output.connection, project), output.account)
    return found


def _signs_in(accounts: Iterable[Account | None]) -> SignsIn:
    known = [each for each in accounts if each is not None]
    by_identity = known and all(isinstance(each.credential, Identity) for each in known)
    return SignsIn.WORKLOAD_IDENTITY if by_identity else SignsIn.CONNECTION


def _of_used(
    used: Iterable[str], accounts: Mapping[str, Place], project: Project
) -> dict[str, Place]:
    """The accounts by their connections' variables, whichever name was said."""
    known = {name.casefold(): name for name in used}
    found = {}
    for name, place in accounts.items():
        variable = known.get(connection_setting(name, project).casefold()) if name else ""
        if variable is None:
            raise ProjectError(
                f"no function uses the connection {name}; there is {', '.join(known.values())}. "
                "Name one of these, or none with --account NAME for all."
            )
        found[variable] = place
    return found


def _places(used: Mapping[str, Account | None], accounts: Mapping[str, Place]) -> dict[str, Place]:
    """Where each account is. A local connection says so only where it signs in by an identity."""
    found = {}
    for name, account in used.items():
        given = accounts.get(name) or accounts.get("")
        if given is None and account is not None and isinstance(account.credential, Identity):
            given = place_of(urlsplit(account.endpoint).netloc)
        if given is None:
            raise ProjectError(
                f"nothing says which storage account {name} is in the cluster. "
                f"Say --account NAME, or --account {name}=NAME where there are several."
            )
        found[name] = given
    return found


def _identities(places: Mapping[str, Place]) -> dict[str, str]:
    """The settings of connections by identity; none of them is secret."""
    return {
        f"{name}__{key}": value
        for name, place in places.items()
        for key, value in (
            ("queueServiceUri", place.address),
            ("credential", "workloadidentity"),
        )
    }


def _switches(functions: Iterable[FunctionDefinition]) -> dict[str, str]:
    """What is switched off by a setting here stays so there."""
    return {
        f"AzureWebJobs.{each.name}.Disabled": "true"
        for each in functions
        if each.disabled.startswith(_SWITCHED_OFF)
    }


def _not_watched(project: Project) -> Iterator[str]:
    for name in project.failed:
        yield f"warning: {name} has errors (qtrigger check names them) and gets no trigger"
    for function in project.functions:
        if function.disabled:
            yield f"warning: {function.name} gets no trigger: {function.disabled}"
    for name, kind in project.not_run.items():
        yield f"warning: {name} gets no trigger: a {kind} is not run by qtrigger"


def _not_given(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield (
            f"note: these local settings are named by no binding and are not passed on: "
            f"{', '.join(names)}; add those that the code reads"
        )


def _per_replica(functions: Iterable[FunctionDefinition], project: Project) -> Iterator[str]:
    """Limits that hold in one host, which a person may take for limits of all."""
    limited = [
        f"{key} of {each.name}"
        for each in functions
        for key, value in (
            ("maxPerMinute", each.own.max_per_minute),
            ("maxConcurrent", each.own.max_concurrent),
            ("orderBy", each.own.order_by),
        )
        if value
    ]
    limited += ["the host's maxConcurrent"] if project.host.max_concurrent else []
    if limited:
        yield (
            f"warning: {', '.join(limited)} holds in each replica by itself, and not over all; "
            "--max-replicas 1 keeps it one"
        )
