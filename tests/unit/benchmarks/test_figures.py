"""Figures: what becomes of the runs of a measurement on their way to the page."""

from __future__ import annotations

import dataclasses
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

from benchmarks import machine, report
from benchmarks.chart import BARS, Bar, svg
from benchmarks.consumers import ALL
from benchmarks.limit import Limit
from benchmarks.peers.handled import Handled, total
from benchmarks.processes import alive, below, running, usage
from benchmarks.results import Case, Memory, Result
from benchmarks.rounds import Runs, next_size
from benchmarks.targets import targets

RESULT = Result(
    messages=1000,
    seconds=5.0,
    rate=9000.0,
    host_ms=0.1,
    worker_ms=0.04,
    early=Memory(40.0, 20.0),
    late=Memory(41.0, 22.0),
    peak=Memory(45.0, 25.0),
    gets=0.0625,
    server_ms=0.02,
    server_cores=0.2,
    foreign_cores=0.0,
    faults=(),
)


def runs(name: str, *rates: float, latency_ms: float = 0.0) -> Runs:
    results = [dataclasses.replace(RESULT, rate=rate) for rate in rates]
    return Runs(Case(ALL[name], latency_ms), results)


def measured(*consumers: Runs, large: tuple[Runs, ...] = ()) -> report.Measured:
    return report.Measured("make bench ROUNDS=3", 3, consumers, [], large, Limit(20_000.0, 20.0))


def test_a_run_that_is_too_short_or_too_long_gives_the_next_another_size() -> None:
    assert next_size(1_000, 4.0) == 1_000
    assert next_size(1_000, 2.0) == 2_500
    assert next_size(10_000, 20.0) == 2_500
    assert next_size(1_000, 60.0) == 500


def test_the_median_of_the_rounds_is_shown_with_their_range() -> None:
    text = report.markdown(measured(runs("qtrigger", 8_000, 9_000, 9_500)))
    assert "| qtrigger | 9,000 | 8,000 to 9,500 | 1.0 times |" in text


def test_a_disturbed_run_is_marked_and_explained() -> None:
    disturbed = Runs(Case(ALL["qtrigger"]), [dataclasses.replace(RESULT, foreign_cores=0.4)])
    text = report.markdown(measured(disturbed))
    assert "| 0.40 \\* |" in text
    assert "other work took more than" in text
    assert "\\*" not in report.markdown(measured(runs("qtrigger", 9_000)))


def test_a_failed_consumer_and_a_fault_stand_on_the_page() -> None:
    failed = Runs(Case(ALL["celery"]), failures=["nothing was deleted\n  its log"])
    faulty = Runs(
        Case(ALL["qtrigger"]), [dataclasses.replace(RESULT, faults=("1 delivered again",))]
    )
    text = report.markdown(measured(faulty, failed))
    assert "qtrigger: 1 delivered again." in text
    assert "Celery, solo failed: nothing was deleted." in text


def test_targets_say_whether_they_are_reached() -> None:
    reached = {
        target.what: target.reached
        for target in targets(
            [
                runs("qtrigger", 9_000),
                runs("sdk-async", 1_000),
                runs("sdk-tuned", 3_000),
                runs("qtrigger", 1_599, latency_ms=10.0),
            ]
        )
    }
    assert reached == {
        "messages a second": True,
        "beside azure-storage-queue, asyncio": True,
        "beside azure-storage-queue, asyncio, tuned": False,
        "CPU of the host": True,
        "CPU of the worker": True,
        "at 10 ms a request, batchSize by default": False,
    }


def test_memory_that_grew_by_more_than_a_twentieth_is_not_flat() -> None:
    flat = Runs(Case(ALL["qtrigger"]), [dataclasses.replace(RESULT, late=Memory(41.9, 20.9))])
    grown = runs("qtrigger", 9_000)
    text = report.markdown(measured(large=(flat, grown)))
    assert re.findall(r"(yes|no)\W*\|$", text, re.MULTILINE) == ["yes", "no"]


def test_the_page_keeps_what_stands_around_the_figures() -> None:
    page = f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n"
    found = measured(runs("qtrigger", 9_000))
    once = report.placed(page, found)
    assert once.startswith(f"before\n{report.BEGIN}\n")
    assert once.endswith(f"{report.END}\nafter\n")
    assert "old" not in once
    assert report.placed(once, found) == once


def test_the_page_of_the_repository_has_the_place_for_them() -> None:
    page = report.PAGE.read_text()
    assert page.count(report.BEGIN) == page.count(report.END) == 1


def test_bars_are_as_long_as_their_values_and_names_are_escaped() -> None:
    drawn = ET.fromstring(
        svg("a < b", [Bar("x & y", 200.0, "200", ours=True), Bar("z", 50.0, "50")])
    )
    widths = [
        float(rect.attrib["width"]) for rect in drawn.iter("{http://www.w3.org/2000/svg}rect")
    ]
    assert widths == [BARS, BARS / 4]
    texts = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["a < b", "x & y", "200", "z", "50"]


def test_what_several_processes_have_handled_is_summed(tmp_path: Path) -> None:
    here = Handled(tmp_path)
    for _ in range(3):
        here.one()
    code = (
        "import sys, pathlib; from benchmarks.peers.handled import Handled;"
        "Handled(pathlib.Path(sys.argv[1])).one()"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=30)
    assert total(tmp_path) == 4


def test_what_children_use_counts_as_the_workers_also_when_they_have_ended() -> None:
    before = usage([os.getpid()], [])
    burn = "import time\nwhile time.process_time() < 0.2: pass"
    subprocess.run([sys.executable, "-c", burn], check=True, timeout=30)
    used = usage([os.getpid()], []).since(before)
    assert used.worker_s >= 0.15
    assert used.host_s < used.all_s


def test_a_process_and_what_it_leaves_behind_are_gone_after_the_block(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time;"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
        "print('started', flush=True); time.sleep(600)"
    )
    with running([sys.executable, "-c", code], os.environ, None, tmp_path, told=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        family = [process.pid, *below([process.pid])]
        assert [alive(pid) for pid in family] == [True, True]
    assert [alive(pid) for pid in family] == [False, False]


def test_the_machine_is_described_without_the_name_that_its_kernel_was_built_under() -> None:
    release = platform.release()
    number, dash, built_as = release.partition("-")

    assert f" {number} " in machine.described()
    assert not dash or f"-{built_as}" not in machine.described()
