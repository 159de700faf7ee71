"""Plain values that nobody changes.

Owns how they are made where thousands come into being in a second: a data class that is frozen at
run time takes three times as long to fill, so these are frozen for the type checker alone.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as value
else:

    def value(**options: Any) -> Any:
        """`dataclass(frozen=True, …)`, to those who keep to its types."""
        return dataclasses.dataclass(**{**options, "frozen": False, "unsafe_hash": True})


__all__ = ["value"]
