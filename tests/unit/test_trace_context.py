"""Where a sender's trace stands in a body, and how ours is put into one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qtrigger.trace_context import LARGEST_BODY, TraceContext, injected, is_parent, sent_with

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
OURS = TraceContext(parent="00-" + "a" * 32 + "-" + "b" * 16 + "-01", state="k=v")


def body(**members: object) -> bytes:
    return json.dumps(members).encode()


@pytest.mark.parametrize(
    ("text", "context"),
    [
        (body(traceparent=PARENT), TraceContext(parent=PARENT)),
        (body(traceparent=PARENT, tracestate="a=1"), TraceContext(parent=PARENT, state="a=1")),
        (body(**{"Diagnostic-Id": PARENT}), TraceContext(parent=PARENT)),
        (
            # An event as CloudEvents has it, with the extension for tracing.
            body(specversion="1.0", type="x", source="/y", id="1", traceparent=PARENT, data={}),
            TraceContext(parent=PARENT),
        ),
        (body(traceparent=PARENT, tracestate=5), TraceContext(parent=PARENT)),
        (body(traceparent=PARENT, tracestate="a" * 600), TraceContext(parent=PARENT)),
        (body(traceparent=PARENT, tracestate="a=\u00e9"), TraceContext(parent=PARENT)),
        (body(traceparent="no", **{"Diagnostic-Id": PARENT}), TraceContext(parent=PARENT)),
        (body(id=1), None),
        (body(data={"traceparent": PARENT}), None),
        (body(**{"Diagnostic-Id": "|4bf92f35.1."}), None),
        (b'["traceparent"]', None),
        (b"traceparent " + PARENT.encode(), None),
        (b'{"traceparent": ', None),
        (b"\xff\xfe traceparent", None),
        (b'{"traceparent":' * 40_000, None),
        (b"", None),
    ],
)
def test_the_senders_trace_is_at_the_top_level_of_a_json_object(
    text: bytes, context: TraceContext | None
) -> None:
    assert sent_with(text) == context


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        (PARENT, True),
        (PARENT.replace("00-", "01-", 1) + "-more", True),
        (PARENT + "-more", False),
        (PARENT.upper(), False),
        (PARENT.replace("00-", "ff-", 1), False),
        ("00-" + "0" * 32 + "-b7ad6b7169203331-01", False),
        ("00-0af7651916cd43dd8448eb211c80319c-" + "0" * 16 + "-01", False),
        (PARENT[:-1], False),
        (PARENT + "\n", False),
    ],
)
def test_a_traceparent_is_what_the_standard_says(text: str, *, valid: bool) -> None:
    assert is_parent(text) is valid


def test_its_parts_are_read_by_their_places() -> None:
    context = TraceContext(parent=PARENT)

    assert context.trace_id == "0af7651916cd43dd8448eb211c80319c"
    assert (context.span_id, context.flags) == ("b7ad6b7169203331", 1)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (
            b'{"id": 1.50, "a" : "\\u00e9"}',
            f'{{"traceparent":"{OURS.parent}","tracestate":"k=v","id": 1.50, "a" : "\\u00e9"}}',
        ),
        (b" \n{}", f' \n{{"traceparent":"{OURS.parent}","tracestate":"k=v"}}'),
        (b'{"tracestate":1}', f'{{"traceparent":"{OURS.parent}","tracestate":1}}'),
    ],
)
def test_only_the_new_members_change_an_object(text: bytes, written: str) -> None:
    assert injected(text, OURS) == written.encode()


@pytest.mark.parametrize(
    "text",
    [
        b"hello {",
        b"[1]",
        b'"{}"',
        b"{",
        b"{'a': 1}",
        b"\xff{}",
        '{"a": 1}'.encode("utf-16-le"),
        '{"a": 1}'.encode("utf-32-le"),
        b"",
        body(traceparent=PARENT),
        body(**{"Diagnostic-Id": "x"}),
        b'{"a":"' + b"x" * LARGEST_BODY + b'"}',
    ],
)
def test_everything_else_is_left_as_it_is(text: bytes) -> None:
    assert injected(text, OURS) is text


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.none()))
def test_what_was_put_in_is_found_again_and_nothing_else_is_lost(
    members: dict[str, object],
) -> None:
    written = injected(json.dumps(members).encode(), OURS)

    content = json.loads(written)
    assert sent_with(written) == OURS
    assert {name: content[name] for name in members} == members
    assert len(content) == len(members) + 2
