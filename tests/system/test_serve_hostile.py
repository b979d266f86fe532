"""Whoever asks: nothing is read or started without the token, and nothing stops the server."""

import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from tests.many_runs import make_many
from tests.system.labs import wait_for
from tests.system.serving import Served, served

from linerate.ui.serve.app import Settings, make_app
from linerate.ui.serve.runner import Runner
from linerate.ui.serve.stream import STREAMS_MAX
from linerate.ui.web.guard import BODY_BYTES, Rules
from linerate.ui.web.protocol import HEADERS_SECONDS

TOKEN = "a-token"
#: With an answer, on a busy machine.
PATIENCE_SECONDS = 120
#: The first runs that `make_many` makes.
NAMES = ["20261001-000000-router", "20261002-000000-io"]
READ = ("/", "/live", "/api/runs", "/api/bench", "/api/live", "/api/openapi.json", "/metrics",
        "/static/live.js", "/runs/RUN", "/runs/RUN/report.html", "/api/runs/RUN",
        "/compare?run=RUN&run=RUN", "/nothing")  # fmt: skip


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One that asks for the token for all, as off loopback."""
    runs = tmp_path_factory.mktemp("closed") / "runs"
    make_many(runs, 3)
    with served(runs, "--ask-token") as server:
        yield server


@pytest.fixture(scope="module", autouse=True)
def patient(closed: Served) -> Iterator[socket.socket]:
    """A connection that never asks for anything, from the first test to the last."""
    with socket.create_connection(("127.0.0.1", closed.port)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nX-")
        yield connection


def raw(server: Served, data: bytes, seconds: float = 60.0) -> bytes:
    """Send bytes, and read what comes until the server closes or is silent."""
    answer = b""
    with (
        socket.create_connection(("127.0.0.1", server.port), timeout=seconds) as connection,
        contextlib.suppress(OSError),
    ):
        connection.sendall(data)
        while part := connection.recv(65536):
            answer += part
            if len(answer) > 1_000:
                break
    return answer


@pytest.mark.smoke
def test_without_the_token_nothing_is_read_or_started(closed: Served) -> None:
    run = next(closed.runs.glob("2*")).name
    for path in READ:
        status, headers, body = closed.ask("GET", path.replace("RUN", run))
        assert (status, run.encode() in body) == (401, False), path
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "set-cookie" not in headers
    for wrong in ("", "x", closed.token[:-1], closed.token + "x", "ü"):
        assert closed.status("GET", "/?token=" + wrong.replace("ü", "%C3%BC")) == 401
        assert closed.status("GET", "/", Authorization=f"Bearer {wrong}".strip()) == 401
        assert closed.status("GET", "/", Cookie=f"linerate={wrong}") == 401
    assert closed.status("GET", "/", Cookie=f"linerate={closed.token}") == 401
    for method in ("POST", "DELETE", "PUT", "PATCH"):
        assert closed.status(method, "/api/bench", b"{}", X_Linerate="1") == 401
    assert closed.status("POST", "/api/bench?token=" + closed.token, b"{}") == 401


def test_the_token_is_shown_once_and_kept_as_a_cookie(closed: Served) -> None:
    for path, target in (
        ("/live?run=a%20b&", "/live?run=a+b"),
        ("//evil.example/?", "/evil.example/"),
    ):
        status, headers, _ = closed.ask("GET", f"{path}token={closed.token}")
        assert (status, headers["location"]) == (303, target)
        assert headers["set-cookie"].endswith("; Path=/; HttpOnly; SameSite=Strict")
        assert closed.token not in headers["set-cookie"]
    cookie = headers["set-cookie"].partition(";")[0]
    assert closed.status("GET", "/api/runs", Cookie=f"a=b; {cookie}") == 200
    bearer = {"Authorization": f"Bearer {closed.token}"}
    assert closed.status("GET", "/metrics", **bearer) == 200
    # A page of another host, or a form, has the cookie at most.
    json = {"Cookie": cookie, "Content_Type": "application/json"}
    assert closed.status("DELETE", "/api/bench", b"", **json) == 403
    foreign = {"X_Linerate": "1", "Origin": "http://evil.example"}
    assert closed.status("DELETE", "/api/bench", b"", **json, **foreign) == 403
    assert closed.status("DELETE", "/api/bench", b"", **json, X_Linerate="1") == 200


def test_names_of_runs_are_names_and_no_paths(closed: Served) -> None:
    secret = closed.runs.parent / "run.json"
    secret.write_text("secret")
    bearer = {"Authorization": f"Bearer {closed.token}"}
    for name in (
        "..",
        "%2e%2e",
        "..%2f",
        "%2e%2e%2f..%2fetc%2fpasswd",
        "%00",
        "x" * 5_000,
        ".index",
    ):
        for path in (
            f"/api/runs/{name}",
            f"/runs/{name}",
            f"/api/live?run={name}",
            f"/static/{name}",
        ):
            status, _, body = closed.ask("GET", path, **bearer)
            assert status in (400, 404, 422), path
            assert b"secret" not in body


def test_what_is_too_long_or_nonsense_is_refused(closed: Served) -> None:
    bearer = f"Authorization: Bearer {closed.token}\r\n".encode()
    start = b"POST /api/bench HTTP/1.1\r\nHost: x\r\n" + bearer
    long = start + b"Content-Length: %d\r\n\r\n" % (BODY_BYTES + 1)
    assert b" 413 " in raw(closed, long).splitlines()[0]
    chunks = (
        start + b"Transfer-Encoding: chunked\r\n\r\n" + (b"8000\r\n" + b"x" * 0x8000 + b"\r\n") * 3
    )
    assert b" 413 " in raw(closed, chunks).splitlines()[0]
    for head in (b"X: " + b"y" * 40_000, b"X: y\r\n" * 20_000):
        assert b" 200 " not in raw(closed, b"GET / HTTP/1.1\r\nHost: x\r\n" + bearer + head)[:20]
    for nonsense in (b"\x00" * 4096, b"\x16\x03\x01" + bytes(range(256)), b"GET\r\n\r\n"):
        assert raw(closed, nonsense)[9:12] in (b"400", b"")
    for body in (b"\xff\xfe\x00", b"[" * 60_000, b'{"only": "--help"}', b'{"only": "U1 --runs=/"}',
                 b'{"card": "-x"}', b'{"duration_seconds": 1e999}', b'{"runs": "/tmp"}',
                 b'{"dut": "no-such"}', b'{"only": "Z9"}', b'{"card": "nothing"}'):  # fmt: skip
        headers = {"Authorization": f"Bearer {closed.token}", "Content_Type": "application/json"}
        status, _, reply = closed.ask("POST", "/api/bench", body, **headers)
        assert status in (400, 422), (body[:40], reply)
    assert closed.status("GET", "/api/runs", Authorization=f"Bearer {closed.token}") == 200


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has closed it; nothing was sent yet."""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def test_a_thousand_connections_and_slow_ones(closed: Served) -> None:
    bearer = {"Authorization": f"Bearer {closed.token}"}
    with contextlib.ExitStack() as stack:

        def connect(data: bytes) -> socket.socket:
            one = stack.enter_context(socket.create_connection(("127.0.0.1", closed.port), 120))
            one.sendall(data)
            return one

        half = b"GET / HTTP/1.1\r\nHost: x\r\nX-"
        # This process may have no more files than most do.
        slow = {}
        for number in range(900):
            begun = time.monotonic()
            slow[connect(half if number % 2 else b"")] = begun
        watch = f"GET /api/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {closed.token}\r\n\r\n"
        spectators = [connect(watch.encode()) for _ in range(STREAMS_MAX)]
        heads = [one.recv(4096) for one in spectators]
        assert all(b" 200 " in head[:20] for head in heads)
        status, _, reply = closed.ask("GET", "/api/live", **bearer)
        assert (status, b"too many" in reply) == (503, True)
        assert closed.status("GET", "/api/runs", **bearer) == 200
        let_go = [begun for one, begun in slow.items() if is_closed(one)]
        # None before its time, however long it took to come so far.
        now = time.monotonic()
        assert not [begun for begun in let_go if now - begun < HEADERS_SECONDS]
        for one in spectators:
            one.close()
    wait_for(lambda: closed.status("GET", "/api/live?run=none", **bearer) != 503)


