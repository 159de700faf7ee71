"""What users ran into with outputs: one project, one host, every value on a real queue."""

from __future__ import annotations

from tests.e2e.conftest import Service
from tests.e2e.support import ProjectFolder, running

ITEMS = """
    import dataclasses
    import azure.functions as func

    @dataclasses.dataclass
    class Order:
        number: int

    def lazily():
        yield "g1"
        yield b"g2"

    VALUES = {
        "tuple": ("t1", "t2"),
        "generator": lazily(),
        "dataclasses": [Order(1), Order(2)],
        "bytes inside": ["s", b"b"],
        "array as text": '["one", "message"]',
        "none": None,
        "empty text": "",
        "empty bytes": b"",
        "no items": [],
        "only none": [None],
        "nested": ["before", ["x"]],
        "zero": 0,
    }

    def main(msg: str, out: func.Out[object]):
        out.set("overwritten")
        out.set(VALUES[msg])
"""
WRITTEN = [
    "t1",
    "t2",
    "g1",
    "g2",
    '{"number":1}',
    '{"number":2}',
    "s",
    "b",
    '["one", "message"]',
    "",
    "",
]
SPLITS = "def main(msg: str) -> str:\n    return msg\n"
RAISES = """
    import azure.functions as func
    def main(msg: str, out: func.Out[str]):
        out.set("never")
        raise ValueError("no")
"""
LARGE = "def main(msg: str) -> bytes:\n    return b'&' * int(msg)\n"


async def test_what_functions_give_stands_on_the_queues_as_the_page_says(
    folder: ProjectFolder, service: Service
) -> None:
    folder.function("items", ITEMS, out={"out": "items-out"})
    folder.function("splits", SPLITS, out={"$return": "splits-out"})
    folder.function("keeps", SPLITS, out={"$return": "keeps-out"})
    folder.function("raises", RAISES, out={"out": "raises-out"})
    folder.function("large", LARGE, out={"$return": "large-out"})
    exact = {"outputs": "exact", "maxDequeueCount": 1}
    folder.host_json(
        {"maxDequeueCount": 1}, functions={"items": exact, "keeps": {"outputs": "exact"}}
    )
    values = ["tuple", "generator", "dataclasses", "bytes inside", "array as text", "none"]
    values += ["empty text", "empty bytes", "no items", "only none", "nested", "zero"]
    await service.put(folder.queue("items"), values)
    for name in ("splits", "keeps"):
        await service.put(folder.queue(name), ["[1,2,3]", '["a"]', "[]"])
    await service.put(folder.queue("raises"), ["x"])
    await service.put(folder.queue("large"), ["49152", "49153"])

    with running(folder, "--exit-when-idle", "1") as host:
        assert host.wait() == 0

    assert sorted(await service.texts(folder.queue("items-out"))) == sorted(WRITTEN)
    assert sorted(await service.texts(folder.queue("items-poison"))) == ["nested", "zero"]
    assert sorted(await service.texts(folder.queue("splits-out"))) == ["1", "2", "3", "a"]
    assert sorted(await service.texts(folder.queue("keeps-out"))) == ['["a"]', "[1,2,3]", "[]"]
    assert await service.texts(folder.queue("raises-out")) == []
    assert await service.bodies(folder.queue("large-out")) == [b"&" * 49_152]
    assert 'item 1 of output "out" is of type list' in host.output
    assert 'output "out" is of type int' in host.output
    assert "65,540 bytes as base64; the service takes 65,536" in host.output
    warned = [line for line in host.lines if "was split into" in line]
    assert len(warned) == 1
    assert "outputs set to exact" in warned[0]
