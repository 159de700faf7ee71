"""Plots as paths of SVG, small enough for a row of a table.

Owns how figures become lines. A plot has no words of its own: its figures stand beside it, and
the browser is given a label in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from qtrigger.admin.dashboard.markup import Markup, tag

WIDTH: Final = 96
HEIGHT: Final = 22
# A line's own thickness, so that it is not cut at the edges.
_EDGE: Final = 1.5


def line(points: Sequence[float | None], most: float, width: int, height: int) -> str:
    """The path of a line through the points, with gaps where they are None."""
    drawn: list[str] = []
    step = width / max(len(points) - 1, 1)
    scale, ground = (height - 2 * _EDGE) / most if most > 0 else 0.0, height - _EDGE
    before, beyond = None, (*points[1:], None)
    for number, value in enumerate(points):
        # Of a level stretch the ends suffice.
        if value is not None and not (value == before == beyond[number]):
            verb = "M" if before is None else "L"
            drawn.append(f"{verb}{number * step:.4g} {ground - value * scale:.3g}")
        before = value
    return "".join(drawn)


def area(points: Sequence[float | None], most: float, width: int, height: int) -> str:
    """The path of what is under such a line; a gap counts as nothing."""
    if not any(points):
        return ""
    filled = [value or 0.0 for value in points]
    return f"{line(filled, most, width, height)}V{height}H0Z"


def small(key: str, paths: dict[str, str], label: str) -> Markup:
    """A plot for a row; `paths` by the end of their keys, which live updates name."""
    return tag(
        "svg",
        *(
            tag("path", class_=f"p-{end}", d=path, data_k=f"{key}.{end}.d")
            for end, path in paths.items()
        ),
        class_="plot",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=label,
    )
