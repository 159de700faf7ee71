"""Names for what happens once.

Owns their form. Knows nothing of what they name.
"""

from __future__ import annotations

import os


def new_id() -> str:
    """A random UUID (RFC 9562, version 4) as text.

    What `str(uuid.uuid4())` gives, in a third of its time: every run has one.
    """
    digits = os.urandom(16).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
