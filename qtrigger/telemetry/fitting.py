"""Makes an object small enough for a line.

Owns what is given up first. Knows no event: it sees names and values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

# Names that a reader finds a line by; they are short, and stay.
_KEPT: Final = frozenset({"schema_version", "kind", "timestamp", "level", "function", "message_id"})
# A text this short is not worth cutting.
_LEAST: Final = 100

Encode = Callable[[dict[str, Any]], str]


def fit(content: Mapping[str, Any], most: int, encode: Encode) -> dict[str, Any]:
    """Return the object with its largest values cut until it is `most` characters at most.

    It is marked by `truncated`. Of a text the end is left out, of a list its last items, of a
    mapping its largest values. It takes a few rounds, as escapes are longer than
    what they stand for.
    """
    fitted = {**content, "truncated": True}
    while (excess := len(encode(fitted)) - most) > 0:
        sizes = {name: len(encode({name: fitted[name]})) for name in fitted if name not in _KEPT}
        largest = max(sizes, key=lambda name: sizes[name])
        if sizes[largest] <= _LEAST:  # there is nothing large: too many names
            return {name: fitted[name] for name in fitted if name in _KEPT or name == "truncated"}
        kept = max(0.0, 1 - (excess + _LEAST) / sizes[largest])
        fitted[largest] = _cut(fitted[largest], kept, encode)
    return fitted


def _cut(value: object, kept: float, encode: Encode) -> object:
    """About the share `kept` of a value, and always less than all of it."""
    if isinstance(value, str):
        return value[: int(len(value) * kept)]
    if isinstance(value, (list, tuple)):
        count = int(len(value) * kept)
        return list(value[:count]) if count or not value else [_cut(value[0], kept, encode)]
    return _smallest(value, kept, encode) if isinstance(value, Mapping) else None


def _smallest(value: Mapping[str, object], kept: float, encode: Encode) -> dict[str, object]:
    """The smallest values of a mapping, in its order, and of the next one what has room."""
    sizes = {name: len(encode({name: each})) for name, each in value.items()}
    room = int(sum(sizes.values()) * kept)
    left: dict[str, object] = {}
    for name in sorted(sizes, key=lambda name: sizes[name]):
        if sizes[name] > room:
            if room > _LEAST:
                left[name] = _cut(value[name], (room - _LEAST) / sizes[name], encode)
            break
        left[name] = value[name]
        room -= sizes[name]
    return {name: left[name] for name in value if name in left}
