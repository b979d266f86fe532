"""HTTP connections that can't exhaust the server.

They are limited in number, and have deadlines for reading and writing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

#: In the scope of a request: its connection.
TRANSPORT = "linerate.transport"
#: Further ones are closed at once.
CONNECTIONS_MAX = 2048
#: From the first byte, or from connecting, to the end of the headers.
HEADERS_SECONDS = 10.0
#: Request line and headers together.
HEADERS_BYTES = 16_384
#: An answer is handed to the connection in pieces of this size, so that no more of it is copied
#: than is taken.
PIECE_BYTES = 65_536
#: Whoever does not take a piece within this time is let go.
READ_SECONDS = 10.0

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]


class Bounded(H11Protocol):
    """uvicorn's own, which waits for a request for ever."""

    _deadline: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, if there are not too many."""
        if len(self.connections) >= CONNECTIONS_MAX:
            transport.abort()
            return
        super().connection_made(transport)
        self.app = self._with_transport(self.app)
        self._expect()

    def _with_transport(self, app: Any) -> Any:  # noqa: ANN401 (an ASGI application)
        async def named(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401
            scope[TRANSPORT] = self.transport
            await app(scope, receive, send)

        return named

    def data_received(self, data: bytes) -> None:
        """Take what came; once a request is whole it is no more waited for."""
        if self.transport is None:
            return
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_expecting()
            self._stop_flushing()
        elif self._deadline is None:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._stop_expecting()
        self._stop_flushing()
        if self.transport is not None:
            super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Go on: what comes next has a deadline of its own (uvicorn closes idle connections)."""
        self._stop_expecting()
        super().on_response_complete()
        if self.cycle.response_complete:
            self._flush()

    def _flush(self) -> None:
        """Wait until the end of an answer is read, but no longer: closing would wait for ever."""
        self._stop_flushing()
        if self.transport.get_write_buffer_size():
            self._unread = self.loop.call_later(READ_SECONDS, self._not_read)

    def _stop_flushing(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _not_read(self) -> None:
        self._unread = None
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def _expect(self) -> None:
        self._deadline = self.loop.call_later(HEADERS_SECONDS, self._too_late)

    def _stop_expecting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        self._deadline = None
        if self.transport is not None and not self.transport.is_closing():
            self.transport.abort()


def in_pieces(scope: MutableMapping[str, Any], send: Send) -> Send:
    """Send so that who does not read is let go, and all that was kept for the answer with it."""

    async def out(message: Message) -> None:
        try:
            for piece in _pieces(message):
                async with asyncio.timeout(READ_SECONDS):
                    await send(piece)
        except TimeoutError:
            await abort(scope)

    return out


def _pieces(message: Message) -> Iterator[Message]:
    body = message.get("body", b"")
    if len(body) <= PIECE_BYTES:
        yield message
        return
    last = (len(body) - 1) // PIECE_BYTES * PIECE_BYTES
    for at in range(0, last, PIECE_BYTES):
        yield {**message, "body": body[at : at + PIECE_BYTES], "more_body": True}
    yield {**message, "body": body[last:]}


async def abort(scope: MutableMapping[str, Any]) -> None:
    """Close a connection whose peer does not read, which else would be waited for."""
    transport = scope.get(TRANSPORT)
    if transport is not None:
        transport.abort()
        # Data sent from now on is left out.
        await asyncio.sleep(0)
