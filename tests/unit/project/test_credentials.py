"""Files of a service manager are app settings, and win over the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from qtrigger.project.credentials import LARGEST
from qtrigger.project.loader import load_project
from qtrigger.project.model import Project, Severity
from tests.unit.project.folder import TRIGGER, ProjectFolder

KEY = "a2V5"


def connection(account: str) -> str:
    return f"DefaultEndpointsProtocol=https;AccountName={account};AccountKey={KEY}"


class Service:
    """A project, and a folder of credentials for it."""

    def __init__(self, tmp_path: Path) -> None:
        self.folder = ProjectFolder(tmp_path / "project")
        self.folder.function("charge", TRIGGER)
        self.credentials = tmp_path / "credentials"
        self.credentials.mkdir()

    def give(self, name: str, content: str | bytes) -> None:
        data = content if isinstance(content, bytes) else content.encode()
        (self.credentials / name).write_bytes(data)

    def load(self, **environ: str) -> Project:
        return load_project(
            self.folder.root,
            {"CREDENTIALS_DIRECTORY": str(self.credentials), **environ},
            environment="Production",
        )


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return Service(tmp_path)


def test_a_credential_wins_over_the_environment_and_says_where_it_is_from(
    service: Service,
) -> None:
    service.give("AzureWebJobsStorage", connection("right") + "\n")

    project = service.load(AzureWebJobsStorage=connection("wrong"))

    assert project.problems == ()
    assert project.settings["AzureWebJobsStorage"] == connection("right")
    assert project.origins["AzureWebJobsStorage"] == "credential AzureWebJobsStorage"
    (charge,) = project.functions
    assert charge.trigger.account is not None
    assert charge.trigger.account.name == "right"


def test_the_levels_of_a_name_may_be_written_either_way(service: Service) -> None:
    service.give("Bank__Key", "secret")

    project = service.load(**{"Bank:Key": "old", "AzureWebJobsStorage": connection("other")})

    assert [project.settings[name] for name in project.settings if "Bank" in name] == ["secret"]


def test_one_line_break_at_the_end_is_no_part_of_it(service: Service) -> None:
    service.give("AzureWebJobsStorage", connection("other"))
    service.give("Words", "two\nlines\n\n")

    assert service.load().settings["Words"] == "two\nlines\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b"x" * (LARGEST + 1), "more than 1 MiB"),
        (b"a\0b", "U+0000"),
    ],
)
def test_one_that_is_no_text_is_an_error_with_its_place_and_not_its_content(
    service: Service, content: bytes, said: str
) -> None:
    service.give("AzureWebJobsStorage", connection("other"))
    service.give("Odd", content)

    project = service.load()

    (problem,) = [each for each in project.problems if each.severity is Severity.ERROR]
    assert said in problem.message
    assert problem.file == str(service.credentials / "Odd")
    assert "Odd" not in project.settings


def test_an_empty_one_does_not_count(service: Service) -> None:
    service.give("AzureWebJobsStorage", "\n")

    project = service.load(AzureWebJobsStorage=connection("other"))

    assert project.settings["AzureWebJobsStorage"] == connection("other")
    assert "is empty" in project.problems[0].message


def test_a_folder_that_is_not_there_is_an_error(service: Service) -> None:
    service.credentials.rmdir()

    project = service.load(AzureWebJobsStorage=connection("other"))

    assert any("cannot be read" in each.message for each in project.problems)


def test_no_value_is_in_what_is_printed(service: Service) -> None:
    service.give("AzureWebJobsStorage", connection("other"))

    assert KEY not in repr(service.load().problems)
