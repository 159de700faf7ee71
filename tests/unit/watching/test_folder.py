"""Real files, real events: what a source of changes tells."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from qtrigger.clock import SystemClock
from qtrigger.watching.changes import NoChanges
from qtrigger.watching.opening import open_changes
from qtrigger.watching.wakers import FileEvents
from tests.unit.watching.support import (
    Deaf,
    Said,
    Scripted,
    UsedUp,
    a_project,
    listening,
    save_by_rename,
    told,
    until_instances,
    watching,
    write,
)

CODE = "functions/charge/__init__.py"


@pytest.mark.parametrize("save", [write, save_by_rename])
async def test_a_save_is_told_however_the_editor_saves(
    tmp_path: Path, save: Callable[[Path, str], None]
) -> None:
    root = a_project(tmp_path)
    async with listening(root) as (source, _):
        save(root / CODE, "x = 2\n")
        assert await told(source) == {CODE}
        save(root / "shared/money.py", "x = 2\n")
        assert await told(source) == {"shared/money.py"}


async def test_what_has_the_same_bytes_has_not_changed(tmp_path: Path) -> None:
    root = a_project(tmp_path)
    async with listening(root) as (source, _):
        (root / CODE).touch()
        write(root / "shared/money.py", "x = 1\n")
        save_by_rename(root / "functions/charge/function.json", "{}")
        (root / CODE).chmod(0o600)
        write(root / "new.py", "")
        assert await told(source) == {"new.py"}


async def test_files_and_folders_that_come_and_go_are_told(tmp_path: Path) -> None:
    root = a_project(tmp_path)
    async with listening(root) as (source, _):
        write(root / "functions/refund/function.json", "{}")
        assert await told(source) == {"functions/refund/function.json"}
        write(root / "functions/refund/deep/mail.html", "hello")
        assert await told(source) == {"functions/refund/deep/mail.html"}
        shutil.rmtree(root / "functions/refund")
        assert await told(source) == {
            "functions/refund/function.json",
            "functions/refund/deep/mail.html",
        }
        write(root / "functions/refund/function.json", "{}")
        assert await told(source) == {"functions/refund/function.json"}


async def test_host_2095_a_checkout_of_60_files_is_told_once(tmp_path: Path) -> None:
    root = a_project(tmp_path)
    names = {f"package/m{number % 7}/f{number}.py" for number in range(60)}
    async with listening(root) as (source, _):
        for name in sorted(names):
            write(root / name, name)
            await SystemClock().sleep(0.01)
        assert await told(source) == names


async def test_host_3818_ignored_folders_are_never_listened_to(tmp_path: Path) -> None:
    root = a_project(tmp_path)
    write(root / "venv/pyvenv.cfg", "")
    write(root / "venv/lib/a.py", "")
    write(root / "node_modules/.cache/a.js", "")
    async with listening(root) as (source, armed):
        write(root / ".venv/lib/site-packages/library/a.py", "")
        write(root / "venv/lib/b.py", "")
        write(root / "node_modules/.cache/b.js", "")
        write(root / "functions/charge/__pycache__/a.pyc", "")
        write(root / "readme.md", "")
        write(root / "new.py", "")
        assert await told(source) == {"new.py"}
        assert armed.folders == {
            f"{root}{folder}" for folder in ("", "/functions", "/functions/charge", "/shared")
        }


async def test_core_tools_1239_two_halves_are_told_one_by_one(tmp_path: Path) -> None:
    root = a_project(tmp_path)
    async with listening(root) as (source, _):
        with (root / CODE).open("w") as file:
            file.write("def main(message):\n")
            file.flush()
            assert await told(source) == {CODE}
            file.write("    print(message)\n")
        assert await told(source) == {CODE}


async def test_host_2686_a_project_that_is_a_link_may_be_led_elsewhere(tmp_path: Path) -> None:
    a_project(tmp_path / "release-1")
    write(a_project(tmp_path / "release-2") / CODE, "x = 2\n")
    current = tmp_path / "current"
    current.symlink_to("release-1")
    async with listening(current) as (source, _):
        (tmp_path / "next").symlink_to("release-2")
        (tmp_path / "next").rename(current)
        assert await told(source) == {CODE}
        write(tmp_path / "release-2/shared/money.py", "x = 2\n")
        assert await told(source) == {"shared/money.py"}


async def test_links_are_followed_once_and_not_in_circles(tmp_path: Path) -> None:
    root = a_project(tmp_path / "project")
    write(tmp_path / "library/tax.py", "x = 1\n")
    write(tmp_path / "one.py", "x = 1\n")
    (root / "library").symlink_to(tmp_path / "library")
    (root / "shared/one.py").symlink_to(tmp_path / "one.py")
    (root / "shared/circle").symlink_to(root)
    async with listening(root) as (source, _):
        write(tmp_path / "library/tax.py", "x = 2\n")
        assert await told(source) == {"library/tax.py"}
        write(tmp_path / "one.py", "x = 2\n")
        assert await told(source) == {"shared/one.py"}


async def test_rules_follow_host_json_and_funcignore(tmp_path: Path) -> None:
    root = a_project(tmp_path)
    write(root / "data/prices.csv", "1")
    async with listening(root) as (source, _):
        write(root / "host.json", '{"version": "2.0", "watchDirectories": ["data"]}')
        assert await told(source) == {"host.json"}
        write(root / "data/prices.csv", "2")
        assert await told(source) == {"data/prices.csv"}
        write(root / ".funcignore", "shared\n")
        write(root / "other.py", "")
        assert await told(source) == {"other.py"}
        write(root / "shared/money.py", "x = 2\n")
        write(root / "new.py", "")
        assert await told(source) == {"new.py"}


async def test_a_cancelled_wait_loses_nothing(tmp_path: Path) -> None:
    root = a_project(tmp_path)
    async with listening(root) as (source, _):
        write(root / CODE, "x = 2\n")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(source.changed(), 0.02)
        assert await told(source) == {CODE}


async def test_a_first_sign_is_given_before_the_change_is_told(tmp_path: Path) -> None:
    root, sign = a_project(tmp_path), asyncio.Event()
    async with listening(root, sign.set) as (source, _):
        asked = asyncio.ensure_future(source.changed())
        await SystemClock().sleep(0.3)
        assert not sign.is_set()
        write(root / CODE, "x = 2\n")
        await asyncio.wait_for(sign.wait(), 10.0)
        assert not asked.done()
        assert await asyncio.wait_for(asked, 10.0) == {CODE}


async def test_a_change_before_anybody_asked_is_told(tmp_path: Path) -> None:
    root = a_project(tmp_path)
    async with watching(root, Deaf) as source:
        await SystemClock().sleep(0.2)
        write(root / CODE, "x = 2222\n")
        assert await told(source) == {CODE}


async def test_where_no_events_arrive_files_are_looked_for_and_it_is_said_once(
    tmp_path: Path,
) -> None:
    root, said = a_project(tmp_path), Said()
    async with watching(root, Deaf, said) as source:
        asked = asyncio.ensure_future(source.changed())
        await asyncio.wait_for(said.more.wait(), 10.0)
        write(root / CODE, "x = 2\n")
        assert await asyncio.wait_for(asked, 10.0) == {CODE}
        write(root / CODE, "x = 3\n")
        assert await told(source) == {CODE}
    (line,) = said.lines
    assert line.startswith("file events do not arrive here (a network mount?): changed files are ")


async def test_host_6466_where_listeners_are_used_up_files_are_looked_for_and_nothing_is_retried(
    tmp_path: Path,
) -> None:
    root, said, made = a_project(tmp_path), Said(), list[UsedUp]()

    def used_up(relevant: Callable[[str], bool], clock: object) -> UsedUp:
        made.append(UsedUp(relevant, clock))
        return made[0]

    async with watching(root, used_up, said) as source:
        asked = asyncio.ensure_future(source.changed())
        await asyncio.wait_for(said.more.wait(), 10.0)
        write(root / "package/a.py", "x = 2\n")
        assert await asyncio.wait_for(asked, 10.0) == {"package/a.py"}
    assert [(each.tries, each.closed) for each in made] == [(1, True)]
    (line,) = said.lines
    assert line.startswith("there are no more file events to be had here: changed files are ")


@pytest.mark.parametrize("variable", [True, False])
async def test_looking_in_place_of_listening_on_request(tmp_path: Path, *, variable: bool) -> None:
    root, said = a_project(tmp_path), Said()
    source = open_changes(
        root,
        environ={"WATCHFILES_FORCE_POLLING": "1"} if variable else {},
        environment="Development",
        clock=SystemClock(),
        sink=said,
        poll=not variable,
    )
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(source.changed(), 0.3)
    await until_instances(0)
    write(root / CODE, "x = 2\n")
    assert await told(source) == {CODE}
    await source.close()
    assert said.lines == []


async def test_host_8445_closing_and_arming_again_leak_nothing(tmp_path: Path) -> None:
    root = a_project(tmp_path)
    async with listening(root) as (source, _):
        for number in range(5):
            write(root / f"package{number}/a.py", "")
            await told(source)
        await until_instances(1)
    await until_instances(0)
    await source.close()


async def test_closing_while_listening_begins_leaks_nothing(tmp_path: Path) -> None:
    for _ in range(5):
        events = FileEvents(lambda _path: True, SystemClock())
        arming = asyncio.ensure_future(events.arm([str(tmp_path)]))
        await asyncio.sleep(0)
        arming.cancel()
        await events.close()
    await until_instances(0)


async def test_a_project_without_watching_tells_nothing_and_listens_to_nothing(
    tmp_path: Path,
) -> None:
    root = a_project(tmp_path)
    write(root / "host.json", '{"version": "2.0", "fileWatchingEnabled": false}')
    async with watching(root, None) as source:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(source.changed(), 0.3)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(NoChanges().changed(), 0.01)


async def test_the_proof_of_events_leaves_no_file(tmp_path: Path) -> None:
    root = a_project(tmp_path)
    before = set(root.iterdir())
    async with listening(root) as (source, _):
        write(root / "new.py", "")
        await told(source)
    assert set(root.iterdir()) == before | {root / "new.py"}


async def test_a_folder_that_was_made_anew_is_listened_to_whatever_its_number(
    tmp_path: Path,
) -> None:
    """File systems give a folder's number to the next one that is made."""
    root = a_project(tmp_path)
    async with listening(root) as (source, _):
        for number in range(3):
            shutil.rmtree(root / "shared")
            write(root / "shared/money.py", f"x = {number}0\n")
            assert await told(source) == {"shared/money.py"}
            write(root / "shared/money.py", f"x = {number}1\n")
            assert await asyncio.wait_for(source.changed(), 10.0) == {"shared/money.py"}


