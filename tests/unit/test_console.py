"""Lines on a terminal: fitted to its width, in colour, with what to do on lines of its own."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Callable

import click
import pytest

from qtrigger.events import (
    EmulatorReady,
    Event,
    Finding,
    FunctionState,
    HostReady,
    HostStarting,
    HostStopped,
    HostStopping,
    InvocationFinished,
    LeaseEnded,
    MessagePoisoned,
    ProcessEnding,
    ReloadRejected,
    StartFailed,
    UserLog,
)
from qtrigger.invocation import ErrorDetail, Failed, Outcome, Succeeded
from qtrigger.telemetry.console import ConsoleSink
from qtrigger.telemetry.lines import line_of

COUNTS = {
    "succeeded": 1204,
    "failed_tries": 3,
    "poisoned": 1,
    "undecodable": 0,
    "handed_back": 0,
}
STARTING = HostStarting(
    version="0.1.0",
    project="orders-app",
    environment="Development",
    python="Python 3.11 (.venv)",
    workers=1,
    loop="uvloop",
    dashboard="http://127.0.0.1:7071/",
    reload="functions/ host.json local.settings.json",
)
LONG = "a_function_with_a_name_that_is_much_too_long"


def ready(*names: str, why: str = "") -> HostReady:
    functions = [
        FunctionState(
            name=name,
            queue="orders",
            connection="AzureWebJobsStorage",
            state="failed" if why else "ready",
            why=why,
            concurrency=24,
        )
        for name in names
    ]
    return HostReady(functions=functions, workers=1, interpreter="python", after_s=0.8)


def finished(outcome: Outcome, *, dequeue_count: int = 1, retries: int = 0) -> InvocationFinished:
    return InvocationFinished(
        function="charge",
        queue="orders",
        invocation_id="11111111-2222",
        message_id="8f3a21ff-0000",
        dequeue_count=dequeue_count,
        max_dequeue_count=5,
        duration_s=0.042,
        waited_s=1.0,
        outcome=outcome,
        disposition="acked" if isinstance(outcome, Succeeded) else "retried",
        retries=retries,
    )


def said(message: str, *, level: int = logging.INFO, function: str = "charge") -> UserLog:
    return UserLog(
        function=function,
        invocation_id="i",
        message_id="8f3a21ff-0000",
        level=level,
        logger="root",
        message=message,
    )


def shown(
    *events: Event,
    width: int | Callable[[], int] | None = None,
    colour: bool = False,
    level: int = logging.INFO,
    all_frames: bool = False,
) -> str:
    stream = io.StringIO()
    ask = (lambda: width) if isinstance(width, int) else width
    sink = ConsoleSink(stream, level=level, colour=colour, width=ask, all_frames=all_frames)
    for event in events:
        sink.emit(event)
    return stream.getvalue()


def lines_of(*events: Event, width: int | None = None) -> list[str]:
    return shown(*events, width=width).splitlines()


def test_the_banner_says_what_runs_where_and_how() -> None:
    first, *more = lines_of(STARTING, width=120)

    assert first == (
        "qtrigger 0.1.0 · orders-app · Development · Python 3.11 (.venv) · 1 worker · uvloop"
    )
    assert more == [
        "dashboard  http://127.0.0.1:7071/",
        "reload on  functions/ host.json local.settings.json",
    ]


def test_the_banner_says_that_our_emulator_ends_with_the_host() -> None:
    ours = EmulatorReady(description="Azurite on 127.0.0.1:10001", port=10001, started=True)
    theirs = EmulatorReady(description="the emulator already running", port=10001, started=False)

    assert lines_of(ours, theirs) == [
        "emulator   Azurite on 127.0.0.1:10001 (ends with this host)",
        "emulator   the emulator already running",
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_nothing_of_the_start_is_wider_than_the_terminal(width: int) -> None:
    failed = ready(LONG, why="its module is not there, and neither is the one before it")

    lines = lines_of(STARTING, ready("charge", LONG), failed, width=width)

    assert max(map(len, lines)) <= width


def test_a_narrow_table_keeps_its_columns_and_both_ends_of_a_name() -> None:
    _, _, *table = lines_of(ready("charge", LONG), width=80)[:4]
    header = lines_of(ready("charge", LONG), width=80)[1]

    assert all(row.index("orders") == header.index("QUEUE") for row in table)
    assert table[1].startswith("a_func")
    assert "…" in table[1]


def test_a_wide_table_shortens_nothing() -> None:
    assert LONG in shown(ready(LONG), width=160)
    assert LONG in shown(ready(LONG))


def test_a_person_is_told_what_to_try_and_how_to_leave() -> None:
    text = shown(STARTING, ready("charge"), width=100)

    assert "ready in 800 ms.   Try:  qtrigger send orders 'hello'" in text
    assert "Ctrl-C drains, twice leaves at once" in text
    assert "Try:" not in shown(STARTING, ready("charge"))
    assert "Try:" not in shown(ready("charge", why="no module"), width=100)


def test_what_to_try_names_a_project_that_is_elsewhere() -> None:
    names = {name: getattr(STARTING, name) for name in HostStarting.__slots__}
    elsewhere = HostStarting(**{**names, "folder": "my apps/orders"})

    assert "'hello' --project 'my apps/orders'" in shown(elsewhere, ready("charge"), width=120)


def test_a_table_that_has_not_changed_is_not_shown_again() -> None:
    text = shown(ready("charge"), ready("charge"), ready("charge", "refund"), width=100)

    assert text.count("FUNCTION") == 2
    assert text.count("ready in") == 3


def test_below_the_level_there_is_no_banner() -> None:
    assert shown(STARTING, ready("charge"), width=80, level=logging.WARNING) == ""


def test_a_first_try_that_succeeds_does_not_say_which_try_it_was() -> None:
    assert lines_of(finished(Succeeded()))[0][10:] == "ok        charge    8f3a21ff  42 ms"


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (finished(Succeeded(), dequeue_count=2), "  try 2/5  42 ms"),
        (finished(Succeeded(), retries=2), "  try 1/5 after 2 retries  42 ms"),
    ],
)
def test_a_later_success_says_which_try_it_was(event: Event, words: str) -> None:
    assert lines_of(event)[0].endswith(words)


def test_long_lines_go_on_under_their_text_on_a_terminal_alone() -> None:
    words = "the card of this customer is about to expire, and the bank says so in many words " * 2

    plain = lines_of(said(words))
    wide = lines_of(said(words), width=120)
    narrow = lines_of(said(words), width=60)

    assert len(plain) == 1
    assert len(wide) > 1
    assert wide[0].index("INFO") == len(wide[1]) - len(wide[1].lstrip())
    assert narrow[1].startswith(" " * 10 + "the") or narrow[1][10] != " "
    assert max(map(len, wide)) <= 120
    assert max(map(len, narrow)) <= 60


def test_a_number_is_not_parted_from_its_unit() -> None:
    for width in range(50, 90):
        broken = lines_of(finished(Succeeded(), dequeue_count=2, retries=3), width=width)
        assert not any(line.rstrip().endswith(" 42") for line in broken)


def test_a_long_path_stays_whole_to_be_copied() -> None:
    path = "/a/path/that/is/longer/than/the/line/" + "x" * 60

    assert any(path in line for line in lines_of(said(f"see {path}"), width=60))


def test_wide_characters_count_as_two_columns() -> None:
    words = "注文 " * 20

    lines = lines_of(said(words), width=60)

    assert max(len(line) + line.count("注") + line.count("文") for line in lines) <= 60


def test_the_width_is_asked_again_when_the_window_may_have_changed() -> None:
    widths = iter([40, *[200] * 10])

    text = shown(said("one two three " * 5), width=lambda: next(widths))

    assert text.count("\n") == 1


def test_a_hint_has_a_line_of_its_own_on_a_terminal_alone() -> None:
    finding = Finding(
        function="charge", place="host.json:3:1", severity="error", message="no", hint="write yes"
    )

    (plain,) = lines_of(finding)
    first, below = lines_of(finding, width=100)

    assert plain.endswith("host.json:3:1: no  hint: write yes")
    assert first.endswith("host.json:3:1: no")
    assert below.strip() == "hint: write yes"


def test_poison_says_how_to_look_at_the_message_by_its_short_id() -> None:
    poisoned = MessagePoisoned(
        function="charge",
        queue="orders",
        poison_queue="orders-poison",
        message_id="8f3a21ff-0000",
        invocation_id="i",
        dequeue_count=5,
        max_dequeue_count=5,
        reason="tries",
        detail="",
    )

    assert lines_of(poisoned)[0].endswith("hint: qtrigger poison show 8f3a21ff")


def test_a_traceback_that_comes_again_is_a_line_that_says_so() -> None:
    def failed(text: str) -> Event:
        traceback = f"Traceback:\n  {text}\nE: m"
        return finished(Failed(error=ErrorDetail(type="E", message="m", traceback=traceback)))

    lines = shown(failed("x"), failed("x"), failed("y"), failed("y")).splitlines()

    below = [line.strip() for line in lines if line.startswith("   ")]
    first, other = ["Traceback:", "x", "E: m"], ["Traceback:", "y", "E: m"]
    assert below == [*first, "as before", *other, "as before"]


def test_colour_changes_no_text() -> None:
    failure = Failed(error=ErrorDetail(type="E", message="m", traceback="Traceback:\n  x\nE: m"))
    events: list[Event] = [
        STARTING,
        ready("charge"),
        said("a"),
        finished(Succeeded()),
        finished(failure),
    ]

    for width in (None, 60):
        coloured = shown(*events, width=width, colour=True)
        assert "\x1b[" in coloured
        assert untimed(click.unstyle(coloured)) == untimed(shown(*events, width=width))


def untimed(text: str) -> str:
    """Without times of day: a second may begin between two outputs."""
    return re.sub(r"^\d\d:\d\d:\d\d", "time    ", text, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("level", "code"), [(logging.INFO, "36"), (logging.WARNING, "1;33"), (logging.ERROR, "1;31")]
)
def test_the_levels_of_user_lines_are_coloured(level: int, code: str) -> None:
    name = logging.getLevelName(level)

    assert f"\x1b[{code}m{name}\x1b[0m a" in shown(said("a", level=level), colour=True)


def test_a_stop_by_the_keyboard_stands_over_what_the_terminal_wrote() -> None:
    stopping = HostStopping(reason="SIGINT", running=2, up_to_s=30.0)
    words = "stopping  Ctrl-C: 2 running, up to 30 s (again: leave at once)\n"

    on_terminal = shown(stopping, width=80)

    assert on_terminal.startswith("\r")
    assert on_terminal.endswith(words)
    assert not shown(stopping).startswith("\r")


def test_a_stop_with_nothing_running_says_so() -> None:
    text = shown(HostStopping(reason="SIGTERM", running=0, up_to_s=30.0))

    assert text.endswith("stopping  SIGTERM: nothing is running\n")


def test_the_closing_line_says_why_what_was_done_and_for_how_long_it_ran() -> None:
    stopped = HostStopped(reason="SIGTERM", counts=COUNTS, unsettled=0, after_s=97.0)

    assert lines_of(stopped)[0].endswith(
        "stopped   SIGTERM: 1,204 ok · 3 failed · 1 poisoned · 0 handed back · ran for 1 min 37 s"
    )


def test_undecodable_messages_are_told_where_there_are_any() -> None:
    counts = {**COUNTS, "undecodable": 2}

    text = shown(HostStopped(reason="idle", counts=counts, unsettled=0, after_s=1.0))

    assert "1 poisoned · 2 undecodable · 0 handed back" in text


def test_what_the_verb_tells_by_itself_is_no_line() -> None:
    ending = ProcessEnding(reason="idle", exit_code=0, counts=COUNTS, after_s=1.0)

    assert shown(StartFailed(message="no", exit_code=3), ending) == ""


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (finished(Succeeded()), "32"),
        (finished(Failed(error=ErrorDetail(type="E", message="m"))), "1;31"),
        (LeaseEnded(function="f", queue="q", message_id="m", detail="gone"), "1;35"),
        (ReloadRejected(message="no"), "1;31"),
    ],
)
def test_what_became_of_a_message_is_told_by_a_colour_too(event: Event, code: str) -> None:
    tag = line_of(event).tag

    assert f"\x1b[{code}m{tag}\x1b[0m" in shown(event, colour=True)


def test_functions_that_say_nothing_take_no_room_beside_those_that_do() -> None:
    silent = FunctionState(name=LONG, queue="", connection="", state="disabled")
    up = HostReady(
        functions=[*ready("charge").functions, silent], workers=1, interpreter="p", after_s=1.0
    )

    assert lines_of(up, finished(Succeeded()))[-1][10:] == "ok        charge    8f3a21ff  42 ms"
