"""uvicorn on a socket of ours, with connections that are bounded."""

import socket

import uvicorn

from linerate.ui.web.guard import App
from linerate.ui.web.protocol import HEADERS_BYTES, Bounded

BACKLOG = 1024
#: Between two requests of one connection.
IDLE_SECONDS = 10
#: For answers that are under way when the server ends.
GRACE_SECONDS = 2


class _Uvicorn(uvicorn.Server):
    """Does not wait for live data, which would go on."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let spectators go, and then end as ever."""
        for connection in list(self.server_state.connections):
            scope = getattr(connection, "scope", None)
            if scope and scope["path"] == "/api/live":
                connection.transport.abort()
        await super().shutdown(sockets)


class Server:
    """Listens from the first, so that its port is known before it runs."""

    def __init__(self, app: App, host: str, port: int) -> None:
        """Raises OSError when it can't listen there."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, port))
            self._socket.listen(BACKLOG)
        except BaseException:
            self._socket.close()
            raise
        self._server = _Uvicorn(
            uvicorn.Config(
                app,
                http=Bounded,
                ws="none",
                loop="asyncio",
                # An address may have the token in it: none is written down.
                access_log=False,
                # Malformed requests are no news; errors of our own are.
                log_level="error",
                server_header=False,
                proxy_headers=False,
                backlog=BACKLOG,
                timeout_keep_alive=IDLE_SECONDS,
                timeout_graceful_shutdown=GRACE_SECONDS,
                h11_max_incomplete_event_size=HEADERS_BYTES,
            )
        )

    @property
    def address(self) -> str:
        """Where it is, as an address for a browser on this host."""
        host, port = self._socket.getsockname()[:2]
        named = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
        return f"http://[{named}]:{port}" if ":" in named else f"http://{named}:{port}"

    def run(self) -> None:
        """Serve until SIGINT or SIGTERM."""
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """End soon; may be called from any thread."""
        self._server.should_exit = True
