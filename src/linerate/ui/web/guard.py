"""Access control: the one door before all pages and the API.

On loopback everybody on this host may read. Off loopback nothing is read without the token, and
nothing is started or stopped without it anywhere. A browser shows the token once, in an address,
and keeps a cookie instead, which is derived from it and does not say it.
"""

import asyncio
import hashlib
import hmac
import html
import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from linerate.ui.web.protocol import Message, Send, in_pieces

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "linerate"
#: Header that our pages add to requests that change something: no page of another host can.
OWN_HEADER = b"x-linerate"
#: In the scope: whether who asks has the token.
KNOWN = "linerate.known"
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")
SAFE = ("GET", "HEAD", "OPTIONS")
BODY_BYTES = 65_536
BODY_SECONDS = 10.0
#: Requests at a time, streams of live data not counted; each is short.
REQUESTS_MAX = 64
#: Scripts and styles are files of ours only. Attributes may be styles: colours of the reports'
#: legends, heights of pictures.
POLICY = (
    "default-src 'self'; style-src-elem 'self'; style-src-attr 'unsafe-inline'; "
    "img-src 'self' data:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules for requests."""

    #: Nothing is read without the token.
    closed: bool
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def cookie(self) -> str:
        """Cookie derived from the token."""
        return hmac.new(self.token.encode(), b"linerate cookie", hashlib.sha256).hexdigest()


class RefusedError(Exception):
    """A request that goes no further."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Guard:
    """The door."""

    def __init__(self, app: App, rules: Rules) -> None:
        self._app = app
        self._rules = rules
        self._requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it here."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        out = _with_headers(in_pieces(scope, send), HEADERS)
        try:
            if target := self._enter(scope):
                await _redirect(out, target, self._rules.cookie)
                return
            await self._count(scope, await _whole(scope, receive), out)
        except RefusedError as refused:
            await _say(scope, out, refused)

    async def _count(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a limited number at a time; live data counts its own."""
        if scope["path"] == "/api/live":
            await self._app(scope, receive, send)
            return
        if self._requests >= REQUESTS_MAX:
            raise RefusedError(503, "too many requests at a time: try again")
        self._requests += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._requests -= 1

    def _enter(self, scope: Scope) -> str:
        """Look at who asks; returns where to send a browser that showed the token, or nothing."""
        headers = dict(scope["headers"])
        if not self._rules.closed and _host(headers) not in LOOPBACK_NAMES:
            raise RefusedError(403, "Host header not allowed")
        by_header, by_cookie = self._bearer(headers), self._cookie(headers)
        scope[KNOWN] = by_header or by_cookie
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        shown = [value for name, value in query if name == "token"]
        if shown and scope["method"] in ("GET", "HEAD"):
            if not _same(shown[0], self._rules.token):
                raise RefusedError(401, "that is not the token that linerate serve printed")
            rest = urlencode([(name, value) for name, value in query if name != "token"])
            # One slash at its front: two would be another host.
            path = "/" + quote(scope["path"].lstrip("/\\"))
            return path + (f"?{rest}" if rest else "")
        if scope["method"] not in SAFE:
            self._change(headers, scope[KNOWN], by_header)
        elif self._rules.closed and not scope[KNOWN]:
            raise RefusedError(401, "open the address with the token that linerate serve printed")
        return ""

    def _change(self, headers: dict[bytes, bytes], known: bool, by_header: bool) -> None:
        """Requests that start or stop something need the token, and come from our own page."""
        if not known:
            raise RefusedError(401, "open the address with the token that linerate serve printed")
        origin = headers.get(b"origin")
        if origin is not None and urlsplit(origin.decode("latin-1")).netloc != headers.get(
            b"host", b""
        ).decode("latin-1"):
            raise RefusedError(403, "a page of another host asks for this")
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            raise RefusedError(403, "a page of another host asks for this")
        if not by_header and OWN_HEADER not in headers:
            raise RefusedError(403, "the header X-Linerate is missing")

    def _bearer(self, headers: dict[bytes, bytes]) -> bool:
        scheme, _, value = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        return scheme.lower() == "bearer" and _same(value.strip(), self._rules.token)

    def _cookie(self, headers: dict[bytes, bytes]) -> bool:
        pairs = headers.get(b"cookie", b"").decode("latin-1").split(";")
        kept = [pair.strip().partition("=")[2] for pair in pairs
                if pair.strip().startswith(f"{COOKIE}=")]  # fmt: skip
        return any(_same(value, self._rules.cookie) for value in kept)


def _same(given: str, wanted: str) -> bool:
    """Compare in the same time, wherever they differ."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _host(headers: dict[bytes, bytes]) -> str:
    """The name by which a browser asks: another site's that resolves to us is not ours."""
    try:
        return urlsplit(f"//{headers.get(b'host', b'').decode('latin-1')}").hostname or ""
    except ValueError:
        return ""


async def _whole(scope: Scope, receive: Receive) -> Receive:
    """Read the body, which is short, before anything is done about it."""
    if scope["method"] in ("GET", "HEAD"):
        return receive
    text = dict(scope["headers"]).get(b"content-length", b"0")
    if text.isdigit() and int(text) > BODY_BYTES:
        raise RefusedError(413, f"a request has {BODY_BYTES:,} bytes at most")
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            more = True
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    raise RefusedError(400, "the request is not whole")
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > BODY_BYTES:
                    raise RefusedError(413, f"a request has {BODY_BYTES:,} bytes at most")
    except TimeoutError as error:
        raise RefusedError(408, "the request did not come in time") from error
    replayed = False

    async def again() -> Message:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _with_headers(send: Send, headers: tuple[tuple[bytes, bytes], ...]) -> Send:
    """Say with each answer what a browser may do with it."""

    async def out(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name for name, _ in message["headers"]}
            added = [pair for pair in headers if pair[0] not in given]
            if b"cache-control" not in given:
                added.append((b"cache-control", b"no-store"))
            message["headers"] = [*message["headers"], *added]
        await send(message)

    return out


async def _redirect(send: Send, target: str, cookie: str) -> None:
    kept = f"{COOKIE}={cookie}; Path=/; HttpOnly; SameSite=Strict"
    headers = [(b"location", target.encode("latin-1", "replace")), (b"set-cookie", kept.encode()),
               (b"content-length", b"0")]  # fmt: skip
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def _say(scope: Scope, send: Send, refused: RefusedError) -> None:
    """Refuse in a line: JSON for programs, a page for people."""
    if scope["path"].startswith("/api/"):
        kind, body = "application/json", json.dumps({"detail": str(refused)})
    else:
        kind = "text/html; charset=utf-8"
        text = html.escape(str(refused))
        body = f'<!DOCTYPE html><html lang="en"><title>linerate</title><p>{text}</p></html>'
    data = body.encode()
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(data)).encode()),
               (b"connection", b"close")]  # fmt: skip
    if refused.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if refused.status == 503:
        headers.append((b"retry-after", b"1"))
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else data})
