"""The API without a server: files on the disk may change or be malformed during a request."""

import asyncio
import os
from pathlib import Path

import pytest
from tests.many_runs import make_many

from linerate.ui.serve.app import Settings, make_app
from linerate.ui.web.guard import Rules


@pytest.fixture
def runs(tmp_path):
    make_many(tmp_path, 2)
    return tmp_path


def get(runs, path, at_start=lambda: None, query=b""):
    """Status, headers and body of an answer; `at_start` is called once its length is sent."""
    app = make_app(
        Settings(runs, Rules(closed=False), start=False, dataset=Path("dataset").resolve())
    )
    messages = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        messages.append(message)
        if message["type"] == "http.response.start":
            at_start()

    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "headers": [(b"host", b"localhost")],
    }

    async def ask():
        await app(scope, receive, send)

    asyncio.run(ask())
    start, *rest = messages
    return start["status"], dict(start["headers"]), b"".join(one.get("body", b"") for one in rest)


def test_a_run_that_is_written_in_between_is_as_long_as_was_sent(runs):
    file = next(runs.glob("2*")) / "run.json"
    whole = file.read_bytes()

    def replace():
        file.write_bytes(whole + b" " * 100)

    status, headers, body = get(runs, f"/api/runs/{file.parent.name}", replace)
    assert (status, body) == (200, whole)
    assert int(headers[b"content-length"]) == len(body)
    assert headers[b"content-type"] == b"application/json"


def test_what_is_no_file_is_not_there(runs):
    nothing, pipe, folder = (runs / name for name in ("nothing", "pipe", "folder"))
    nothing.mkdir()
    pipe.mkdir()
    os.mkfifo(pipe / "run.json")
    (folder / "run.json").mkdir(parents=True)
    for one in (nothing, pipe, folder):
        status, _, text = get(runs, f"/api/runs/{one.name}")
        assert (status, b"no run.json" in text) == (404, True)
        assert get(runs, f"/runs/{one.name}")[0] == 200


def test_a_name_that_is_no_text_leads_to_a_page(runs):
    (runs / os.fsdecode(b"caf\xe9")).mkdir()
    status, _, text = get(runs, "/")
    assert status == 200
    assert rb'href="/runs/caf%5Cxe9"' in text
    status, _, text = get(runs, r"/runs/caf\xe9")
    assert (status, b"broken" in text) == (200, True)
