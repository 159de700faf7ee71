"""HTML that is made of values: everything is escaped that is not HTML already.

Owns the escaping, so that no page can forget it. A page is a tree of calls; only what `tag` and
`raw` return is taken as it is.
"""

from __future__ import annotations

import html
from typing import Final

_VOID: Final = frozenset({"input", "meta", "link", "br", "path", "line", "rect", "circle"})
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
# What HTML cannot hold, or what a browser would read as something else than it says.
_UNFIT: Final = {
    **dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127), _REPLACEMENT),
    **dict.fromkeys(range(0xD800, 0xE000), _REPLACEMENT),
    # They turn the direction of what follows, and could make a name look like another.
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), _REPLACEMENT),
}


class Markup(str):
    """A text that is HTML."""

    __slots__ = ()


Part = str | None
Value = str | int | bool | None


def text(value: str) -> Markup:
    """A text as HTML shows it; HTML itself stays as it is."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(value.translate(_UNFIT)))


def tag(name: str, /, *parts: Part, **attributes: Value) -> Markup:
    """An element; `class_` is the attribute class, `data_k` is data-k, None and False are none."""
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        # With the slash, since within SVG an element without one would take in what follows.
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{join(*parts)}</{name}>")


def join(*parts: Part) -> Markup:
    """Parts one after another."""
    return Markup("".join(text(part) for part in parts if part is not None))


def _attribute(key: str, value: Value) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    return f' {name}="{text(str(value))}"'
