"""What users ran into with bodies: whole projects on a real service, text for text."""

from __future__ import annotations

import base64
import json
import os

import pytest

from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, qtrigger, running

PLAIN = "def main(msg: str):\n    note(msg)\n"
RAISES = "def main(msg: bytes):\n    raise ValueError('no')\n"
BODY = """
    import azure.functions as func
    def main(msg: func.QueueMessage):
        note(repr(msg.get_body()))
"""
NOT_UTF8 = b"\xc7\xc7\x00\x92"


async def test_one_damaged_text_among_fifty_costs_only_itself(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("good", PLAIN)
    damaged = base64.b64encode(b"0123456789abcdefgh").decode()
    damaged = f"{damaged[:11]}!{damaged[12:]}"
    await service.put(folder.queue("good"), [f"m{n}" for n in range(25)])
    await service.put_raw(folder.queue("good"), [damaged])
    await service.put(folder.queue("good"), [f"n{n}" for n in range(25)])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert len(set(folder.notes())) == len(folder.notes()) == 50
    assert await service.raw(folder.queue("good-poison")) == [damaged]
    (line,) = [line for line in host.lines if "POISON" in line]
    assert "damaged or cut" in line
    assert damaged not in host.output
    assert "50 ok · 0 failed · 1 poisoned · 1 undecodable" in host.output


async def test_a_body_that_is_not_utf8_fails_only_functions_that_want_text(
    folder: ProjectFolder, service: Service
) -> None:
    """It runs as bytes and as a message; as `str` it fails, with the place, for all its tries."""
    kinds = {"raw": "msg: bytes", "untyped": "msg", "whole": "msg: func.QueueMessage"}
    for name, parameter in kinds.items():
        read = "msg" if name == "raw" else "msg.get_body()"
        code = f"import azure.functions as func\ndef main({parameter}):\n"
        folder.function(name, f"{code}    note('{name} ' + {read}.hex())\n")
    folder.function("text", PLAIN)
    folder.host_json({"maxDequeueCount": 2})
    for name in (*kinds, "text"):
        await service.put(folder.queue(name), [NOT_UTF8])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert sorted(folder.notes()) == [f"{name} {NOT_UTF8.hex()}" for name in sorted(kinds)]
    failed = [line for line in host.lines if "FAILED" in line]
    assert len(failed) == 2
    assert all("not UTF-8 at byte 0" in line for line in failed)
    assert await service.bodies(folder.queue("text-poison")) == [NOT_UTF8]


async def test_the_poison_copy_of_any_text_is_that_text(
    folder: ProjectFolder, service: Service
) -> None:
    """So that putting it back is putting it back as it was, the largest and the odd ones too."""
    folder.function("broken", RAISES)
    folder.host_json({"maxDequeueCount": 1})
    largest = base64.b64encode(os.urandom(49_152)).decode()
    assert len(largest) == 65_536
    texts = [
        largest,
        base64.b64encode(b"small").decode(),
        "",
        '{"never": "decoded"}',
        "<a>&amp;</a>",
    ]
    await service.put_raw(folder.queue("broken"), texts)

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert sorted(await service.raw(folder.queue("broken-poison"))) == sorted(texts)
    assert await service.count(folder.queue("broken")) == 0


async def test_a_largest_body_that_fails_five_times_stands_in_poison_byte_for_byte(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("broken", RAISES)
    body = os.urandom(49_152)
    await service.put(folder.queue("broken"), [body])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert len([line for line in host.lines if "FAILED" in line]) == 5
    assert await service.bodies(folder.queue("broken-poison")) == [body]


@pytest.mark.parametrize("encoding", ["base64", "none"])
async def test_empty_bodies_and_spaces_arrive_as_they_are(
    folder: ProjectFolder, service: Service, encoding: str
) -> None:
    folder.function("reader", BODY)
    folder.host_json({"messageEncoding": encoding})
    bodies = ["", " ", "    "]
    put = service.put if encoding == "base64" else service.put_raw
    await put(folder.queue("reader"), bodies)

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert sorted(folder.notes()) == sorted(repr(body.encode()) for body in bodies)


async def test_an_output_name_that_a_body_cannot_fill_is_a_failure_with_a_reason(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function(
        "router", "def main(msg: str) -> str:\n    return msg\n", out={"$return": "out-{OrderId}"}
    )
    folder.host_json({"maxDequeueCount": 1})
    bad = ["{}", "not json", '{"OrderId":null}', '{"OrderId":"A B"}']
    await service.put(folder.queue("router"), [*bad, '{"OrderId":"7"}'])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert sorted(await service.texts(folder.queue("router-poison"))) == sorted(bad)
    assert [json.loads(text) for text in await service.texts(folder.queue("out-7"))] == [
        {"OrderId": "7"}
    ]
    failed = [line for line in host.lines if "FAILED" in line]
    assert len(failed) == 4
    assert all("{OrderId}" in line and "last try" in line for line in failed)


async def test_characters_that_xml_cannot_carry_are_refused_at_sending_by_name(
    folder: ProjectFolder, service: Service
) -> None:
    folder.host_json({"messageEncoding": "none"})
    queue, fine = folder.queue("odd"), "<&>\"' ]]> \t \r \U0001f600"
    arguments = ("send", "--project", str(folder.root), queue)

    refused = qtrigger(*arguments, "fine", "ab\x01", environ=folder.environ)
    other = qtrigger(*arguments, "ab\ufffe", environ=folder.environ)
    bytes_ = qtrigger(*arguments, "ab\udcff", environ=folder.environ)
    sent = qtrigger(*arguments, fine, environ=folder.environ)

    assert refused.returncode == other.returncode == bytes_.returncode == 2
    assert "text 2: the text holds the character U+0001 at position 2" in refused.stderr
    assert "U+FFFE at position 2" in other.stderr
    assert "not UTF-8 (byte 0xFF at position 2)" in bytes_.stderr
    assert sent.returncode == 0
    assert await service.raw(queue) == [fine]
