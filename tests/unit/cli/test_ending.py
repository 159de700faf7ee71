"""The last events of a process: what went wrong, then the summary, in every case."""

from __future__ import annotations

import pytest

from qtrigger.cli.ending import Reason, run_to_the_end
from qtrigger.errors import ExitCode, ProjectError, QueueError
from qtrigger.events import HostStopped, ProcessEnding, StartFailed
from qtrigger.telemetry.sinks import Tally
from qtrigger.testing.clock import ManualClock
from qtrigger.testing.probe import Probe


class Bench:
    """A process that runs `run`."""

    def __init__(self, *, tells_errors: bool = False) -> None:
        self.probe, self.reason = Probe(), Reason()
        self._tells_errors = tells_errors

    def run(self, raised: BaseException | None = None, code: ExitCode = ExitCode.OK) -> int:
        def run() -> ExitCode:
            if raised is not None:
                raise raised
            self.reason.emit(HostStopped(reason="SIGTERM", counts={}, unsettled=0, after_s=1.0))
            return code

        return run_to_the_end(
            run,
            sink=self.probe,
            tally=Tally(),
            reason=self.reason,
            clock=ManualClock(),
            tells_errors=self._tells_errors,
        )

    @property
    def last(self) -> tuple[str, int]:
        (ending,) = self.probe.of(ProcessEnding)
        assert self.probe.events[-1] is ending
        return ending.reason, ending.exit_code


def test_the_summary_has_the_reason_of_the_host_and_the_exit_code() -> None:
    bench = Bench()

    assert bench.run(code=ExitCode.PARTLY) == ExitCode.PARTLY
    assert bench.last == ("SIGTERM", 5)


@pytest.mark.parametrize(("error", "code"), [(ProjectError("no"), 3), (QueueError("no"), 4)])
def test_an_error_before_a_host_is_up_is_told_before_the_summary(
    error: Exception, code: int
) -> None:
    bench = Bench(tells_errors=True)

    assert bench.run(error) == code
    (failed,) = bench.probe.of(StartFailed)
    assert (failed.message, failed.exit_code) == ("no", code)
    assert bench.last == ("the start failed", code)


def test_where_the_lines_do_not_tell_an_error_the_caller_does() -> None:
    bench = Bench()

    with pytest.raises(ProjectError):
        bench.run(ProjectError("no"))
    assert bench.last == ("the start failed", 3)


@pytest.mark.parametrize(
    ("raised", "last"),
    [(RuntimeError("a defect"), ("a defect", 1)), (KeyboardInterrupt(), ("SIGINT", 130))],
)
def test_there_is_a_summary_even_after_a_defect(
    raised: BaseException, last: tuple[str, int]
) -> None:
    bench = Bench()

    with pytest.raises(type(raised)):
        bench.run(raised)
    assert bench.last == last
