"""How what happens at the HTTP face reads as log lines.

Owns their public names, levels and texts; see `lines`.
"""

from __future__ import annotations

import logging

from qtrigger.events import AdminAction, HttpListening, HttpRefused
from qtrigger.telemetry.line import Line, line_of


@line_of.register
def _(event: HttpListening) -> Line:
    instead = f", since port {event.instead_of} is taken" if event.instead_of else ""
    return Line(
        event="http.listening",
        level=logging.INFO if event.instead_of else logging.DEBUG,
        tag="http",
        text=f"{' and '.join(event.addresses)}{instead}"
        + ("; a key is needed" if event.keyed else ""),
        fields={
            "addresses": list(event.addresses),
            "keyed": event.keyed,
            "instead_of": event.instead_of,
        },
    )


@line_of.register
def _(event: HttpRefused) -> Line:
    more = f"{event.count} requests since the last line, the last: " if event.count > 1 else ""
    return Line(
        event="http.refused",
        level=logging.INFO if event.reason == "no key" else logging.WARNING,
        tag="http",
        text=f"refused {more}{event.method} {event.path} from {event.remote}: "
        f"{event.reason} ({event.status})",
        fields={
            "reason": event.reason,
            "status": event.status,
            "method": event.method,
            "path": event.path,
            "remote": event.remote,
            "count": event.count,
        },
    )


@line_of.register
def _(event: AdminAction) -> Line:
    done = event.status < 400
    on = f" {event.target}" if event.target else ""
    return Line(
        event="admin.action",
        level=logging.INFO if done else logging.WARNING,
        tag="http",
        text=f"{event.action}{on} by {event.who} from {event.remote}"
        + ("" if done else f": refused ({event.status})"),
        fields={
            "action": event.action,
            "who": event.who,
            "target": event.target,
            "ok": done,
            "status": event.status,
            "remote": event.remote,
        },
    )
