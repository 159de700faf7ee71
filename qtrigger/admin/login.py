"""The page at which somebody gives a key, and the session that it opens.

Owns the form and its cookie. The page needs no script: the form is sent by the browser itself, so
that our own header cannot come with it, and its origin alone is looked at.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import parse_qs

from qtrigger.admin.keys import SESSION_S
from qtrigger.admin.paths import BadTarget, target_of
from qtrigger.admin.route import Answer, Asked, Right, Route
from qtrigger.admin.security import Caller, Gate, Refused, cookie_name
from qtrigger.admin.telling import Telling

HTML: Final = "text/html; charset=utf-8"
_LARGEST_FORM: Final = 8192

_PAGE: Final = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>qtrigger: key</title>
<link rel="stylesheet" href="/assets/dashboard.css">
<main class="login">
<h1>qtrigger</h1>
<p>{note}</p>
<form method="post" action="/login">
<input type="hidden" name="next" value="{next}">
<p><label>Key of this host <input type="password" name="key" autocomplete="current-password"
 required autofocus></label> <button>Go on</button></p>
</form>
<p>Whoever started the host set it as QTRIGGER_HTTP_KEY or QTRIGGER_HTTP_READ_KEY.
If you have given it already and came by a link from elsewhere, <a href="{next}">go on</a>.</p>
</main>
</html>
"""


class Login:
    """Opens and closes sessions at `/login` and `/logout`."""

    def __init__(self, gate: Gate, telling: Telling) -> None:
        self._gate = gate
        self._telling = telling
        self._paths = {"/login", "/logout"}

    def routes(self) -> Sequence[Route]:
        """What is answered where."""
        return (
            Route(method="GET", path="/login", right=Right.OPEN, answer=self._form),
            Route(
                method="POST",
                path="/login",
                right=Right.OPEN,
                answer=self._login,
                largest_body=_LARGEST_FORM,
            ),
            Route(
                method="POST",
                path="/logout",
                right=Right.OPEN,
                answer=self._logout,
                largest_body=_LARGEST_FORM,
            ),
        )

    def is_form(self, route: Route | None) -> bool:
        """Whether a browser's form is sent there."""
        return route is not None and route.path in self._paths

    def page(self, status: int, after: str, note: str = "A key is needed.") -> Answer:
        """The page; `after` is the path that is shown once the key was given."""
        text = _PAGE.format(note=html.escape(note), next=html.escape(_local(after)))
        return Answer(status=status, body=text.encode(), content_type=HTML)

    async def _form(self, asked: Asked) -> Answer:
        return self.page(200, asked.query.get("next", "/"))

    async def _login(self, asked: Asked) -> Answer:
        given = _fields(asked.body)
        after = _local(given.get("next", "/"))
        caller = Caller(key=given.get("key", ""), remote=asked.remote)
        who = self._gate.who(caller, Right.READ)
        if isinstance(who, Refused):
            self._telling.refused(
                reason=who.reason,
                status=who.status,
                method="POST",
                target="/login",
                remote=asked.remote,
            )
            return self.page(who.status, after, f"{who.text[:1].upper()}{who.text[1:]}.")
        secure = asked.headers.get("Origin", "").startswith("https:")
        cookie = self._cookie(self._gate.sessions.begin(who), SESSION_S, secure=secure)
        return Answer(status=303, headers={"Location": after, "Set-Cookie": cookie})

    async def _logout(self, asked: Asked) -> Answer:
        name = cookie_name(self._gate.place.port)
        for each in asked.headers.get("Cookie", "").split(";"):
            key, _, value = each.strip().partition("=")
            if key == name:
                self._gate.sessions.end(value)
        cookie = self._cookie("", 0.0, secure=False)
        return Answer(status=303, headers={"Location": "/login", "Set-Cookie": cookie})

    def _cookie(self, value: str, for_s: float, *, secure: bool) -> str:
        name = cookie_name(self._gate.place.port)
        more = "; Secure" if secure else ""
        return f"{name}={value}; Path=/; Max-Age={for_s:.0f}; HttpOnly; SameSite=Strict{more}"


def _fields(body: bytes) -> Mapping[str, str]:
    try:
        found = parse_qs(body.decode("utf-8", "replace"), max_num_fields=8)
    except ValueError:
        return {}
    return {name: values[0] for name, values in found.items()}


def _local(path: str) -> str:
    """A path of this server, whatever was given."""
    try:
        target_of(path)
    except BadTarget:
        return "/"
    return path