async def test_a_save_beside_a_look_that_no_event_asked_for_is_told(tmp_path: Path) -> None:
    root = a_project(tmp_path)
    scripted = Scripted()
    async with watching(root, scripted) as source:
        asked = asyncio.ensure_future(source.changed())
        await scripted.silence()
        write(root / CODE, "x = 2\n")
        scripted.say()  # nothing: the look that nobody asked for
        assert await asyncio.wait_for(asked, 10.0) == {CODE}
        await scripted.silence()  # waits for the event of what was found
        write(root / "shared/money.py", "x = 2\n")
        scripted.say(str(root / CODE), str(root / "shared/money.py"))
        assert await asyncio.wait_for(source.changed(), 10.0) == {"shared/money.py"}


async def test_a_save_while_the_rules_are_read_anew_is_told(tmp_path: Path) -> None:
    """What is listened to is replaced then, and what had not been told is gone with it."""
    root = a_project(tmp_path)
    scripted = Scripted()

    def save() -> None:
        scripted.arming = None
        write(root / CODE, "x = 2\n")

    async with watching(root, scripted) as source:
        asked = asyncio.ensure_future(source.changed())
        await scripted.silence()
        write(root / "host.json", '{"version": "2.0", "watchFiles": ["a.txt"]}')
        scripted.arming = save
        scripted.say(str(root / "host.json"))
        found = set(await asyncio.wait_for(asked, 10.0))
        if CODE not in found:
            found |= await asyncio.wait_for(source.changed(), 10.0)
        assert found == {"host.json", CODE}


