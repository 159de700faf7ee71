"""A measurement of a real consumer, short: every message is accounted for."""

from __future__ import annotations

import dataclasses

import pytest

from benchmarks.consumers import ALL
from benchmarks.measure import run
from benchmarks.results import Case
from benchmarks.service import BenchmarkError, serving


def test_a_run_accounts_for_every_message_and_ends_what_it_started() -> None:
    with serving() as service:
        result = run(Case(ALL["qtrigger"]), service, 5_000)
        requests = service.stats().gets
    assert result.faults == ()
    assert result.messages == 5_000
    assert result.gets >= 1 / 16
    assert requests >= 5_000 / 16
    assert result.host_ms > 0
    assert result.worker_ms > 0
    assert result.late.worker_mb > 0


def test_a_consumer_that_ends_early_is_told_with_its_last_lines() -> None:
    broken = dataclasses.replace(
        ALL["sdk-sync"], command=lambda _: ["-c", "raise SystemExit('no such thing')"]
    )
    with (
        serving() as service,
        pytest.raises(BenchmarkError, match=r"exit code 1\n  no such thing"),
    ):
        run(Case(broken), service, 10)
