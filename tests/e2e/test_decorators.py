"""A project with decorators end to end: started, checked, reloaded, beside other triggers."""

from __future__ import annotations

import json
import signal
import textwrap

from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, qtrigger, running

HEAD = "import azure.functions as func\nfrom shared_notes import note\napp = func.FunctionApp()\n"


def script(folder: ProjectFolder, code: str, name: str = "function_app", head: str = HEAD) -> None:
    """Write a script; `q-NAME` in it becomes a queue of this test's own."""
    text = (head + textwrap.dedent(code)).replace("q-", f"{folder.prefix}-")
    (folder.root / f"{name}.py").write_text(text)


def trigger(name: str) -> str:
    return f'\n@app.queue_trigger("msg", "q-{name}", "AzureWebJobsStorage")\n'


async def test_an_app_with_a_blueprint_and_every_kind_of_output_runs(
    folder: ProjectFolder, service: Service
) -> None:
    script(
        folder,
        """
        from parts import bp
        app.register_functions(bp)

        @app.function_name("copy")
        @app.queue_trigger(arg_name="msg", queue_name="q-plain", connection="AzureWebJobsStorage")
        @app.queue_output(arg_name="out", queue_name="q-out", connection="AzureWebJobsStorage")
        @app.queue_output(arg_name="$return", queue_name="q-ret", connection="AzureWebJobsStorage")
        def any_name(msg: func.QueueMessage, out: func.Out[str]) -> str:
            out.set("out " + msg.get_body().decode())
            return "returned " + msg.get_body().decode()

        @app.generic_trigger(
            arg_name="msg", type="queueTrigger", queue_name="q-awaited",
            connection="AzureWebJobsStorage",
        )
        @app.generic_output_binding(
            arg_name="$return", type="queue", queue_name="q-ret", connection="AzureWebJobsStorage"
        )
        async def awaited(msg: str) -> str:
            return "awaited " + msg

        @app.route("hello")
        def hello(req: func.HttpRequest) -> str:
            return "x"
        """,
    )
    script(
        folder,
        """
        import azure.functions as func
        from shared_notes import note
        bp = func.Blueprint()

        @bp.queue_trigger("msg", "q-part", "AzureWebJobsStorage")
        def part(msg: str):
            note(msg)
        """,
        "parts",
        head="",
    )
    for name in ("plain", "awaited", "part"):
        await service.put(folder.queue(name), [name])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert await service.texts(folder.queue("out")) == ["out plain"]
    assert sorted(await service.texts(folder.queue("ret"))) == ["awaited awaited", "returned plain"]
    assert folder.notes() == ["part"]
    assert "Auth level" not in host.output
    (row,) = [line for line in host.lines if line.startswith("hello ")]
    assert row.endswith("not run here: its trigger is of type httpTrigger")
    assert "3 of 4 functions" in host.output


async def test_settings_options_and_asked_names_count_for_decorated_functions(
    folder: ProjectFolder, service: Service
) -> None:
    code = "".join(
        trigger(name) + f"def {name}(msg: str):\n    note(msg)\n    raise ValueError('no')\n"
        for name in ("once", "off", "unasked")
    )
    script(folder, code)
    folder.host_json(functions={"once": {"maxDequeueCount": 1}})
    folder.environ["AzureWebJobs.off.Disabled"] = "true"
    for name in ("once", "off", "unasked"):
        await service.put(folder.queue(name), [name])

    with running(folder, "--exit-when-idle", "1", "--functions", "once", "off") as host:
        assert host.wait() == 0

    assert folder.notes() == ["once"]
    assert await service.texts(folder.queue("once-poison")) == ["once"]
    (row,) = [line for line in host.lines if line.startswith("off ")]
    assert "disabled: setting AzureWebJobs.off.Disabled" in row


async def test_a_reload_takes_what_the_script_declares_then_and_nothing_of_a_broken_one(
    folder: ProjectFolder, service: Service
) -> None:
    first = trigger("first") + "def first(msg: str):\n    note('first ' + msg)\n"
    script(folder, first)
    await service.put(folder.queue("first"), ["1"])

    with running(folder) as host:
        host.wait_for("  ok  ")
        script(folder, first + "raise ValueError('broken')\n")
        host.signal(signal.SIGHUP)
        host.wait_for("asked for: first cannot run and is not polled until it is mended")
        assert "function_app.py:8: ValueError: broken" in host.output
        await service.put(folder.queue("first"), ["2"])
        script(folder, trigger("second") + "def second(msg: str):\n    note('second ' + msg)\n")
        await service.put(folder.queue("second"), ["3"])
        host.signal(signal.SIGHUP)
        host.wait_for("asked for: second live again")
        host.wait_for("  ok  ", count=2)
        host.signal(signal.SIGTERM)
        assert host.wait() == 0

    assert folder.notes() == ["first 1", "second 3"]
    assert await service.dequeue_counts(folder.queue("first")) == [0]


