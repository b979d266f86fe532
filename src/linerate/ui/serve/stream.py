"""Live data as server-sent events: the run's live.jsonl, read as it grows.

Each spectator reads the file by itself, from where it is, and is sent no more than it takes:
nothing is kept for slow ones, and one that takes nothing for a while is let go.
"""

import asyncio
import contextlib
import json
import os
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from linerate.base.open_beneath import open_beneath
from linerate.results.journal import FILE
from linerate.ui.serve.library import Library, NoSuchRunError
from linerate.ui.web.guard import Receive, Scope
from linerate.ui.web.protocol import Send, abort

#: Spectators at a time.
STREAMS_MAX = 64
POLL_SECONDS = 0.5
#: Interval of the search for a run, and for one that ended without a record.
LOOK_SECONDS = 2.0
HEARTBEAT_SECONDS = 15.0
#: A spectator that takes nothing for so long is let go.
SLOW_SECONDS = 10.0
#: For a long run, late viewers see the end.
BACKLOG_BYTES = 4_000_000
CHUNK_BYTES = 256_000


class Streams:
    """Number of spectators; may be read from any thread."""

    def __init__(self) -> None:
        self.open = 0
        self._lock = threading.Lock()

    def enter(self) -> bool:
        """Count one more, if there is room for it."""
        with self._lock:
            if self.open >= STREAMS_MAX:
                return False
            self.open += 1
            return True

    def leave(self) -> None:
        """Count one less."""
        with self._lock:
            self.open -= 1


class EventStream(Response):
    """An answer that ends when the run does, of a spectator that has been counted."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], streams: Streams) -> None:
        super().__init__()
        self._events = events
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the spectator or the events are gone."""
        tasks = {asyncio.create_task(self._pump(scope, send)), asyncio.create_task(_gone(receive))}
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            self._streams.leave()

    async def _pump(self, scope: Scope, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        try:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            async for chunk in self._events:
                async with asyncio.timeout(SLOW_SECONDS):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        except (TimeoutError, OSError):
            # Too slow, or gone: what is kept for the connection goes with it.
            await abort(scope)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def event(name: str, data: Any) -> bytes:  # noqa: ANN401 (JSON)
    """One event."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


def _identity(name: str) -> bytes:
    """Prefix of the numbers of a run's events: another run's mean nothing there."""
    return f"{quote(name, safe='')}:".encode()


def _offset_of(last_id: str, name: str) -> int:
    """Where the line after an event began; 0 if that event was of another run."""
    message = last_id.removeprefix(_identity(name).decode())
    known = message != last_id and message.isascii() and message.isdigit()
    return int(message[:18]) if known else 0


async def live(
    library: Library, name: str | None, offset: int = 0, last_id: str = ""
) -> AsyncIterator[bytes]:
    """Events of a run, or of the one that runs: the lines of its live.jsonl.

    Those from `offset` on, or those after the event `last_id`; all if no line begins there.
    """
    waited = 0.0
    while name is None:
        name = await run_in_threadpool(library.running)
        if name is None:
            if waited == 0.0:
                yield event("waiting", {})
            elif waited % HEARTBEAT_SECONDS < LOOK_SECONDS:
                yield b": nothing runs\n\n"
            waited += LOOK_SECONDS
            await asyncio.sleep(LOOK_SECONDS)
    try:
        # It may have to read the folder.
        path = await run_in_threadpool(library.folder, name) / FILE
    except NoSuchRunError:
        yield event("end", {"name": name})
        return
    offset = _line_start(path, _offset_of(last_id, name) if last_id else offset)
    # A viewer that gets all from the beginning discards its earlier data.
    yield event("run", {"name": name, "resumed": offset > 0})
    async for chunk in _lines(library, path, max(offset, _first(path))):
        yield chunk
    yield event("end", {"name": name})


async def _lines(library: Library, path: Path, offset: int) -> AsyncIterator[bytes]:
    """Lines of the file, and new ones, until the run has ended."""
    name = path.parent.name
    quiet = 0.0
    while True:
        before = offset
        text, offset = _read(path, offset)
        if offset > before:
            quiet = 0.0
            yield text
            if _ended(text):
                return
            continue
        if quiet % LOOK_SECONDS < POLL_SECONDS and not await run_in_threadpool(
            library.is_running, name
        ):
            # Something may have been written since it was read.
            text, offset = _read(path, offset)
            if text:
                yield text
            return
        await asyncio.sleep(POLL_SECONDS)
        quiet += POLL_SECONDS
        if quiet % HEARTBEAT_SECONDS < POLL_SECONDS:
            yield b": nothing new\n\n"


def _opened(path: Path) -> contextlib.AbstractContextManager[IO[bytes]]:
    """The file of a run, opened from the folder of all of them."""
    return open_beneath(path.parent.parent, f"{path.parent.name}/{path.name}")


def _line_start(path: Path, offset: int) -> int:
    """The offset, if a line begins there; the beginning of all else."""
    if offset > 0:
        with contextlib.suppress(OSError), _opened(path) as file:
            file.seek(offset - 1)
            if file.read(1) == b"\n":
                return offset
    return 0


def _first(path: Path) -> int:
    """Where to begin: not at the beginning of a file that is very long."""
    with contextlib.suppress(OSError), _opened(path) as file:
        size = file.seek(0, os.SEEK_END)
        if size > BACKLOG_BYTES:
            file.seek(size - BACKLOG_BYTES)
            file.readline()
            return file.tell()
    return 0


def _read(path: Path, offset: int) -> tuple[bytes, int]:
    """Whole lines from there on, as events numbered by where the next one begins."""
    try:
        with _opened(path) as file:
            file.seek(offset)
            text = file.read(CHUNK_BYTES)
    except OSError:
        return b"", offset
    identity = _identity(path.parent.name)
    events = []
    for line in text.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        offset += len(line)
        if _is_event(line):
            events.append(b"id: %s%d\ndata: %s\n\n" % (identity, offset, line.strip()))
    return b"".join(events), offset


def _is_event(line: bytes) -> bool:
    """Whether a run wrote it: what else a file of that name holds is sent to no spectator."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and "event" in message


def _ended(text: bytes) -> bool:
    """Whether the run recorded its end, and nothing after that."""
    last = text.rstrip().rsplit(b"data: ", 1)[-1]
    with contextlib.suppress(ValueError):
        message = json.loads(last)
        return bool(message.get("event") == "status" and message.get("status") != "running")
    return False
