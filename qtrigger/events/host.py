"""What happens to a host, its functions and its workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something wrong in the project's files or settings; `place` is `file:line:column`.

    `traceback` is there when user code raised something.
    """

    function: str
    place: str
    severity: str
    message: str
    hint: str
    traceback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionState:
    """A function in the list shown at start.

    `state` is ready, paused, disabled, failed or not run here.
    """

    name: str
    queue: str
    connection: str
    state: str
    why: str = ""
    concurrency: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStarting:
    """The first host of a process has read its project, named `project`, and comes up.

    `python` is the version of the workers' interpreter and why it was chosen, `loop` the event
    loop. `dashboard` is an address, `reload` what a reload comes by; "" for none. `folder`
    is the project's, "" where the process was started in it.
    """

    version: str
    project: str
    environment: str
    python: str
    workers: int
    loop: str
    dashboard: str = ""
    reload: str = ""
    folder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatorReady:
    """A local queue service answers; `started` when it is ours and ends with this process."""

    description: str
    port: int
    started: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReady:
    """Workers are ready and the listeners run."""

    functions: Sequence[FunctionState]
    workers: int
    interpreter: str
    after_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStopping:
    """No more polls; what runs may finish within `up_to_s` seconds."""

    reason: str
    running: int
    up_to_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStopped:
    """The process is about to end.

    `counts` are messages by how their runs ended; `unsettled` ones come back when their leases
    end.
    """

    reason: str
    counts: Mapping[str, int]
    unsettled: int
    after_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StartFailed:
    """No host came up, and the process ends with `exit_code`."""

    message: str
    exit_code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnding:
    """The last event of a process, however it ends; see `HostStopped` for its counts."""

    reason: str
    exit_code: int
    counts: Mapping[str, int]
    after_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """Once a minute, for those who asked for it; `counts` since the start, `after_s` ago."""

    counts: Mapping[str, int]
    after_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReloadStarted:
    """The project is about to be loaded anew; `files` as in `Reloaded`."""

    files: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReloadRejected:
    """A reload could not be carried out; the host before it goes on."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reloaded:
    """The project was loaded anew, and its functions run on the new code.

    `files` are those that were saved, none when somebody asked by signal. `live` are the functions
    that run now and that it concerns, of so many that are `ready`; the others are names of
    functions too. `running_before` messages finish on the code before.
    """

    files: Sequence[str]
    live: Sequence[str]
    ready: int
    added: Sequence[str]
    removed: Sequence[str]
    changed: Sequence[str]
    broken: Sequence[str]
    mended: Sequence[str]
    took_s: float
    running_before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementsChanged:
    """What the project wants to be installed has changed; installing it is for a person to do."""

    file: str
    interpreter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStarted:
    """A worker process is ready."""

    worker: int
    pid: int
    took_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerEnded:
    """A worker process ended. `expected` when we asked for it.

    That was `retired` which had a run over its time that nothing else could end.
    """

    worker: int
    pid: int
    how: str
    expected: bool
    lost: int
    retired: bool = False
    next_start_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSilent:
    """A worker process stands still: it answers nothing and takes no processor time."""

    pid: int
    for_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerAnswers:
    """A worker process that stood still gets on again, `after_s` later."""

    pid: int
    after_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionLoadFailed:
    """A function cannot run and is not polled."""

    function: str
    place: str
    message: str
    traceback: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionPaused:
    """Somebody has paused a function: no more of its messages are asked for.

    `until` None is until somebody resumes it.
    """

    function: str
    by: str
    reason: str
    until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionResumed:
    """One reason not to poll for a function is gone.

    `cause` is load (a worker can load it again), hand (somebody resumed it) or time (its pause is
    over). `held` are the reasons that are left, see `Listener.paused`; without one it is polled.
    """

    function: str
    cause: str = "load"
    held: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLog:
    """A line of the host's own, or of a library it uses; `level` as in `logging`."""

    level: int
    logger: str
    message: str
    traceback: str = ""
