"""HTTP connections that can't wear the server out: so many, and each has to ask in time."""

import asyncio
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


class Bounded(H11Protocol):
    """uvicorn's own, which waits for a request for ever."""

    _deadline: asyncio.TimerHandle | None = None

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
        elif self._deadline is None:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._stop_expecting()
        if self.transport is not None:
            super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Go on: what comes next has a deadline of its own (uvicorn closes idle connections)."""
        self._stop_expecting()
        super().on_response_complete()

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
