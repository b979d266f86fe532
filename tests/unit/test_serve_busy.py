"""The server under load: whoever stops a bench is heard, and nothing grows."""

import asyncio
import json
import os
import subprocess
import sys
import threading

import httpx
import pytest
from tests.many_runs import make_many

from linerate.ui.serve import api as serve_api
from linerate.ui.serve.app import Settings, make_app
from linerate.ui.serve.gently import THREADS
from linerate.ui.serve.library import Library
from linerate.ui.serve.runner import Order, Runner
from linerate.ui.web.guard import Rules


@pytest.fixture
def runs(tmp_path):
    make_many(tmp_path, 3)
    return tmp_path


def client_of(app):
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost")


def test_stop_is_heard_while_all_threads_are_at_work(runs, monkeypatch):
    """Nothing that waits lets go before the stop was answered: it would wait for ever else."""
    go_on, heard = threading.Event(), []
    monkeypatch.setattr(Library, "page", lambda _self, _query: go_on.wait() and ([], 0))
    stop = Runner.stop

    def hear(self):
        heard.append(1)
        return stop(self)

    monkeypatch.setattr(Runner, "stop", hear)
    rules = Rules(closed=False)
    headers = {"authorization": f"Bearer {rules.token}"}

    async def ask():
        async with client_of(make_app(Settings(runs, rules))) as client:
            busy = [asyncio.create_task(client.get("/api/runs")) for _ in range(50)]
            await asyncio.sleep(0.1)
            try:
                async with asyncio.timeout(30):
                    return await client.delete("/api/bench", headers=headers)
            finally:
                go_on.set()
                await asyncio.gather(*busy)

    answer = asyncio.run(ask())
    assert (answer.status_code, answer.json()["running"], heard) == (200, False, [1])


def test_stop_reaches_a_bench(runs):
    runner = Runner(runs)
    with subprocess.Popen(["sleep", "600"]) as bench:
        runner._bench = bench
        # Somebody starts one, which takes long.
        with runner._lock:
            assert runner.stop().pid == bench.pid
        assert bench.wait(60) == -2
    assert runner.state().exit_code == -2
    assert serve_api.BenchState(allowed=True).run is None


def test_a_bench_is_of_the_servers_session_but_not_of_its_group(tmp_path, monkeypatch):
    """The kernel shares CPUs among sessions, and a run's has nearly all: the server's, too."""
    bench = tmp_path / "bench"
    bench.write_text("#!/bin/sh\nexec sleep 600\n")
    bench.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(bench))
    runner = Runner(tmp_path)
    pid = runner.start(Order()).pid
    assert pid is not None
    try:
        assert os.getsid(pid) == os.getsid(0)
        # Ctrl-C in the server's terminal is for the server, which then stops the bench.
        assert os.getpgid(pid) == pid
    finally:
        runner.close()


#: Ten pages that ask while a run is written, as a bench does; in a process of its own, whose
#: threads and memory are only the server's.
POLLED = """
import asyncio, json, os, sys
from pathlib import Path
import httpx
from linerate.ui.serve.app import Settings, make_app
from linerate.ui.web.guard import Rules

runs = Path(sys.argv[1])
files = sorted(runs.glob("2*/run.json"))
PATHS = ("/", "/api/runs", "/api/bench", f"/runs/{files[0].parent.name}", "/metrics")


def now():
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {"threads": int(status["Threads"]), "kb": int(status["VmRSS"].split()[0]),
            "files": len(os.listdir("/proc/self/fd"))}


async def page(client, times):
    for _ in range(times):
        for path in PATHS:
            answer = await client.get(path)
            assert answer.status_code in (200, 404, 503), (path, answer.status_code, answer.text)


async def main():
    app = make_app(Settings(runs, Rules(closed=False), start=False))
    inner = app._app
    async with inner.router.lifespan_context(inner):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            seen = []
            for _ in range(4):
                library_is_old()
                await asyncio.gather(*(page(client, 2) for _ in range(10)))
                seen.append(now())
    print(json.dumps(seen))


def library_is_old():
    import linerate.ui.serve.library as library
    library.REFRESH_SECONDS = 0.0
    for file in files:
        os.utime(file)


asyncio.run(main())
"""


def test_ten_pages_that_poll_cost_no_more_after_a_while(runs):
    done = subprocess.run(
        [sys.executable, "-c", POLLED, str(runs)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    first, *_, before, last = json.loads(done.stdout)
    assert last["threads"] <= THREADS + first["threads"]
    # One may start late on a busy machine; a leak of each round would be more.
    assert last["threads"] <= before["threads"] + 1
    assert last["files"] == before["files"]
    # Memory that an allocator keeps varies; a leak of each request would be far more.
    assert last["kb"] < before["kb"] + 32768