async def test_folders_that_could_not_be_listened_to_are_tried_again_soon(tmp_path: Path) -> None:
    root = a_project(tmp_path)
    scripted = Scripted()
    async with watching(root, scripted) as source:
        asked = asyncio.ensure_future(source.changed())
        await scripted.silence()
        scripted.refused = 100
        write(root / "package/a.py", "x = 1\n")
        scripted.say(str(root / "package"))
        assert await asyncio.wait_for(asked, 10.0) == {"package/a.py"}
        await scripted.silence()
        assert scripted.timeout_s <= 1.0
        scripted.refused = 0
        scripted.say()
        await scripted.silence()
        assert f"{root}/package" in scripted.folders
        assert scripted.timeout_s > 1.0


async def test_a_listener_that_breaks_off_is_replaced_by_looks(tmp_path: Path) -> None:
    root, said = a_project(tmp_path), Said()
    scripted = Scripted()
    async with watching(root, scripted, said) as source:
        asked = asyncio.ensure_future(source.changed())
        await scripted.silence()
        scripted.break_off("the listener has broken off")
        await asyncio.wait_for(said.more.wait(), 10.0)
        write(root / CODE, "x = 2\n")
        assert await asyncio.wait_for(asked, 5.0) == {CODE}
    assert said.lines == [
        "the listener has broken off: changed files are looked for every 1 s instead"
    ]


async def test_watching_that_is_turned_off_and_on_again_is_told_both_times(tmp_path: Path) -> None:
    root, said = a_project(tmp_path), Said()
    off, on = (f'{{"version": "2.0", "fileWatchingEnabled": {word}}}' for word in ("false", "true"))
    scripted = Scripted()
    async with watching(root, scripted, said) as source:
        asked = asyncio.ensure_future(source.changed())
        await scripted.silence()
        write(root / "host.json", off)
        scripted.say(str(root / "host.json"))
        assert await asyncio.wait_for(asked, 10.0) == {"host.json"}
        asked = asyncio.ensure_future(source.changed())
        await asyncio.wait_for(said.more.wait(), 10.0)
        write(root / CODE, "x = 2\n")
        write(root / "host.json", on)
        assert await asyncio.wait_for(asked, 5.0) == {"host.json"}
        asked = asyncio.ensure_future(source.changed())
        await scripted.silence()
        write(root / CODE, "x = 3\n")
        scripted.say(str(root / CODE))
        assert await asyncio.wait_for(asked, 10.0) == {CODE}
    (line,) = said.lines
    assert line.startswith("fileWatchingEnabled is false in host.json: saved files are no longer")
