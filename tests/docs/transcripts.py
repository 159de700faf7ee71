"""What a page shows of a terminal: commands after `$`, and what they write."""

from __future__ import annotations

import re


def transcript(text: str) -> list[tuple[str, str]]:
    """The commands of a block, each with what it shows."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [
        (command, shown.rstrip("\n")) for command, _, shown in (p.partition("\n") for p in parts)
    ]


def fits(shown: str) -> re.Pattern[str]:
    """What a page shows as a pattern: `…` is some text, on a line of its own any lines."""
    lines = [
        r"[\s\S]*?" if line == "…" else ".*?".join(map(re.escape, line.split("…"))) + r"\n?"
        for line in shown.splitlines()
    ]
    return re.compile("".join(lines))
