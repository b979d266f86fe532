"""Client of DPDK's telemetry socket (version 2): one command, one JSON answer."""

import json
import logging
import os
import socket
import struct
import time
from pathlib import Path
from typing import Any, Self

from linerate.base.errors import UserError

#: No engine command takes longer, the round trip included, on a host that has the time.
TIMEOUT_SECONDS = 10.0
#: Further timeouts for an answer while the host is short of CPU time.
MORE_WAITS = 2
_LOG = logging.getLogger(__name__)
#: The greeting is short; it says how long answers may be.
_GREETING_BYTES = 1024
#: struct ucred: process, user, group.
_CREDENTIALS = struct.Struct("3i")


class TelemetryError(UserError):
    """The engine did not answer, or answered nonsense."""


class NoAnswerError(TelemetryError):
    """The engine answered nothing in time: the host kept it from its CPU."""


class _ClosedError(TelemetryError):
    """The engine closed the connection."""


class TurnedAwayError(TelemetryError):
    """The engine serves as many clients as it can, and has no place for another now."""


class RefusedError(TelemetryError):
    """The engine refused a command, and answers others; it may say more than the reason."""

    def __init__(self, reply: str, answer: dict[str, Any]) -> None:
        """`answer` is the whole reply, the reason as `error`; it may be empty."""
        super().__init__(reply)
        self.answer = answer


class Telemetry:
    """A connection to one engine."""

    def __init__(
        self,
        path: Path,
        timeout_seconds: float = TIMEOUT_SECONDS,
        until: float | None = None,
    ) -> None:
        """Connect; raises TelemetryError when nothing listens there.

        `timeout_seconds` is for each answer, `until` (of the monotonic clock) for all together.
        """
        self._path = path
        self._timeout_seconds = timeout_seconds
        self._until = until
        #: An answer is still to come, and would be taken for that to the next command.
        self._is_stale = False
        self._open()

    def _open(self) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._limit_waiting()
            self._connect()
            self.greeting = self._greeting()
            self._max_bytes = int(self.greeting["max_output_len"])
        except TimeoutError as error:
            self.close()
            raise NoAnswerError(f"{self._path}: {_reason(error)}") from error
        except (OSError, KeyError, TypeError, ValueError) as error:
            self.close()
            raise TelemetryError(f"{self._path}: {_reason(error)}") from error
        except TelemetryError:
            self.close()
            raise

    def _limit_waiting(self) -> None:
        """Wait no longer than is left; raises TimeoutError when nothing is."""
        left = self._timeout_seconds
        if self._until is not None:
            left = min(left, self._until - time.monotonic())
        if left <= 0:
            raise TimeoutError
        self._socket.settimeout(left)

    def _connect(self) -> None:
        try:
            self._socket.connect(str(self._path))
        except BlockingIOError as error:
            raise TurnedAwayError(f"{self._path}: too many clients come at once") from error
        listener = peer_user(self._socket)
        if listener not in (os.geteuid(), 0):
            raise TelemetryError(
                f"{self._path}: user {listener} listens there, who is neither you nor root: "
                "not believed"
            )

    def _greeting(self) -> dict[str, Any]:
        try:
            return self._receive("greeting", _GREETING_BYTES)
        except (ConnectionResetError, _ClosedError) as error:
            raise TurnedAwayError(f"{self._path}: the engine turned us away") from error

    def _receive(self, what: str, max_bytes: int) -> dict[str, Any]:
        data = self._socket.recv(max_bytes)
        if not data:
            raise _ClosedError(f"{self._path}: {what}: the engine closed the connection")
        try:
            answer = json.loads(data)
        except ValueError as error:
            raise TelemetryError(f"{self._path}: {what}: no JSON: {data[:60]!r}") from error
        if not isinstance(answer, dict):
            raise TelemetryError(f"{self._path}: {what}: expected an object: {data[:60]!r}")
        return answer

    def ask(self, command: str) -> Any:  # noqa: ANN401 (an answer may be of any JSON type)
        """Send one command (`/linerate/info`) and return what it answered.

        After NoAnswerError it may be called again, over a new connection.
        """
        if self._is_stale:
            self._open_anew(command)
        try:
            self._limit_waiting()
            self._socket.send(command.encode(errors="replace"))
            answer = self._patiently(command)
        except TimeoutError as error:
            self._is_stale = True
            raise NoAnswerError(f"{self._path}: {command}: {_reason(error)}") from error
        except OSError as error:
            raise TelemetryError(f"{self._path}: {command}: {_reason(error)}") from error
        name = command.split(",", maxsplit=1)[0]
        if answer.get(name) is None:
            raise RefusedError(f"{self._path}: {command}: the engine refused the command", {})
        if isinstance(answer[name], dict) and "error" in answer[name]:
            reply = f"{self._path}: {command}: {answer[name]['error']}"
            raise RefusedError(reply, answer[name])
        return answer[name]

    def _open_anew(self, command: str) -> None:
        """Connect again; a starved engine still serves the connections that were left."""
        self._socket.close()
        try:
            self._open()
        except TurnedAwayError as error:
            raise NoAnswerError(f"{self._path}: {command}: {_reason(TimeoutError())}") from error
        self._is_stale = False

    def _patiently(self, command: str) -> dict[str, Any]:
        """Wait for an answer a few times as long as one takes; say so each time but the first.

        The command is not sent again: its answer would be taken for that to the next one. Who has
        a time limit of his own waits no longer.
        """
        more = MORE_WAITS if self._until is None else 0
        for number in range(more):
            try:
                return self._receive(command, self._max_bytes)
            except TimeoutError:
                _LOG.warning(
                    "linerate: %s: no answer within %g s, waiting again (%d of %d): the host is "
                    "short of CPU time",
                    command,
                    self._timeout_seconds,
                    number + 1,
                    more,
                )
        return self._receive(command, self._max_bytes)

    def table(self, command: str) -> list[dict[str, Any]]:
        """Ask for a table (equally long arrays, one a column) and return its rows."""
        return rows(self.ask(command), command)

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def peer_user(connected: socket.socket) -> int:
    """Number of the user whose process listens at the other end of a Unix socket."""
    peer = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(peer)[1])


def rows(answer: Any, command: str) -> list[dict[str, Any]]:  # noqa: ANN401 (as `ask`)
    """Turn equally long columns into rows; what is no column is left out."""
    if not isinstance(answer, dict):
        raise TelemetryError(f"{command}: expected columns, got {answer!r}")
    columns = {name: values for name, values in answer.items() if isinstance(values, list)}
    if len({len(values) for values in columns.values()}) > 1:
        lengths = ", ".join(f"{name} {len(values)}" for name, values in columns.items())
        raise TelemetryError(f"{command}: columns of different length: {lengths}")
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def _reason(error: Exception) -> str:
    """Say in words what went wrong."""
    if isinstance(error, TimeoutError):
        return "no answer in time; `linerate doctor` says what else runs on this host"
    if isinstance(error, FileNotFoundError):
        return "no engine (no such socket)"
    if isinstance(error, ConnectionRefusedError):
        return "no engine (no listener)"
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    return f"greeting is not DPDK's: {error}"
