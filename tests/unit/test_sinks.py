"""Whoever listens to events can neither stop nor slow what happens to messages."""

from __future__ import annotations

import io
import os
import threading

import pytest

from qtrigger.events import Event, HostLog, MessageHandedBack
from qtrigger.telemetry.sinks import FanOut, Tally
from qtrigger.telemetry.writer import BackgroundWriter
from qtrigger.testing.probe import Probe

EVENT = HostLog(level=20, logger="test", message="hello")


class Broken:
    """A sink that raises."""

    def __init__(self) -> None:
        self.asked = 0

    def emit(self, event: Event) -> None:
        self.asked += 1
        raise BrokenPipeError

    def wants(self, kind: type[Event]) -> bool:
        return kind is HostLog


class Stalled(io.StringIO):
    """A stream whose reader has paused."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = threading.Event()

    def write(self, text: str) -> int:
        assert self.go_on.wait(10.0)
        return super().write(text)


def test_a_sink_that_raises_is_dropped_and_the_others_hear_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    broken, probe = Broken(), Probe()
    sink = FanOut(broken, probe)

    sink.emit(EVENT)
    sink.emit(EVENT)

    assert (broken.asked, len(probe.events)) == (1, 2)
    assert "BrokenPipeError" in capsys.readouterr().err


def test_a_stalled_reader_stops_nobody_and_gets_everything_later() -> None:
    stream = Stalled()
    writer = BackgroundWriter(stream)

    for number in range(100):
        writer.write(f"{number}\n")
    stream.go_on.set()
    writer.close()

    assert stream.getvalue() == "".join(f"{number}\n" for number in range(100))


def test_lines_beyond_the_bound_are_dropped_and_counted() -> None:
    stream = Stalled()
    writer = BackgroundWriter(stream, most_waiting=2)

    for _ in range(10):
        writer.write("x\n")
    stream.go_on.set()
    writer.close()
    kept = stream.getvalue().count("x\n")

    assert 2 <= kept <= 3
    assert f"({10 - kept} lines were dropped" in stream.getvalue()


def test_a_reader_that_has_gone_ends_nothing() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as stream:
        writer = BackgroundWriter(stream)

        for _ in range(3):
            writer.write("x\n")
        writer.close()


@pytest.mark.parametrize("odd", ["\ud800", "\u2026"])
def test_a_text_that_the_stream_cannot_say_silences_nothing(odd: str) -> None:
    written = io.BytesIO()
    writer = BackgroundWriter(io.TextIOWrapper(written, encoding="ascii", newline="\n"))

    writer.write(f"one {odd}\n")
    writer.write("two\n")
    writer.close()

    assert written.getvalue() == f"one \\u{ord(odd):04x}\ntwo\n".encode()


def test_messages_are_counted_by_how_they_ended() -> None:
    tally = Tally()

    tally.emit(MessageHandedBack(function="f", queue="q", message_id="m"))
    tally.emit(EVENT)

    assert tally.counts() == {
        "succeeded": 0,
        "failed_tries": 0,
        "poisoned": 0,
        "undecodable": 0,
        "handed_back": 1,
    }


def test_a_line_that_comes_alone_is_written_at_once() -> None:
    """Nobody closes the writer here, and nothing follows the line."""
    written = threading.Event()

    class Told(io.StringIO):
        def flush(self) -> None:
            if self.getvalue() == "alone\n":
                written.set()

    writer = BackgroundWriter(Told())
    writer.write("alone\n")
    assert written.wait(10.0)
    writer.close()
