"""An object of a cluster with what is to be said of it, and its YAML.

Owns how remarks and objects are written. What is in them is for others.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

Object = Mapping[str, Any]

_WIDTH: Final = 98
# What PyYAML's version of YAML has as a text and others' do not; a queue may be called 1e3.
_NO_TEXT_ELSEWHERE: Final = re.compile(
    r"(?:[-+]?(?:0o[0-7]+|(?:\.[0-9_]+|[0-9_]+(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?)|[yYnN])\Z"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One object; `remarks` are paragraphs that stand above it."""

    content: Object
    remarks: Sequence[str] = field(default=())

    @property
    def kind(self) -> str:
        """Its kind, such as `Deployment`."""
        return str(self.content["kind"])


def stream(documents: Iterable[Document]) -> str:
    """The documents as one stream of YAML, which says the same in every version of it."""
    return "".join(f"---\n{_text(each)}" for each in documents)


def files(documents: Iterable[Document]) -> dict[str, str]:
    """The same by the names of files, one for each kind."""
    found: dict[str, list[Document]] = {}
    for each in documents:
        found.setdefault(f"{each.kind.lower()}.yaml", []).append(each)
    return {name: stream(each) for name, each in found.items()}


def _text(document: Document) -> str:
    lines = [line for each in document.remarks for line in _wrapped(each)]
    # Of two objects in one place none is written as a reference to the other.
    body = _yaml(_copied(document.content))
    return "".join(f"# {line}\n" for line in lines) + body


def _yaml(content: Any) -> str:
    import yaml

    class Dumper(yaml.SafeDumper):
        """Has another tag for such texts, so that they are quoted."""

    Dumper.add_implicit_resolver("tag:elsewhere", _NO_TEXT_ELSEWHERE, None)
    return str(yaml.dump(content, Dumper=Dumper, sort_keys=False, width=10_000))


def _wrapped(text: str) -> list[str]:
    # A remark ends with its line, and YAML refuses what cannot be printed in one, too.
    text = "".join(each if each.isprintable() else " " for each in text)
    return textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copied(each) for each in value]
    return value
