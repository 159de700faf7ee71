"""Reads the options of one function that Azure has no word for.

Owns which value applies, the function's own or the one for all, and the settings in the texts
that may hold some. What the options do is for others.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

from qtrigger.project import durations, queue_names, schemas
from qtrigger.project.expansion import ExpansionError, expand
from qtrigger.project.findings import Findings, shown
from qtrigger.project.host_json import FUNCTIONS, OWN, HostFile
from qtrigger.project.options import CircuitBreaker, OwnOptions, PoisonNotice
from qtrigger.project.settings import Settings
from qtrigger.queues.client import NEVER_EXPIRES_S

POISON_QUEUE: Final = "poisonQueueName"
_SETTING: Final = re.compile(r"%[^%]*%")
_PERCENT: Final = (
    'put the whole address into one setting, "%NAME%"; a literal percent sign is written "%%"'
)
_SCHEMES: Final = ("http", "https")


def read(
    host: HostFile, function: str, queue: str, settings: Settings, findings: Findings
) -> OwnOptions:
    """The options of a function; what is wrong with a text is noted, and stops the function.

    `queue` is the function's own, "" when it could not be read.
    """
    reader = _Reader(host, function, settings, findings)
    return OwnOptions(
        retry_delays_s=reader.delays("retryDelays"),
        retry_jitter=float(reader.value("retryJitter")),
        poison_queue=reader.poison_queue(queue),
        poison_ttl_s=reader.lifetime("poisonTimeToLive"),
        on_poison=reader.notice("onPoison"),
        breaker=reader.breaker("circuitBreaker"),
        max_per_minute=reader.value("maxPerMinute") or None,
        max_concurrent=host.tree.at(host.own_path(function, "maxConcurrent", shared=False)) or None,
        slow_run_after_s=reader.seconds("slowRunAfter") or 0.0,
        order_by=host.tree.at(host.own_path(function, "orderBy", shared=False)) or "",
    )


def is_own(host: HostFile, function: str, key: str) -> bool:
    """Whether the option that applies is the function's own, and not the one for all."""
    return host.own_path(function, key)[: len(FUNCTIONS)] == FUNCTIONS


class _Reader:
    def __init__(
        self, host: HostFile, function: str, settings: Settings, findings: Findings
    ) -> None:
        self._host = host
        self._function = function
        self._settings = settings
        self._findings = findings

    def value(self, key: str) -> Any:
        """What the file says for the function, else for all, else the default."""
        found = self._host.tree.at(self._host.own_path(self._function, key))
        return self._host.value(*OWN, key) if found is None else found

    def delays(self, key: str) -> tuple[float, ...]:
        node = schemas.member(self._host.schema, schemas.at(self._host.schema, (*OWN, key)), 0)
        return tuple(durations.read(each, node).seconds or 0.0 for each in self.value(key) or ())

    def lifetime(self, key: str) -> float:
        seconds = self.seconds(key)
        return NEVER_EXPIRES_S if seconds is None else seconds

    def seconds(self, key: str) -> float | None:
        node = schemas.at(self._host.schema, (*OWN, key))
        return durations.read(self.value(key), node).seconds

    def poison_queue(self, own_queue: str) -> str | None:
        name = self._expanded(POISON_QUEUE)
        if not name:
            return ""
        try:
            name = queue_names.checked(name)
        except queue_names.QueueNameError as error:
            hint = f"a queue name has {queue_names.RULE}"
            self._refuse(POISON_QUEUE, f"{shown(name)} {error}", hint)
            return ""
        if name != own_queue:
            return name
        if is_own(self._host, self._function, POISON_QUEUE):
            what = f"{shown(name)} is the function's own queue: nothing would leave it"
            self._refuse(POISON_QUEUE, what, "name another queue, or leave it out")
        return None  # said for all, and this function is the one that looks after it

    def notice(self, key: str) -> PoisonNotice | None:
        given = self.value(key) or {}
        if not given.get("command") and not given.get("url"):
            if given:
                self._refuse(key, "says neither a command nor a url")
            return None
        url = self._address(key, given.get("url") or "")
        if url and not _is_address(url):
            # Not shown: it may be a secret.
            self._refuse(key, "url is no http or https address")
        return PoisonNotice(
            command=tuple(given.get("command") or ()),
            url=url,
            include_body=bool(given.get("includeBody", False)),
        )

    def breaker(self, key: str) -> CircuitBreaker | None:
        given = self.value(key) or {}
        if not given.get("failures"):
            return None
        part = {
            name: given.get(name, schemas.default(self._host.schema, (*OWN, key, name)))
            for name in ("failures", "distinctMessages", "pause")
        }
        node = schemas.at(self._host.schema, (*OWN, key, "pause"))
        return CircuitBreaker(
            failures=part["failures"],
            distinct_messages=min(part["distinctMessages"], part["failures"]),
            pause_s=durations.read(part["pause"], node).seconds or 0.0,
        )

    def _address(self, key: str, text: str) -> str:
        """The url with settings put in; of one that holds more than a setting's name none is shown.

        What stands between two percent signs may be a part of a secret then.
        """
        try:
            return expand(text, self._settings).strip()
        except ExpansionError as error:
            if _SETTING.fullmatch(text):
                self._refuse(f"{key}.url", str(error), error.hint)
            else:
                what = "names an app setting that is missing, or holds a percent sign of its own"
                self._refuse(f"{key}.url", what, _PERCENT)
            return ""

    def _expanded(self, key: str) -> str:
        try:
            return expand(self.value(key) or "", self._settings).strip()
        except ExpansionError as error:
            self._refuse(key, str(error), error.hint)
            return ""

    def _refuse(self, key: str, what: str, hint: str = "") -> None:
        path = self._host.own_path(self._function, key.split(".", maxsplit=1)[0])
        self._findings.error(f"{key}: {what}", self._host.tree.place(path), hint)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of brackets, or of a port that is none
        return False
