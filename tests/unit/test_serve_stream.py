"""Live data: each line once, from where the spectator is; who takes nothing is let go."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.many_runs import make_many

from linerate.ui.serve import stream
from linerate.ui.serve.library import Library
from linerate.ui.web.protocol import TRANSPORT


@pytest.fixture
def measured(tmp_path):
    """A run with three lines and a half, and its name."""
    (name,) = make_many(tmp_path, 1)
    lines = [{"event": "trial"}, {"event": "closed"}, {"event": "status", "status": "complete"}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / name / "live.jsonl").write_text(text + '{"event": "ha')
    return Library(tmp_path), name


def events(measured, offset=0, last_id=""):
    library, name = measured

    async def collect():
        return [chunk async for chunk in stream.live(library, name, offset, last_id)]

    text = b"".join(asyncio.run(collect())).decode()
    found = []
    for block in text.split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.splitlines())
        data = json.loads(fields["data"])
        found.append((fields.get("event", "message"), fields.get("id"), data))
    return found


def test_whole_lines_and_then_the_end(measured):
    found = events(measured)
    assert [kind for kind, _, _ in found] == ["run", "message", "message", "message", "end"]
    assert [data.get("event") for _, _, data in found] == [None, "trial", "closed", "status", None]
    assert found[0][2] == {"name": measured[1], "resumed": False}
    # From each number on: what is after it, and nothing twice.
    for at in (1, 2, 3):
        last_id = found[at][1]
        for rest in (
            events(measured, last_id=last_id),
            events(measured, int(last_id.rpartition(":")[2])),
        ):
            assert rest[0][2] == {"name": measured[1], "resumed": True}
            assert rest[1:] == found[at + 1 :]


def test_what_another_run_reported_is_no_place_in_this_one(measured):
    found = events(measured)
    name, _, offset = found[1][1].rpartition(":")
    for last_id in (
        f"{name}-2:{offset}",  # another run's
        f"{name}:{int(offset) + 1}",  # amid a line
        f"{name}:{10**12}",  # behind the end
        f"{name}:٣",
        f"{name}:",
        offset,
        "nonsense",
    ):
        assert events(measured, last_id=last_id) == found, last_id
    assert events(measured, int(offset) + 1) == found


def test_a_name_of_any_characters_is_known_again(tmp_path):
    (name,) = make_many(tmp_path, 1)
    odd = "50 % of:\nü"
    (tmp_path / name).rename(tmp_path / odd)
    (tmp_path / odd / "live.jsonl").write_text('{"event": "a"}\n{"event": "b"}\n')
    one = Library(tmp_path), odd
    (_, first_id, _), *rest = events(one)[1:]
    assert first_id.isascii()
    assert events(one, last_id=first_id)[1:] == rest


def test_a_run_that_is_gone_in_between_ends(measured):
    library, _ = measured
    assert [kind for kind, _, _ in events((library, "gone"))] == ["end"]


def test_a_long_file_is_seen_from_near_its_end(measured, monkeypatch):
    library, name = measured
    path = library.folder(name) / "live.jsonl"
    path.write_text("".join(json.dumps({"event": n}) + "\n" for n in range(1000)))
    monkeypatch.setattr(stream, "BACKLOG_BYTES", 1000)
    numbers = [data["event"] for kind, _, data in events(measured) if kind == "message"]
    assert numbers == list(range(numbers[0], 1000))
    assert 40 < len(numbers) < 100


class Transport:
    aborted = False

    def abort(self):
        self.aborted = True


def answer(measured, send, receive):
    """Answer one spectator, and return whether its connection was cut."""
    streams, transport = stream.Streams(), Transport()
    library, name = measured
    assert streams.enter()
    asked = stream.EventStream(stream.live(library, name, 0), streams)
    asyncio.run(asked({TRANSPORT: transport}, receive, send))
    assert streams.open == 0
    return transport.aborted


async def nothing_more():
    await asyncio.sleep(60)
    return {"type": "http.disconnect"}


def test_a_number_of_spectators_and_no_more():
    streams = stream.Streams()
    with ThreadPoolExecutor(16) as pool:
        entered = list(pool.map(lambda _: streams.enter(), range(stream.STREAMS_MAX + 40)))
    assert entered.count(True) == streams.open == stream.STREAMS_MAX
    streams.leave()
    assert streams.enter()
    assert not streams.enter()


def test_who_takes_nothing_is_let_go(measured, monkeypatch):
    monkeypatch.setattr(stream, "SLOW_SECONDS", 0.05)

    async def never(message):
        if message["type"] == "http.response.body":
            await asyncio.sleep(60)

    assert answer(measured, never, nothing_more)


def test_who_goes_is_forgotten_at_once(measured):
    async def gone():
        return {"type": "http.disconnect"}

    async def never(_message):
        await asyncio.sleep(60)

    assert not answer(measured, never, gone)


def test_who_reads_is_sent_all(measured):
    sent = []

    async def take(message):
        sent.append(message.get("body", b""))

    assert not answer(measured, take, nothing_more)
    assert b"".join(sent).count(b"data: ") == 5
    assert sent[-1] == b""
