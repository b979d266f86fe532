"""Live data as server-sent events: the run's live.jsonl, read as it grows.

Each spectator reads the file by itself, from where it is, and is sent no more than it takes:
nothing is kept for slow ones, and one that takes nothing for a while is let go.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from linerate.live import FILE
from linerate.serve.guard import Receive, Scope, Send
from linerate.serve.library import Library
from linerate.serve.protocol import abort

#: Spectators at a time.
STREAMS_MAX = 64
POLL_SECONDS = 0.5
#: How often it is looked for a run, and whether one has ended without saying so.
LOOK_SECONDS = 2.0
HEARTBEAT_SECONDS = 15.0
#: A spectator that takes nothing for so long is let go.
SLOW_SECONDS = 10.0
#: Of a long run, those who come late see the end.
BACKLOG_BYTES = 4_000_000
CHUNK_BYTES = 256_000


class Streams:
    """How many spectators there are."""

    def __init__(self) -> None:
        self.open = 0

    @property
    def full(self) -> bool:
        """Whether there is room for no more."""
        return self.open >= STREAMS_MAX


class EventStream(Response):
    """An answer that ends when the run does."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], streams: Streams) -> None:
        super().__init__()
        self._events = events
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the spectator or the events are gone."""
        self._streams.open += 1
        tasks = {asyncio.create_task(self._pump(scope, send)), asyncio.create_task(_gone(receive))}
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            self._streams.open -= 1

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


def event(name: str, data: Any, number: int | None = None) -> bytes:  # noqa: ANN401 (JSON)
    """One event."""
    identity = f"id: {number}\n" if number is not None else ""
    return f"{identity}event: {name}\ndata: {json.dumps(data)}\n\n".encode()


async def live(library: Library, name: str | None, offset: int) -> AsyncIterator[bytes]:
    """Events of a run, or of the one that runs: the lines of its live.jsonl from `offset`."""
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
    yield event("run", {"name": name})
    async for chunk in _lines(library, name, offset):
        yield chunk
    yield event("end", {"name": name})


async def _lines(library: Library, name: str, offset: int) -> AsyncIterator[bytes]:
    """What is in the file, and what comes, until the run has ended."""
    path = library.folder(name) / FILE
    offset = max(offset, _first(path))
    quiet = 0.0
    while True:
        text, offset = _read(path, offset)
        if text:
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


def _first(path: Path) -> int:
    """Where to begin: not at the beginning of a file that is very long."""
    with contextlib.suppress(OSError):
        size = path.stat().st_size
        if size > BACKLOG_BYTES:
            with path.open("rb") as file:
                file.seek(size - BACKLOG_BYTES)
                file.readline()
                return file.tell()
    return 0


def _read(path: Path, offset: int) -> tuple[bytes, int]:
    """Whole lines from there on, as events numbered by where the next one begins."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            text = file.read(CHUNK_BYTES)
    except OSError:
        return b"", offset
    events = []
    for line in text.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        offset += len(line)
        events.append(b"id: %d\ndata: %s\n\n" % (offset, line.strip()))
    return b"".join(events), offset


def _ended(text: bytes) -> bool:
    """Whether the run said that it ended, and nothing after that."""
    last = text.rstrip().rsplit(b"data: ", 1)[-1]
    with contextlib.suppress(ValueError):
        said = json.loads(last)
        return bool(said.get("event") == "status" and said.get("status") != "running")
    return False
