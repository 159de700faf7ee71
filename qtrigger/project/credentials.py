"""App settings that a service manager hands over as files: systemd's credentials.

Owns which files count and what their content means. A file's name is the setting's; only this
service can read it, and unlike a variable it is not passed on by the processes that we start
ourselves. What wins over what is decided in `settings`. Source: systemd.exec(5), LoadCredential.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from qtrigger.project.findings import Findings, Place
from qtrigger.project.settings import Setting

DIRECTORY: Final = "CREDENTIALS_DIRECTORY"
# What their origin begins with.
CREDENTIAL: Final = "credential "
# What systemd allows all of a service's credentials together.
LARGEST: Final = 1024 * 1024


def read(environ: Mapping[str, str], findings: Findings) -> tuple[Setting, ...]:
    """The settings in the folder that `CREDENTIALS_DIRECTORY` names; none where it is not set."""
    given = environ.get(DIRECTORY, "")
    return tuple(_settings(Path(given), findings)) if given else ()


def _settings(folder: Path, findings: Findings) -> Iterator[Setting]:
    try:
        paths = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        findings.error(
            f"the folder of credentials cannot be read: {error.strerror}",
            Place(file=str(folder)),
            f"it is named by {DIRECTORY}, which systemd sets",
        )
        return
    for path in paths:
        value = _value(path, findings)
        if value is not None:
            yield Setting(name=path.name, value=value, given_by=f"{CREDENTIAL}{path.name}")


def _value(path: Path, findings: Findings) -> str | None:
    """The text of one, without the line break at its end that editors add."""
    place = Place(file=str(path))
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            findings.error("the credential has more than 1 MiB", place, "give the setting alone")
            return None
        text = content.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        findings.error("the credential is not UTF-8", place, "a setting is text; encode it")
        return None
    except OSError as error:
        findings.error(f"the credential cannot be read: {error.strerror}", place)
        return None
    if "\0" in text:
        findings.error("the credential holds U+0000, which no setting can", place)
        return None
    if not text:
        findings.warning("the credential is empty and does not count", place)
        return None
    return text
