"""What a script with decorators is reported to declare, and when it cannot be used as a whole."""

from __future__ import annotations

import asyncio
import itertools
import logging
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from qtrigger.workers.python.apps import Apps
from qtrigger.workers.python.failures import Describer
from qtrigger.workers.python.index import index

HEAD = "import azure.functions as func\napp = func.FunctionApp()\n"
TRIGGER = '@app.queue_trigger(arg_name="msg", queue_name="orders", connection="Store")\n'

# Modules are imported into the test's own process, so each has a name that no other has.
_numbers = itertools.count()

Declares = Callable[..., dict[str, Any]]


@pytest.fixture
def declares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Declares]:
    """What a script with that code is reported to declare; `others` are modules beside it."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    loop = asyncio.new_event_loop()

    def report(code: str, script: str = "", **others: str) -> dict[str, Any]:
        for name, text in others.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        path = tmp_path / (script or f"script_{next(_numbers)}.py")
        path.write_text(textwrap.dedent(code))
        return index(Apps(loop), str(path), Describer(str(tmp_path)))

    yield report
    for name in set(sys.modules) - before:
        if not name.startswith("azure"):
            del sys.modules[name]
    asyncio.set_event_loop(None)
    loop.close()


def only(report: dict[str, Any]) -> dict[str, Any]:
    assert report["failure"] is None
    (function,) = report["functions"]
    found: dict[str, Any] = function
    return found


def failure(report: dict[str, Any]) -> dict[str, str]:
    assert report["functions"] == []
    found: dict[str, str] = report["failure"]
    return found


def test_bindings_are_reported_in_the_words_of_function_json(declares: Declares) -> None:
    function = only(
        declares(
            HEAD
            + '@app.function_name("Copy")\n'
            + '@app.queue_trigger("msg", "in-q", "Store", data_type="binary", foo_bar=1)\n'
            + '@app.queue_output("$return", "out-q", "Other")\n'
            + "def copy(msg: bytes) -> bytes:\n    return msg\n"
        )
    )

    assert (function["name"], function["entry"], function["line"]) == ("Copy", "copy", 3)
    out, trigger = function["bindings"]
    assert out == {
        "direction": "out",
        "type": "queue",
        "name": "$return",
        "queueName": "out-q",
        "connection": "Other",
    }
    assert trigger == {
        "direction": "in",
        "dataType": "binary",
        "type": "queueTrigger",
        "name": "msg",
        "queueName": "in-q",
        "connection": "Store",
        "fooBar": 1,
    }


def test_an_undefined_data_type_is_none(declares: Declares) -> None:
    code = '@app.queue_trigger("msg", "q", "Store", data_type="UNDEFINED")\ndef f(msg): pass\n'

    assert "dataType" not in only(declares(HEAD + code))["bindings"][0]


@pytest.mark.parametrize(
    ("given", "policy"),
    [
        (
            'strategy="fixed_delay", max_retry_count="3", delay_interval="00:02:00"',
            {"strategy": "fixedDelay", "maxRetryCount": 3, "delayInterval": "00:02:00"},
        ),
        (
            'strategy="exponential_backoff", max_retry_count="-1", '  # noqa: ISC004
            'minimum_interval="00:01:00", maximum_interval="00:02:00"',
            {
                "strategy": "exponentialBackoff",
                "maxRetryCount": -1,
                "minimumInterval": "00:01:00",
                "maximumInterval": "00:02:00",
            },
        ),
        (
            'strategy="sometimes", max_retry_count="often"',
            {"strategy": "sometimes", "maxRetryCount": "often"},
        ),
    ],
)
def test_a_retry_policy_is_reported_in_the_words_of_function_json(
    declares: Declares, given: str, policy: dict[str, Any]
) -> None:
    report = declares(HEAD + f"@app.retry({given})\n" + TRIGGER + "def f(msg): pass\n")

    assert only(report)["retry"] == policy


def test_a_function_of_a_blueprint_has_the_place_of_its_own_file(
    declares: Declares, tmp_path: Path
) -> None:
    code = HEAD + "from parts import bp\napp.register_functions(bp)\n"
    part = """
        import azure.functions as func
        bp = func.Blueprint()
        @bp.queue_trigger("msg", "q", "Store")
        async def later(msg: str): pass
    """

    function = only(declares(code, parts=part))

    assert (function["file"], function["line"]) == (str(tmp_path / "parts.py"), 4)


def test_a_wrapped_function_has_the_place_of_the_innermost(declares: Declares) -> None:
    code = """
        def noted(f):
            @functools.wraps(f)
            def inner(*args, **kwargs):
                return f(*args, **kwargs)
            return inner

        @app.queue_trigger("msg", "q", "Store")
        @noted
        def f(msg): pass
    """
    report = declares("import functools\n" + HEAD + textwrap.dedent(code))

    assert (only(report)["name"], only(report)["line"]) == ("f", 11)


def test_two_functions_of_one_name_are_both_reported(declares: Declares) -> None:
    report = declares(HEAD + (TRIGGER + "def f(msg): pass\n") * 2)

    assert [(each["name"], each["line"]) for each in report["functions"]] == [("f", 3), ("f", 5)]


def test_decorators_that_cannot_be_read_are_the_fault_of_their_function_alone(
    declares: Declares,
) -> None:
    code = (
        HEAD
        + TRIGGER
        + "def good(msg): pass\n"
        + '@app.queue_trigger("msg", "q", "Store", extra=object())\ndef bad(msg): pass\n'
    )

    good, bad = declares(code)["functions"]

    assert (good["fault"], bad["bindings"]) == ("", [])
    assert "TypeError" in bad["fault"]


def test_the_librarys_remark_about_http_is_kept_back_and_a_modules_own_lines_are_not(
    declares: Declares, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        declares(
            "import logging\nlogging.warning('mine')\n" + HEAD + TRIGGER + "def f(msg): pass\n"
        )
        logging.getLogger().warning("after")

    assert [record.getMessage() for record in caplog.records] == ["mine", "after"]


def test_an_app_without_functions_is_no_failure(declares: Declares) -> None:
    assert declares(HEAD) == {"functions": [], "failure": None}


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("x = 1\n", "app = func.FunctionApp()"),
        ("import azure.functions as func\nbp = func.Blueprint()\n", "app.register_functions(bp)"),
        ("import azure.functions as func\nmake = func.FunctionApp\n", "app = func.FunctionApp()"),
    ],
)
def test_a_script_without_an_app_is_told_how_to_make_one(
    declares: Declares, code: str, hint: str
) -> None:
    found = failure(declares(code, script="no_app_here.py"))

    assert found["message"] == "there is no function app at the top level of no_app_here.py"
    assert found["place"] == "no_app_here.py:1"
    assert hint in found["hint"]


@pytest.mark.parametrize(
    "second", ["other = func.FunctionApp()", "other = app", "from elsewhere import other"]
)
def test_two_apps_or_two_names_of_one_are_refused_with_both_places(
    declares: Declares, second: str
) -> None:
    code = HEAD + "\n" + second + "\n"
    elsewhere = "import azure.functions as func\nother = func.FunctionApp()\n"

    found = failure(declares(code, script="two_apps.py", elsewhere=elsewhere))

    assert found["message"].endswith("more than one function app: app (line 2), other (line 4)")
    assert found["place"] == "two_apps.py:4"


def test_an_app_may_have_any_name_and_come_from_another_module(declares: Declares) -> None:
    report = declares(
        "from elsewhere import anything\n",
        elsewhere=HEAD + TRIGGER + "def f(msg): pass\nanything = app\n",
    )

    assert only(report)["name"] == "f"


def test_a_function_without_a_trigger_is_named_with_its_place(declares: Declares) -> None:
    code = HEAD + TRIGGER + 'def good(msg): pass\n@app.function_name("lost")\ndef bad(): pass\n'

    found = failure(declares(code, script="no_trigger.py"))

    assert "Function lost does not have a trigger" in found["message"]
    assert found["place"] == "no_trigger.py:5"
    assert "the whole app" in found["hint"]


@pytest.mark.parametrize(
    ("code", "message", "line", "hint"),
    [
        ("import os\nos.environ['NOPE']\n", "KeyError: 'NOPE'", 2, "local.settings.json"),
        ("import not_there\n", "No module named 'not_there'", 1, "requirements.txt"),
        ("x = (1,\n", "SyntaxError: '(' was never closed", 1, "read by Python"),
        ("import sys\nsys.exit(3)\n", "sys.exit(3)", 2, "__main__"),
        (
            HEAD + '@app.queue_trigger("m", "q")\ndef f(m): pass\n',
            "'connection'",
            3,
            "queue_output",
        ),
        (HEAD + "@app.write_queue()\ndef f(m): pass\n", "'write_queue'", 3, "queue_output"),
        (HEAD + TRIGGER * 2 + "def f(m): pass\n", "A trigger was already", 3, "queue_output"),
        (HEAD + TRIGGER + "class f: pass\nf.x\n", "AttributeError", 5, "queue_output"),
    ],
)
def test_what_is_raised_at_import_is_told_with_place_and_hint(
    declares: Declares, code: str, message: str, line: int, hint: str
) -> None:
    name = f"raises_{next(_numbers)}.py"

    found = failure(declares(code, script=name))

    assert message in found["message"]
    assert found["place"] == f"{name}:{line}"
    assert hint in found["hint"]
    assert "importlib" not in found["traceback"]


def test_a_syntax_error_shows_the_line_and_a_caret(declares: Declares) -> None:
    found = failure(declares("x = ((1 +)\n"))

    assert "x = ((1 +)" in found["traceback"]
    assert "^" in found["traceback"]


def test_a_script_named_like_a_library_is_told_whose_name_it_has(declares: Declares) -> None:
    found = failure(declares(HEAD, script="json.py"))

    assert "json is already the name of" in found["message"]
    assert "PYTHON_SCRIPT_FILE_NAME" in found["hint"]


def test_a_script_is_imported_once_whatever_comes_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    script = tmp_path / f"counts_{next(_numbers)}.py"
    script.write_text(
        "with open('count', 'a') as file: file.write('1\\n')\nraise ValueError('no')\n"
    )
    monkeypatch.chdir(tmp_path)
    loop = asyncio.new_event_loop()
    apps = Apps(loop)

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            apps.functions(str(script))

    asyncio.set_event_loop(None)
    loop.close()
    assert (tmp_path / "count").read_text() == "1\n"