async def test_folders_beside_the_script_are_named_and_not_run(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("old", "def main(msg: str):\n    note('old')\n")
    script(folder, trigger("new") + "def new(msg: str):\n    note('new')\n")
    for name in ("old", "new"):
        await service.put(folder.queue(name), [name])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert folder.notes() == ["new"]
    (told,) = [line for line in host.lines if "functions/old/function.json:1: " in line]
    assert 'the function "old" is not loaded, since the project has function_app.py' in told


def test_an_error_at_import_is_shown_with_place_frames_and_hint(folder: ProjectFolder) -> None:
    script(folder, "\ndef ask():\n    import os\n    os.environ['NOPE']\nask()\n")

    with running(folder) as host:
        assert host.wait() == 3

    (told,) = [line for line in host.lines if "function_app.py:7: KeyError: 'NOPE'" in line]
    assert told.endswith("hint: set it in the environment, or in Values of local.settings.json")
    assert any(line.endswith("line 8, in <module>") for line in host.lines)
    assert "no function in" in host.lines[-1]


def test_check_tells_what_the_decorators_say_with_file_and_line(folder: ProjectFolder) -> None:
    script(
        folder,
        trigger("a_b")
        + "def bad(msg: str): pass\n"
        + trigger("good")
        + "def good(other: str): pass\n",
    )

    ended = qtrigger("check", str(folder.root), environ=folder.environ)

    assert ended.returncode == 3
    first, second, last = ended.stdout.splitlines()
    assert first.startswith('function_app.py:5:1: error: bindings["msg"].queueName')
    assert second.startswith("function_app.py:8: error: good: the function has parameters")
    assert last == "2 errors, 0 warnings in 2 functions"


def test_check_says_that_nobody_lists_functions_without_importing(folder: ProjectFolder) -> None:
    script(folder, "raise ValueError('imported')\n")

    ended = qtrigger("check", str(folder.root), "--no-import", environ=folder.environ)

    assert ended.returncode == 0
    first, last = ended.stdout.splitlines()
    assert first.startswith(
        "function_app.py:1: warning: the functions of this file are not checked"
    )
    assert last == "0 errors, 1 warning in 0 functions"


def test_settings_and_send_know_the_functions_of_the_script(folder: ProjectFolder) -> None:
    script(
        folder,
        '\nprint("noise")\n@app.queue_trigger("msg", "q-there", "Other")\ndef there(msg): pass\n',
    )
    folder.environ["Other"] = folder.connection
    folder.host_json(functions={"there": {"messageEncoding": "none"}})

    shown = qtrigger("settings", str(folder.root), "--format", "json", environ=folder.environ)
    sent = qtrigger(
        "send", folder.queue("there"), "text", "--project", str(folder.root), environ=folder.environ
    )

    assert [each["name"] for each in json.loads(shown.stdout)["connections"]] == ["Other"]
    assert sent.stdout == f"sent 1 to {folder.queue('there')} (none)\n"
    assert (shown.returncode, sent.returncode) == (0, 0)


async def test_retry_policies_of_decorators_are_carried_out_within_one_receipt(
    folder: ProjectFolder, service: Service
) -> None:
    fixed = '@app.retry(strategy="fixed_delay", max_retry_count="2", delay_interval="00:00:01")'
    growing = (
        '@app.retry(strategy="exponential_backoff", max_retry_count="1", '
        'minimum_interval="00:00:01", maximum_interval="00:00:05")'
    )
    code = """
def {0}(msg: func.QueueMessage, context):
    retry = context.retry_context
    said = retry.exception.message if retry.exception else ""
    note(f"{0} {{msg.dequeue_count}} {{retry.retry_count}} {{said}}")
    if retry.retry_count < retry.max_retry_count:
        raise ValueError("not yet")
"""
    parts = [
        trigger(name) + policy + code.format(name)
        for name, policy in (("fixed", fixed), ("growing", growing))
    ]
    script(folder, "".join(parts))
    for name in ("fixed", "growing"):
        await service.put(folder.queue(name), ["x"])

    with running(folder, "--exit-when-idle", "0.5") as host:
        assert host.wait() == 0

    assert [note for note in folder.notes() if note.startswith("fixed")] == [
        "fixed 1 0 ",
        "fixed 1 1 not yet",
        "fixed 1 2 not yet",
    ]
    assert [note for note in folder.notes() if note.startswith("growing")] == [
        "growing 1 0 ",
        "growing 1 1 not yet",
    ]
    assert "retry 1 of 2 in 1 s" in host.output
    assert "a message gets 15 tries" in host.output
