"""What the HTTP server bears at most, so that whoever asks can never hold up messages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds, each of one server; times in seconds, sizes in bytes.

    `connections` and `requests` count those at once: of requests those being answered, without
    streams. `per_connection` is how many one connection may send. `line` and `field` bound the
    request's first line and each header, `fields` their number.
    `head_s` is for a request's head to come, from the connection or from the last answer on;
    `body_s` for its body, `answer_s` for an answer to be made, `probe_s` for one of the open
    routes, `write_s` for an answer or a part of a stream to be taken. `linger_s` is how long what
    is not wanted is read and thrown away, so that the refusal reaches its sender. `close_s` is
    for all that is under way at the end.
    """

    connections: int = 96
    requests: int = 32
    per_connection: int = 1000
    line: int = 4096
    field: int = 8190
    fields: int = 64
    head_s: float = 15.0
    body_s: float = 15.0
    answer_s: float = 30.0
    probe_s: float = 1.0
    write_s: float = 10.0
    linger_s: float = 2.0
    close_s: float = 2.0