#: One call of each operation that is answered: what is made up may hit none.
GOOD: dict[str, dict[str, Any]] = {
    "GET /api/runs": {"query": {"sort": "name"}},
    "GET /api/runs/{name}": {"path_parameters": {"name": NAMES[0]}},
    "GET /api/compare": {"query": {"run": NAMES}},
    "GET /api/bench": {},
    "POST /api/bench": {"body": {"only": "U2"}, "media_type": "application/json"},
    "DELETE /api/bench": {},
    "GET /metrics": {},
}


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Any:
    runs = tmp_path_factory.mktemp("schema") / "runs"
    assert make_many(runs, 2) == NAMES
    app = make_app(Settings(runs, Rules(closed=True, token=TOKEN)))
    made = schemathesis.openapi.from_asgi(
        "/api/openapi.json", app, headers={"Authorization": f"Bearer {TOKEN}"}
    )
    # That one does not end.
    return made.exclude(path="/api/live")


@pytest.mark.filterwarnings("ignore")
def test_the_api_answers_as_its_openapi_text_says(
    schema: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []

    def spawn(_runner: Runner, order: Any) -> subprocess.Popen[bytes]:
        started.append(order.words())
        return subprocess.Popen(["true"])

    monkeypatch.setattr(Runner, "_spawn", spawn)
    statuses: dict[int, int] = {}

    def check_operation(operation: Any) -> None:
        @settings(
            max_examples=25,
            derandomize=True,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy())
        def check(case: Any) -> None:
            known = case.call(
                headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE_SECONDS
            )
            statuses[known.status_code] = statuses.get(known.status_code, 0) + 1
            # No pattern says which filters the columns can answer.
            case.validate_response(known, excluded_checks=[positive_data_acceptance])
            stranger = case.call(headers={"Authorization": "Bearer x"}, timeout=PATIENCE_SECONDS)
            assert stranger.status_code == 401

        check()

    operations = [one.ok() for one in schema.get_all_operations()]
    assert {one.label for one in operations} == set(GOOD)
    for operation in operations:
        good = operation.Case(**GOOD[operation.label])
        answer = good.call(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE_SECONDS)
        assert answer.status_code == (202 if operation.method == "post" else 200), operation.label
        good.validate_response(answer)
        check_operation(operation)
    assert statuses.get(200, 0) > 0
    assert started
    assert 500 not in statuses
    for words in started:
        assert all(word.startswith("--") and "=" in word and " " not in word for word in words)


def test_nothing_is_started_where_it_is_switched_off(tmp_path: Path) -> None:
    with served(tmp_path, "--no-start", "--ask-token") as server:
        bearer = {"Authorization": f"Bearer {server.token}"}
        order = {"Content_Type": "application/json", **bearer}
        assert server.status("POST", "/api/bench", b"{}", **order) == 403
        assert server.status("DELETE", "/api/bench", b"", **bearer) == 403
        assert b'"allowed":false' in server.ask("GET", "/api/bench", **bearer)[2]
        assert b"starts nothing" in server.ask("GET", "/live", **bearer)[2]
    assert [path.name for path in tmp_path.iterdir()] in ([], [".index.jsonl"])


def test_who_does_not_ask_in_time_is_let_go(closed: Served, patient: socket.socket) -> None:
    patient.settimeout(12 * HEADERS_SECONDS)
    assert patient.recv(1) == b""
    assert closed.status("GET", "/", Authorization=f"Bearer {closed.token}") == 200
