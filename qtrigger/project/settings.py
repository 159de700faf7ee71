"""App settings: the environment with local.settings.json beneath it.

Owns how a setting is named and found: `A__B` is `A:B`, case matters only to choose between two,
and connection strings have sections of their own. Reads no file and no process environment; both
are passed in. Values leave through look-ups only: every `repr` shows names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from qtrigger.project.findings import Findings, Place, nearest

# How Azure hands connection strings to a process, by kind of database.
_CONNECTION_PREFIXES: Final = (
    "CUSTOMCONNSTR_",
    "SQLCONNSTR_",
    "SQLAZURECONNSTR_",
    "MYSQLCONNSTR_",
)
ENVIRONMENT: Final = "environment"

# The setting that names the environment; for workers it is always there.
ENVIRONMENT_NAME: Final = "AZURE_FUNCTIONS_ENVIRONMENT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One app setting as it was given; `place` is empty for one that is in none of our files.

    `given_by` is who gave it, in words, where that is not the environment.
    """

    name: str
    value: str = field(repr=False)
    place: Place = field(default_factory=Place)
    given_by: str = ""

    @property
    def origin(self) -> str:
        """Where it comes from: `environment`, `local.settings.json:7`, `credential NAME`."""
        return self.given_by or str(self.place) or ENVIRONMENT

    @property
    def key(self) -> str:
        """The name with `:` between its levels."""
        return _key(self.name)


class Settings:
    """All app settings of a project, found by name or by section."""

    def __init__(self, settings: Iterable[Setting]) -> None:
        """Take settings in order of rank: of two with one name the first one counts."""
        self._given: dict[str, Setting] = {}
        self._exact: dict[str, Setting] = {}
        self._folded: dict[str, Setting] = {}
        for setting in settings:
            if setting.key not in self._exact:
                self._given[setting.name] = setting
            for key in _keys(setting.name):
                self._exact.setdefault(key, setting)
                self._folded.setdefault(key.casefold(), setting)

    def __repr__(self) -> str:
        return f"Settings({', '.join(sorted(self._given))})"

    def find(self, name: str) -> Setting | None:
        """The setting of that name; one in the same letters comes before one in other case."""
        key = _key(name)
        return self._exact.get(key) or self._folded.get(key.casefold())

    def get(self, name: str) -> str | None:
        """The value of the setting, None when there is none. An empty text is a value."""
        setting = self.find(name)
        return None if setting is None else setting.value

    def children(self, section: str) -> dict[str, Setting]:
        """The settings below a section, by the rest of their key in small letters."""
        prefix = f"{_key(section)}:".casefold()
        return {
            key.removeprefix(prefix): self.find(key) or setting
            for key, setting in self._folded.items()
            if key.startswith(prefix)
        }

    def nearest(self, name: str) -> str:
        """The name of the setting that looks most like this one, "" when none does."""
        return nearest(name, self._given)

    @property
    def all(self) -> tuple[Setting, ...]:
        """Every setting that counts."""
        return tuple(self._given.values())

    def as_environment(self) -> dict[str, str]:
        """The settings as variables for a worker's process, under the names they were given."""
        return {name: setting.value for name, setting in self._given.items()}


def layered(
    environ: Mapping[str, str],
    local: Iterable[Setting],
    findings: Findings,
    credentials: Iterable[Setting] = (),
) -> Settings:
    """Put the local settings under the environment, and say where the two differ.

    Credentials come before both: whoever made one wants it. A variable that is set but empty does
    not hide a local setting, as in the Core Tools.
    """
    above_all = list(credentials)
    known = {setting.key for setting in above_all}
    variables = [Setting(name=name, value=value) for name, value in environ.items()]
    given = [*above_all, *(each for each in variables if each.key not in known)]
    outer = {setting.key: setting for setting in given}
    hidden: set[str] = set()
    beneath = []
    for setting in local:
        above = outer.get(setting.key)
        if above is None:
            beneath.append(setting)
        elif above.value:
            if above.value != setting.value:
                _note_difference(setting, findings)
        elif setting.value:
            hidden.add(above.name)
            beneath.append(setting)
            _note_empty(setting, findings)
    return Settings([*(one for one in given if one.name not in hidden), *beneath])


def _note_difference(setting: Setting, findings: Findings) -> None:
    findings.warning(
        f'the environment has another value for "{setting.name}"; the environment\'s counts',
        setting.place,
        f"unset {setting.name} to use the value of this file",
    )


def _note_empty(setting: Setting, findings: Findings) -> None:
    findings.warning(
        f'"{setting.name}" is set but empty in the environment; the value of this file counts',
        setting.place,
    )


def _key(name: str) -> str:
    return name.replace("__", ":")


def _keys(name: str) -> Iterable[str]:
    yield _key(name)
    for prefix in _CONNECTION_PREFIXES:
        if name.upper().startswith(prefix) and len(name) > len(prefix):
            yield _key(f"ConnectionStrings:{name[len(prefix) :]}")
