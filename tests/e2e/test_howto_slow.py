"""The project of the page about runs that hang, run as the page says."""

from __future__ import annotations

from tests.e2e.conftest import Service
from tests.e2e.howto import write_project
from tests.e2e.support import ProjectFolder, running


async def test_a_run_that_hangs_is_named_with_where_it_stands_as_the_page_says(
    folder: ProjectFolder, service: Service
) -> None:
    write_project("slow-runs", folder)
    await service.put(folder.queue("pictures"), ["small.png", "huge.png"])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert host.output.count("still running") == 1
    script = folder.root / "functions" / "resize" / "__init__.py"
    for line, name in ((5, "main"), (9, "resize")):
        assert f'File "{script}", line {line}, in {name}' in host.output
    assert "kill -USR1" not in host.output
    assert await service.count(folder.queue("pictures")) == 0
