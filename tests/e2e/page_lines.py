"""Which command lines the pages show, and which of them a test types.

Owns the reasons for those that are not. Runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.docs.blocks import DOCS, REPOSITORY, Block, blocks, pages
from tests.docs.commands import lines, programs
from tests.docs.transcripts import transcript

# A test of its own follows it, and the reference's are made from the verbs' help.
_HELD_ELSEWHERE = (DOCS / "tutorial" / "ten-minutes.md", DOCS / "reference" / "cli.md")

TYPED = frozenset({"cd", "export", "kill", "python", "qtrigger", "rm", "sleep", "touch"})
# Programs of other machines, or of others' business, and why nobody types them here.
ELSEWHERE: Mapping[str, str] = {
    "az": "it asks Azure",
    "cp": "into a server's /srv",
    "docker": "it needs a daemon; what it is given is held by test_howto_deploy.py",
    "install": "into a server's /etc",
    "journalctl": "it reads a server's journal",
    "kubectl": "it asks a cluster",
    "ln": "into a server's /srv",
    "make": "it is what runs the tests, or runs for long",
    "mkdir": "into a server's /srv and /etc",
    "pip": "it downloads; tests/packaging installs the wheel",
    "pipx": "it downloads; tests/packaging installs the wheel",
    "python3": "it makes environments in a server's /opt and /srv",
    "systemctl": "it speaks with a server's systemd",
}
_IDENTITY = "an account on Azure; test_identity.py signs in by each kind of identity"
# Lines of programs that are typed else: page, the line's beginning, and why not.
NOT_TYPED: Mapping[tuple[str, str], str] = {
    ("docs/how-to/managed-identity.md", "qtrigger check --connect"): _IDENTITY,
    (
        "docs/how-to/managed-identity.md",
        'export Orders__clientSecret="$(cat /run/secrets/orders)"',
    ): _IDENTITY,
    (
        "docs/how-to/systemd.md",
        "sudo /opt/qtrigger/bin/qtrigger systemd /srv/orders --install",
    ): "it writes to /etc; test_systemd_verb.py has it write to another folder",
    ("docs/explanation/endurance.md", "python -m tests.chaos.several"): "it runs for minutes",
    ("docs/explanation/endurance.md", "python -m tests.faults.throttled"): "it runs for a minute",
}


@dataclass(frozen=True, slots=True)
class Step:
    """What a reader types at one go, and what the page shows of its output, if anything."""

    text: str
    shown: str = ""


def name(page: Path) -> str:
    """A page as the tables have it."""
    return str(page.relative_to(REPOSITORY))


def shown_lines(page: Path) -> list[str]:
    """All command lines of a page."""
    return [line for block in _consoles(page) for line in lines(block.text)]


def steps(page: Path) -> list[Step]:
    """What is typed of a page, in its order."""
    return [step for block in _consoles(page) for step in _steps(block) if is_typed(page, step)]


def typed_pages() -> list[Path]:
    """The pages that have anything to type."""
    return [page for page in pages() if page not in _HELD_ELSEWHERE and steps(page)]


def all_pages() -> list[Path]:
    """The pages whose lines are held here."""
    return [page for page in pages() if page not in _HELD_ELSEWHERE]


def is_typed(page: Path, step: Step) -> bool:
    """Whether it runs here, and nothing in it belongs elsewhere."""
    if any(name(page) == of and step.text.startswith(line) for of, line in NOT_TYPED):
        return False
    return all(program in TYPED for line in lines(step.text) for program in programs(line))


def _consoles(page: Path) -> Iterator[Block]:
    return (block for block in blocks(page) if block.language == "console")


def _steps(block: Block) -> Iterator[Step]:
    if block.text.startswith("$ "):
        yield from (Step(command, shown) for command, shown in transcript(block.text))
    elif any(line.endswith("&") for line in lines(block.text)):
        yield Step(block.text)  # a script: what it leaves running is its own
    else:
        yield from map(Step, lines(block.text))
