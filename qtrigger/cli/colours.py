"""Whether what a verb writes is coloured.

Owns the flag, and what the environment and the stream say where it is not given. The same for
every verb.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TextIO

import click

# The same for every verb that colours what it writes.
colour_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Auto: on a terminal, unless NO_COLOR or TERM=dumb; everywhere with FORCE_COLOR.",
)


def wanted(color: str, stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether to colour what is written to the stream; `color` is auto, always or never."""
    if color != "auto":
        return color == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and environ.get("TERM") != "dumb"
