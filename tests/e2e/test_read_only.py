"""A host to which the machine is read-only but for what systemd gives it, as in its unit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from qtrigger.journal import JournalFile
from tests.e2e.conftest import Service
from tests.e2e.support import START, ProjectFolder, qtrigger, running

CODE = """
def main(msg):
    body = msg.get_body().decode()
    if body == "bad":
        raise ValueError("no card")
    note(body)
"""
# One mount can be written to; the one that holds all the rest cannot. Without root, in a
# namespace of users of its own.
READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro / && shift && exec "$@"'


def walled(writable: Path) -> tuple[str, ...]:
    """What starts a command for which that folder alone can be written to."""
    unshare = shutil.which("unshare")
    assert unshare is not None, "this test needs unshare of util-linux"
    as_root = () if os.geteuid() == 0 else ("--map-root-user",)
    return (unshare, *as_root, "--mount", "/bin/sh", "-c", READ_ONLY, "sh", str(writable))


async def test_a_host_needs_nothing_but_the_folders_of_its_service(
    folder: ProjectFolder, service: Service
) -> None:
    given = folder.root.parent / f"{folder.root.name}-given"
    places = {name: given / name.lower() for name in ("STATE", "CACHE", "RUNTIME")}
    for place in (*places.values(), given / "tmp"):
        place.mkdir(parents=True)
    folder.environ |= {f"{name}_DIRECTORY": str(place) for name, place in places.items()}
    folder.environ |= {
        "AZURE_FUNCTIONS_ENVIRONMENT": "Production",
        "NOTES": str(given / "tmp/notes"),
        "PYTHONPYCACHEPREFIX": str(places["CACHE"]),
        "TMPDIR": str(given / "tmp"),
    }
    folder.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    folder.host_json({"maxDequeueCount": 1})
    folder.function("charge", CODE, queue="charges")
    await service.put(folder.queue("charges"), ["good", "bad"])
    before = sorted(folder.root.rglob("*"))

    with running(folder, program=(*walled(given), *START)) as host:
        host.wait_for("POISON")
        host.wait_for("  ok  ")
        asked = qtrigger("status", str(folder.root), "--format", "json", environ=folder.environ)
        (found,) = json.loads(asked.stdout)["hosts"]
        paused = qtrigger("pause", "charge", str(folder.root), environ=folder.environ)
        assert paused.returncode == 0
        host.wait_for("paused")

    assert (given / "tmp/notes").read_text() == "good\n"
    assert found["functions"][0]["poisoned"] == 1
    (kept,) = JournalFile(places["STATE"]).recent()
    assert kept.error_message == "no card"
    assert (places["STATE"] / "pauses.json").exists()
    assert list(places["CACHE"].rglob("*.pyc"))
    assert "read-only" not in host.output.casefold()
    assert sorted(folder.root.rglob("*")) == before


def test_the_wall_holds(tmp_path: Path) -> None:
    """Else the test above could not fail."""
    (tmp_path / "inside").mkdir()
    code = "import sys; [open(each, 'w').close() for each in sys.argv[1:]]"
    for place, fails in ((tmp_path / "inside/file", False), (tmp_path / "outside", True)):
        ended = subprocess.run(
            [*walled(tmp_path / "inside"), sys.executable, "-c", code, str(place)],
            capture_output=True,
            timeout=30,
            check=False,
        )
        assert bool(ended.returncode) == fails
