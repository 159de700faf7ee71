"""Whether a function is switched off, and by what.

Owns the settings and keys that do it, in all the ways that Azure documents or once had.
"""

from __future__ import annotations

from qtrigger.project.expansion import ExpansionError, expand
from qtrigger.project.findings import Findings, shown
from qtrigger.project.settings import Setting, Settings
from qtrigger.project.tree import Tree


def disabled(name: str, tree: Tree, settings: Settings, findings: Findings) -> str:
    """The reason why the function is off, "" when it is on."""
    for switch in (f"AzureWebJobs.{name}.Disabled", f"AzureWebJobs_{name}_Disabled"):
        setting = settings.find(switch)
        if setting is None:
            continue
        if is_on(setting.value):
            return f"setting {setting.name} ({setting.origin})"
        _note_odd(setting, findings)
    return _by_file(name, tree, settings, findings)


def is_on(value: str) -> bool:
    """Whether a setting's text switches something on, as Azure reads it."""
    return value.casefold() in {"1", "true"}


def _by_file(name: str, tree: Tree, settings: Settings, findings: Findings) -> str:
    given = tree.at(("disabled",))
    place = tree.place(("disabled",))
    if not given or not isinstance(given, (bool, str)):
        return ""
    reason = f"{tree.file} says disabled"
    if isinstance(given, str):
        if not _named_switch(given, tree, settings, findings):
            return ""
        reason = f"{reason} by {given}"
    findings.warning(
        "disabled in function.json is honoured here, but Azure would run the function",
        place,
        f"on Azure set AzureWebJobs.{name}.Disabled to true",
    )
    return reason


def _named_switch(given: str, tree: Tree, settings: Settings, findings: Findings) -> bool:
    """Whether the text of `disabled` says so itself, or names a setting that does."""
    place = tree.place(("disabled",))
    try:
        switch = expand(given, settings)
    except ExpansionError as error:
        findings.error(f"disabled: {error}", place, error.hint)
        return False
    value = settings.get(switch)
    if value is None and switch == given and not is_on(given):
        near = settings.nearest(given)
        findings.warning(
            f"disabled names the app setting {shown(given)}, which does not exist; "
            "the function runs",
            place,
            f'did you mean "{near}"?' if near else "",
        )
    return is_on(switch if value is None else value)


def _note_odd(setting: Setting, findings: Findings) -> None:
    if setting.value.strip().casefold() not in {"", "0", "false"}:
        findings.warning(
            f"{setting.name} ({setting.origin}) is neither true nor 1, so the function runs",
            setting.place,
        )
