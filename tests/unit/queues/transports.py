"""A transport that answers from a script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from multidict import CIMultiDict

from qtrigger.queues.transport import NoAnswer, Response


@dataclass
class ScriptedTransport:
    """Answers in the order given, and remembers what it was asked."""

    answers: list[Response | NoAnswer]
    asked: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    closed: bool = False

    async def request(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> Response:
        self.asked.append((method, target, dict(headers), body))
        answer = self.answers.pop(0)
        if isinstance(answer, NoAnswer):
            raise answer
        return answer

    async def close(self) -> None:
        self.closed = True


def answer(status: int, body: bytes = b"", **headers: str) -> Response:
    """An answer of a queue service; an underscore in a header's name stands for a hyphen."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(
        status=status, headers=CIMultiDict({"x-ms-version": "2021-12-02", **named}), body=body
    )
