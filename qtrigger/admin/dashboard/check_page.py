"""The page for after a deployment: what is wrong with the project, and what runs it."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import metadata
from typing import Final

from qtrigger.admin.dashboard import words
from qtrigger.admin.dashboard.cells import Cells
from qtrigger.admin.dashboard.layout import cell, follows, live, nothing, page, part, table
from qtrigger.admin.dashboard.looking import View
from qtrigger.admin.dashboard.markup import Markup, tag
from qtrigger.admin.dashboard.recent import Recent
from qtrigger.admin.route import Answer
from qtrigger.project.model import Problem, Project, Severity
from qtrigger.queues.account import Account

_PACKAGES: Final = ("azure-functions", "azure-storage-queue", "azure-identity", "aiohttp", "uvloop")


def findings_of(
    view: View, project: Project | None, plain: Callable[[str], str]
) -> Sequence[Problem]:
    """What `qtrigger check` says of the project as it was loaded, errors first.

    A function that no worker could load is among it, in the words of the host. `plain` takes
    secrets out of what user code has said.
    """
    found = [
        replace(each, message=plain(each.message), traceback=plain(each.traceback))
        for each in (project.problems if project is not None else ())
    ]
    told = {each.function for each in found if each.severity is Severity.ERROR}
    found += [
        Problem(severity=Severity.ERROR, message=each["why"], function=each["name"])
        for each in view.functions
        if each["state"] == "failed" and each["name"] not in told and each["why"] != "see above"
    ]
    ranked = dict.fromkeys(found)
    return sorted(
        ranked, key=lambda each: (each.severity is not Severity.ERROR, each.file, each.line)
    )


def check_page(
    view: View,
    cells: Cells,
    recent: Recent,
    project: Project | None,
    findings: Sequence[Problem],
) -> Answer:
    """The page."""
    return page(
        "Check",
        "/check",
        view,
        cells,
        tag(
            "div",
            tag("h1", "Check"),
            tag("span", _summary(findings, view), class_="under"),
            class_="tools",
        ),
        part(
            "section",
            "findings",
            *(_finding(each) for each in findings),
            None
            if findings
            else nothing("Nothing is wrong with the project's files and settings."),
            **follows(cells, "h.shape"),
        ),
        _connections(project),
        _workers(view, cells),
        _versions(view, recent, cells),
    )


def _summary(findings: Sequence[Problem], view: View) -> str:
    errors = sum(each.severity is Severity.ERROR for each in findings)
    return (
        f"{words.counted(errors, 'error')}, {words.counted(len(findings) - errors, 'warning')} "
        f"in {words.counted(len(view.functions), 'function')}"
    )


def _finding(problem: Problem) -> Markup:
    bad = problem.severity is Severity.ERROR
    return tag(
        "article",
        tag(
            "p",
            tag("span", str(problem.severity), class_="pill", data_s="bad" if bad else "warn"),
            tag("code", problem.place) if problem.place else None,
            tag("span", problem.function, class_="quiet") if problem.function else None,
            class_="head",
        ),
        tag("p", problem.message),
        tag("p", problem.hint, class_="hint") if problem.hint else None,
        tag("pre", problem.traceback, tabindex="0") if problem.traceback else None,
        class_="finding",
    )


def _connections(project: Project | None) -> Markup | None:
    rows = [
        tag(
            "tr",
            cell("Connection", tag("code", name)),
            cell("Account", account.name),
            cell("Signs in by", account.authentication),
            cell("Used by", ", ".join(users), class_="wide"),
        )
        for name, account, users in _connected(project)
    ]
    if not rows:
        return None
    header = (("Connection", ""), ("Account", ""), ("Signs in by", ""), ("Used by", "wide"))
    return tag(
        "section",
        tag("div", tag("h2", "Connections"), class_="tools"),
        table(header, rows, label="Connections", class_="plain-rows"),
    )


def _connected(project: Project | None) -> Iterator[tuple[str, Account, Sequence[str]]]:
    """Each connection by name, with its account and the functions that use it."""
    found: dict[tuple[str, str], tuple[Account, list[str]]] = {}
    for function in project.functions if project is not None else ():
        uses = [(function.trigger.connection, function.trigger.account)]
        uses += [(each.connection, each.account) for each in function.outputs if each.account]
        for name, account in dict.fromkeys(uses):
            _, users = found.setdefault((name, account.name), (account, []))
            if function.name not in users:
                users.append(function.name)
    for (name, _), (account, users) in sorted(found.items(), key=lambda each: each[0]):
        yield name, account, users


def _workers(view: View, cells: Cells) -> Markup:
    rows = [
        tag(
            "tr",
            cell("Process", tag("code", str(worker["pid"]))),
            cell("Running", live("span", cells, f"w.{number}.running"), class_="figure"),
            cell("Memory", live("span", cells, f"w.{number}.memory"), class_="figure"),
        )
        for number, worker in enumerate(view.document["workers"])
    ]
    return tag(
        "section",
        tag("div", tag("h2", "Workers"), class_="tools"),
        table(
            (("Process", ""), ("Running", "figure"), ("Memory", "figure")),
            rows,
            label="Workers",
            class_="plain-rows",
        )
        if rows
        else nothing("No worker runs."),
    )


def _versions(view: View, recent: Recent, cells: Cells) -> Markup:
    document = view.document
    facts = [
        ("qtrigger", str(document["qtrigger"])),
        ("Python of the host", platform.python_version()),
        ("Python of the functions", recent.interpreter),
        ("emulator", recent.emulator or "none"),
        ("project", str(document["project"])),
        ("environment", str(document["environment"])),
        ("process", str(document["pid"])),
        *_packages(),
    ]
    rows = [tag("div", tag("dt", key), tag("dd", value)) for key, value in facts if value]
    rows.append(tag("div", tag("dt", "up for"), live("dd", cells, "h.up")))
    return tag(
        "section",
        tag("div", tag("h2", "Versions"), class_="tools"),
        tag("dl", *rows, class_="facts spread"),
    )


def _packages() -> Iterator[tuple[str, str]]:
    for name in _PACKAGES:
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
