"""The schemas of the three files: each key's type, range, default and meaning, in one place.

Owns reading them. JSON Schema cannot say all that the files mean; these annotations of our own
say the rest, and `shape`, `durations` and `problems` act on them:

- `x-timespan`: the text is a duration. `x-minimum` and `x-maximum` bound it, `x-number` gives the
  unit in which a bare JSON number is read, `x-never` the spelling that means "without end".
- `x-ignore-case`: the words of an `enum` are compared without case.
- `x-unknown`: what an unknown key of the object is worth: `warn` always a warning, `near` only
  when it looks like a known one. `x-moved` names keys that belong elsewhere, and where.
- `x-exact`: these keys of the object are matched with case; all others without.
- `x-expected`: the right value in words. `x-default`: a default that is computed, in words.
  `x-development-default`: the default that Development has instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

Node = Mapping[str, Any]


def load(name: str) -> Node:
    """The schema of a file by the file's name, such as `host.json`."""
    text = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
    schema: Node = json.loads(text)
    return schema
