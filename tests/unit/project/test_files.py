"""A file that cannot be read is an error with its name."""

from __future__ import annotations

from pathlib import Path

from qtrigger.project import files
from qtrigger.project.findings import Findings


def test_a_file_that_vanished_is_an_error_with_the_reason(tmp_path: Path) -> None:
    findings = Findings("resize")

    tree = files.read(tmp_path / "function.json", "resize/function.json", findings)

    assert tree is None
    (problem,) = findings.problems
    assert problem.message == "the file cannot be read: No such file or directory"
    assert (problem.file, problem.line, problem.function) == ("resize/function.json", 1, "resize")
