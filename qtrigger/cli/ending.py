"""The last events of a process that runs a host, however it ends.

Owns the order: what went wrong before a host was up, then the summary. Programs that read the log
know by it that no more comes.
"""

from __future__ import annotations

from collections.abc import Callable

from qtrigger.clock import Clock
from qtrigger.errors import ExitCode, QtriggerError, exit_code
from qtrigger.events import Event, EventSink, HostStopped, ProcessEnding, StartFailed
from qtrigger.telemetry.sinks import Tally

# As shells and systemd have it.
INTERRUPTED = 130


class Reason:
    """Keeps why the last host stopped, "" while none has."""

    def __init__(self) -> None:
        self.text = ""

    def emit(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, HostStopped):
            self.text = event.reason

    def wants(self, kind: type[Event]) -> bool:
        """See `EventSink`."""
        return kind is HostStopped


def run_to_the_end(
    run: Callable[[], ExitCode],
    *,
    sink: EventSink,
    tally: Tally,
    reason: Reason,
    clock: Clock,
    tells_errors: bool,
) -> int:
    """Run to the end, emit the last events, and return the exit code.

    An error that keeps a host from coming up is raised for the caller to tell, unless
    `tells_errors`: then the sink has told it.
    """
    began = clock.monotonic()
    code: int = ExitCode.BUG
    ended_by = "a defect"
    try:
        code = run()
        ended_by = reason.text
    except QtriggerError as error:
        code, ended_by = exit_code(error), "the start failed"
        sink.emit(StartFailed(message=str(error), exit_code=int(code)))
        if not tells_errors:
            raise
    except KeyboardInterrupt:
        code, ended_by = INTERRUPTED, "SIGINT"
        raise
    finally:
        sink.emit(
            ProcessEnding(
                reason=ended_by,
                exit_code=int(code),
                counts=tally.counts(),
                after_s=clock.monotonic() - began,
            )
        )
    return code
