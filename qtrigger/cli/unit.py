"""The systemd unit of a project, as text.

Owns which directives a unit has and how systemd wants values written. Pure: where the text goes
and what is on the machine is `systemd`'s, the verb. Why each directive is as it is stands in
docs/decisions/0047-the-unit.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qtrigger.errors import ExitCode

# What a stop may take beyond its drain: messages are handed back, workers and the journal end.
BEYOND_DRAIN_S: Final = 15
WATCHDOG_S: Final = 60
_HOMES: Final = ("/home", "/root", "/run/user")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./@:+=,~%-]+")

# Each was looked at by what `systemd-analyze security` makes of it, and by what functions need.
_HARDENING: Final = """\
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
PrivateTmp=yes
PrivateDevices=yes
DevicePolicy=closed
PrivateUsers=yes
PrivateMounts=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
ProtectProc=invisible
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RemoveIPC=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What a unit is made of.

    `name` is that of its state, its files in /etc/qtrigger and its lines in the journal. A
    `template` has the instance's for it, and `project` is the folder that holds one of that name
    for each. `user` is an account, None for one that systemd makes up. `private` are folders in
    people's homes that it needs.
    """

    name: str
    project: Path
    command: Sequence[str]
    template: bool = False
    shutdown_timeout_s: float = 30.0
    user: str | None = None
    of_user: bool = False
    credentials: Sequence[str] = ()
    private: Sequence[Path] = ()

    @property
    def file(self) -> str:
        """The unit's file name."""
        return "qtrigger@.service" if self.template else f"qtrigger-{self.name}.service"

    @property
    def title(self) -> str:
        """What a person calls it."""
        return f"the projects in {self.project}" if self.template else self.name

    def text(self) -> str:
        """The unit's text. Raises ValueError for a path that systemd cannot be given."""
        sections = {
            "Unit": self._unit(),
            "Service": self._service(),
            "Install": iter([f"WantedBy={'default' if self.of_user else 'multi-user'}.target"]),
        }
        texts = [f"[{name}]\n" + "\n".join(lines) for name, lines in sections.items()]
        return "\n\n".join(texts) + "\n"

    @property
    def _instance(self) -> str:
        return "/%i" if self.template else ""

    @property
    def _own(self) -> str:
        return "%i" if self.template else self.name

    def _unit(self) -> Iterator[str]:
        yield f"Description=qtrigger, queue functions of {self._own}"
        yield "Documentation=man:systemd.service(5)"
        if not self.of_user:
            yield "Wants=network-online.target"
            yield "After=network-online.target nss-lookup.target time-sync.target"
        yield "StartLimitIntervalSec=5min"
        yield "StartLimitBurst=10"

    def _service(self) -> Iterator[str]:
        yield from self._life()
        yield from self._surroundings()
        yield from self._places()
        if self.of_user:
            yield "NoNewPrivileges=yes"
            return
        yield from self._home()
        yield from _HARDENING.splitlines()

    def _life(self) -> Iterator[str]:
        stop_s = math.ceil(self.shutdown_timeout_s) + BEYOND_DRAIN_S
        yield "Type=notify"
        yield "NotifyAccess=main"
        project = quoted(str(self.project), self._instance)
        yield f"ExecStart={' '.join(map(quoted, self.command))} start {project}"
        yield "ExecReload=/bin/kill -HUP $MAINPID"
        yield "# The host alone is asked to stop: it lets its workers finish what they run."
        yield "KillMode=mixed"
        yield "TimeoutStartSec=90s"
        yield f"# shutdownTimeout of host.json, and {BEYOND_DRAIN_S} s."
        yield f"TimeoutStopSec={stop_s}s"
        yield "# A host that hangs is ended so that it leaves the stack of each thread."
        yield f"WatchdogSec={WATCHDOG_S}s"
        yield "WatchdogSignal=SIGABRT"
        yield "Restart=on-failure"
        yield "RestartSec=2s"
        yield "# Wrong usage, and a project that cannot run: no restart mends them."
        yield f"RestartPreventExitStatus={ExitCode.USAGE.value} {ExitCode.PROJECT.value}"
        yield "# A worker that takes too much memory is replaced by the host."
        yield "OOMPolicy=continue"

    def _surroundings(self) -> Iterator[str]:
        yield "Environment=AZURE_FUNCTIONS_ENVIRONMENT=Production PYTHONUNBUFFERED=1"
        yield f"Environment=PYTHONPYCACHEPREFIX=%C/qtrigger/{self._own}"
        yield f"EnvironmentFile=-%E/qtrigger/{self._own}.env"
        yield "# A secret is safer in a file of its own than in the environment:"
        for credential in self.credentials or ("AzureWebJobsStorage",):
            yield f"#LoadCredential={credential}:%E/qtrigger/{self._own}/{credential}"

    def _places(self) -> Iterator[str]:
        yield f"WorkingDirectory={_whole(str(self.project))}{self._instance}"
        if self.user is not None:
            yield f"User={self.user}"
        elif not self.of_user:
            yield "DynamicUser=yes"
        yield f"StateDirectory=qtrigger/{self._own}"
        yield "StateDirectoryMode=0700"
        yield f"CacheDirectory=qtrigger/{self._own}"
        yield f"RuntimeDirectory=qtrigger/{self._own}"
        yield f"SyslogIdentifier=qtrigger-{self._own}"
        yield "# A line for each run is more than the journal takes by default."
        yield "LogRateLimitIntervalSec=30s"
        yield "LogRateLimitBurst=200000"
        yield "UMask=0077"
        yield "LimitNOFILE=65536"
        yield "TasksMax=512"
        yield "#MemoryHigh=1500M"
        yield "#MemoryMax=2G"

    def _home(self) -> Iterator[str]:
        if not self.private:
            yield "ProtectHome=yes"
            return
        yield "# Of people's homes this service sees these folders alone."
        yield "ProtectHome=tmpfs"
        for folder in self.private:
            yield f"BindReadOnlyPaths={quoted(_without_colon(folder))}"


def in_homes(paths: Sequence[Path]) -> Sequence[Path]:
    """Those of the folders that stand in people's homes, without those within another of them."""
    found = sorted({path for path in paths if any(path.is_relative_to(home) for home in _HOMES)})
    return [
        path for path in found if not any(path != up and path.is_relative_to(up) for up in found)
    ]


def quoted(text: str, behind: str = "") -> str:
    """One word of a command line, as systemd.service(5) reads it back; `behind` as it stands."""
    text = _in_one_line(text).replace("%", "%%")
    if _PLAIN.fullmatch(text):
        return text + behind
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return f'"{escaped}{behind}"'


def _whole(path: str) -> str:
    """A path that is the whole of a line."""
    if path != path.strip() or path.endswith("\\"):
        raise ValueError(f"{path!r} ends or begins in a way that a unit cannot hold")
    return _in_one_line(path).replace("%", "%%")


def _without_colon(path: Path) -> str:
    if ":" in str(path):
        raise ValueError(f"{path} has a colon, which separates paths in a unit")
    return str(path)


def _in_one_line(text: str) -> str:
    if any(ord(character) < 32 for character in text):
        raise ValueError(f"{text!r} has a character that a unit cannot hold")
    return text
