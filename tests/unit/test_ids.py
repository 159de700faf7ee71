"""Names for what happens once."""

from __future__ import annotations

import uuid

from qtrigger.ids import new_id


def test_an_id_is_a_random_uuid_as_its_library_writes_it() -> None:
    ids = {new_id() for _ in range(1_000)}

    assert len(ids) == 1_000
    for text in ids:
        read = uuid.UUID(text)
        assert (str(read), read.version, read.variant) == (text, 4, uuid.RFC_4122)
