"""`qtrigger schema`: the schemas leave the house as they are shipped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from qtrigger.cli.schema import FILES, schema
from qtrigger.project import schemas
from tests.unit.project.folder import ProjectFolder


@pytest.mark.parametrize("name", list(FILES))
def test_a_schema_is_printed_as_it_is_shipped(name: str) -> None:
    result = CliRunner().invoke(schema, [name])

    assert json.loads(result.stdout) == schemas.load(FILES[name])


def test_a_schema_is_written_into_a_file_with_a_word_how_to_name_it(tmp_path: Path) -> None:
    file = tmp_path / "host.schema.json"

    result = CliRunner().invoke(schema, ["host", "--out", str(file)])

    assert json.loads(file.read_text()) == schemas.load("host.json")
    assert '"$schema": "./host.schema.json"' in result.stderr
    assert result.stdout == ""


def test_a_place_that_cannot_be_written_to_is_wrong_usage(tmp_path: Path) -> None:
    result = CliRunner().invoke(schema, ["host", "--out", str(tmp_path / "no" / "file")])

    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def test_a_file_may_name_its_schema(tmp_path: Path) -> None:
    folder = ProjectFolder(tmp_path)
    folder.host(**{"$schema": "./host.schema.json"})
    folder.function("resize", **{"$schema": "../function.schema.json"})
    folder.write(
        "local.settings.json",
        {"$schema": "./local.schema.json", "IsEncrypted": False, "Values": {}},
    )

    assert folder.load().problems == ()
