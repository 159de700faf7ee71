"""Bars as an SVG of plain text, readable on light and on dark paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 760
NAMES = 290
BARS = 340
ROW = 28
TOP = 40
_STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.title { font-weight: 600; }
.bar { fill: #8c959f; }
.ours { fill: #0969da; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .bar { fill: #6e7681; }
  .ours { fill: #4493f8; }
}"""


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of a chart."""

    name: str
    value: float
    shown: str
    """The value as it is to be read."""
    ours: bool = False


def svg(title: str, bars: Sequence[Bar]) -> str:
    """A chart of bars, each as long as its value beside the greatest."""
    height = TOP + ROW * len(bars) + 8
    greatest = max((bar.value for bar in bars), default=0.0) or 1.0
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(title)}">',
        f"<style>\n{_STYLE}\n</style>",
        f'<text class="title" x="0" y="18">{escape(title)}</text>',
    ]
    for number, bar in enumerate(bars):
        y = TOP + ROW * number
        long = max(bar.value / greatest * BARS, 1.0)
        kind = "ours" if bar.ours else "bar"
        lines += [
            f'<text x="{NAMES - 8}" y="{y + 14}" text-anchor="end">{escape(bar.name)}</text>',
            f'<rect class="{kind}" x="{NAMES}" y="{y}" width="{long:.1f}" height="20" rx="2"/>',
            f'<text x="{NAMES + long + 8:.1f}" y="{y + 14}">{escape(bar.shown)}</text>',
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"
