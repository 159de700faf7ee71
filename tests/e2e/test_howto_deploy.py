"""The projects of the pages about containers and Kubernetes, and what the pages show of them."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.docs.blocks import DOCS, blocks
from tests.docs.commands import lines
from tests.e2e.howto import write_project
from tests.e2e.support import ProjectFolder, qtrigger, running

PREFIX = "here"
HEALTH = ("startup", "live", "ready")


@pytest.fixture
def folder(tmp_path: Path) -> ProjectFolder:
    """A project's folder; nothing of it is run, so that no service is needed."""
    return ProjectFolder(tmp_path, "UseDevelopmentStorage=true", PREFIX)


def shown(page: str, language: str) -> list[str]:
    """The blocks of a page in a language that are no files."""
    return [
        each.text
        for each in blocks(DOCS / "how-to" / f"{page}.md")
        if each.language == language and not each.path
    ]


def printed(folder: ProjectFolder, *arguments: str) -> str:
    said = qtrigger(*arguments, environ=folder.environ)
    assert said.returncode == 0, said.stderr
    return said.stdout.replace(f"{PREFIX}-", "")


def test_the_image_is_made_as_the_page_says(folder: ProjectFolder) -> None:
    write_project("container", folder)
    text = printed(folder, "docker", str(folder.root))
    (install,) = shown("container", "dockerfile")
    (compose,) = map(yaml.safe_load, shown("container", "yaml"))

    assert install in text
    (stop,) = (
        each for block in shown("container", "console") for each in lines(block) if "stop" in each
    )
    seconds = stop.split()[stop.split().index("--time") + 1]
    assert f"docker stop --time {seconds} " in text
    assert compose["services"]["charges"]["stop_grace_period"] == f"{seconds}s"


def test_the_manifest_has_what_the_page_shows(folder: ProjectFolder) -> None:
    write_project("kubernetes", folder)
    arguments = ("kubernetes", str(folder.root), "--image", "a:1", "--name", "shop")
    found = list(yaml.safe_load_all(printed(folder, *arguments)))
    trigger, grace = map(yaml.safe_load, shown("kubernetes", "yaml"))
    of_kind: Mapping[str, object] = {each["kind"]: each["spec"] for each in found[1:]}

    assert trigger[0] in of_kind["ScaledObject"]["triggers"]  # type: ignore[index]
    assert grace.items() <= of_kind["Deployment"]["template"]["spec"].items()  # type: ignore[index]
    assert set(found[0]["stringData"]) == {*("AzureWebJobsStorage", "MAILS", "QTRIGGER_HTTP_KEY")}


@pytest.mark.parametrize("number", range(3))
def test_each_command_of_the_page_for_a_manifest_is_taken(
    folder: ProjectFolder, number: int
) -> None:
    write_project("kubernetes", folder)
    commands = [
        each.split()[1:]
        for block in shown("kubernetes", "console")
        for each in lines(block)
        if each.startswith("qtrigger kubernetes")
    ]
    assert len(commands) == 3
    out = str(folder.root / "deploy")

    printed(folder, "-C", str(folder.root), *commands[number], "--out", out)

    assert list(Path(out).glob("scaled*.yaml"))


def test_a_host_with_the_pods_arguments_answers_its_probes(tmp_path: Path, connection: str) -> None:
    folder = ProjectFolder(tmp_path, connection, PREFIX)
    folder.function("charge", "def main(msg): ...")
    text = printed(folder, "kubernetes", str(folder.root), "--image", "a:1")
    (pod,) = (
        each["spec"]["template"]["spec"]["containers"][0]
        for each in yaml.safe_load_all(text)
        if each["kind"] == "Deployment"
    )
    _, _, flag, _ = pod["args"]
    del folder.environ["QTRIGGER_START_NO_HTTP"]
    folder.environ["QTRIGGER_HTTP_KEY"] = "a key of more than sixteen letters"

    with running(folder, flag, "0.0.0.0:0") as host:
        host.wait_for("ready in")
        (port,) = re.findall(r"http://0\.0\.0\.0:(\d+)", host.output)
        for name in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert get(f"http://127.0.0.1:{port}{pod[name]['httpGet']['path']}") == 200
        assert get(f"http://127.0.0.1:{port}/metrics") == 401


def test_a_pod_that_no_queue_answers_is_alive_and_not_ready(tmp_path: Path) -> None:
    """As the page says: a restart would mend nothing, and a rollout goes no further."""
    # Nobody listens at that port, and the account is not the emulator's.
    nobody = "AccountName=shop;AccountKey=a2V5;QueueEndpoint=http://127.0.0.1:9/shop"
    folder = ProjectFolder(tmp_path, nobody, PREFIX)
    folder.function("charge", "def main(msg): ...")
    del folder.environ["QTRIGGER_START_NO_HTTP"]

    with running(folder, "--http", "127.0.0.1:0") as host:
        host.wait_for("Connection refused")
        (port,) = re.findall(r"http://127\.0\.0\.1:(\d+)", host.output)[:1]
        asked = {name: get(f"http://127.0.0.1:{port}/health/{name}") for name in HEALTH}

    assert asked == {"startup": 200, "live": 200, "ready": 503}


def get(url: str) -> int:
    """The status of an answer without a key."""
    try:
        with urllib.request.urlopen(url, timeout=5.0) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
