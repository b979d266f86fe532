"""The telemetry client, against a socket with given answers."""

import contextlib
import json
import socket
import threading
import time

import pytest

from linerate.engine.telemetry import NoAnswerError, Telemetry, TelemetryError, rows

GREETING = json.dumps({"version": "DPDK", "pid": 1, "max_output_len": 16384}).encode()


@pytest.fixture
def engine(tmp_path):
    """A listener that sends one answer for each command; the first is the greeting."""
    path = tmp_path / "dpdk_telemetry.v2"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(path))
    listener.listen()
    heard = []

    def serve(answers, before=lambda _answer: None):
        def run():
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):
                connection.send(answers[0])
                for answer in answers[1:]:
                    heard.append(connection.recv(1024))
                    if answer is None:
                        return
                    before(answer)
                    connection.send(answer)
                while connection.recv(1024):
                    pass

        threading.Thread(target=run, daemon=True).start()
        return path

    with listener:
        yield serve, heard


def test_an_answer_is_what_stands_under_the_command(engine):
    serve, heard = engine
    path = serve([GREETING, b'{"/linerate/port": {"rx_packets": 7}}'])
    with Telemetry(path) as telemetry:
        assert telemetry.ask("/linerate/port,e0") == {"rx_packets": 7}
    assert heard == [b"/linerate/port,e0"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b'{"/linerate/info": null}', "/linerate/info: the engine refused the command"),
        (b'{"/linerate/info": {"error": "busy"}}', "/linerate/info: busy"),
        (b"hello", "/linerate/info: no JSON"),
        (b"[1]", "/linerate/info: expected an object"),
        (None, "/linerate/info: the engine closed the connection"),
    ],
)
def test_answers_that_are_none(engine, answer, message):
    serve, _ = engine
    path = serve([GREETING, answer])
    with Telemetry(path) as telemetry, pytest.raises(TelemetryError, match=message):
        telemetry.ask("/linerate/info")


def test_an_engine_that_does_not_answer(engine):
    serve, _ = engine
    path = serve([GREETING])
    with (
        Telemetry(path, timeout_seconds=0.05) as telemetry,
        pytest.raises(TelemetryError, match="no answer in time"),
    ):
        telemetry.ask("/linerate/info")


def test_a_late_answer_is_waited_for_and_that_is_reported(engine, caplog):
    serve, heard = engine
    late = threading.Event()

    class Late(bytes):
        """An answer that is sent after two waits."""

    answer = Late(b'{"/linerate/port": {"rx_packets": 7}}')
    path = serve([GREETING, answer], before=lambda one: isinstance(one, Late) and late.wait(60))
    with Telemetry(path, timeout_seconds=0.05) as telemetry:
        threading.Timer(0.075, late.set).start()
        assert telemetry.ask("/linerate/port,e0") == {"rx_packets": 7}
    assert heard == [b"/linerate/port,e0"]
    assert "/linerate/port,e0: no answer within 0.05 s, waiting again (1 of 2)" in caplog.text


def test_an_answer_that_comes_too_late_is_not_taken_for_the_next_one(tmp_path):
    path = tmp_path / "dpdk_telemetry.v2"
    given_up = threading.Event()

    def serve(listener):
        first, _ = listener.accept()
        with first, contextlib.suppress(OSError):
            first.send(GREETING)
            first.recv(1024)
            given_up.wait(60)
            first.send(b'{"/linerate/port": {"rx_packets": 7}}')
        second, _ = listener.accept()
        with second:
            second.send(GREETING)
            second.recv(1024)
            second.send(b'{"/linerate/port": {"rx_packets": 8}}')
            second.recv(1024)

    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(path))
        listener.listen()
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        with Telemetry(path, timeout_seconds=0.2) as telemetry:
            with pytest.raises(NoAnswerError):
                telemetry.ask("/linerate/port,e0")
            threading.Timer(0.05, given_up.set).start()
            assert telemetry.ask("/linerate/port,e0") == {"rx_packets": 8}


def test_who_has_a_time_limit_waits_no_longer(engine, caplog):
    serve, _ = engine
    path = serve([GREETING])
    until = time.monotonic() + 0.2
    with Telemetry(path, 0.05, until) as telemetry, pytest.raises(TelemetryError):
        telemetry.ask("/linerate/info")
    assert caplog.text == ""


@pytest.mark.parametrize("greeting", [b'{"pid": 1}', b"{", b'{"max_output_len": "x"}'])
def test_a_greeting_that_is_not_dpdks(engine, greeting):
    serve, _ = engine
    with pytest.raises(TelemetryError):
        Telemetry(serve([greeting]))


def test_no_engine_there(tmp_path):
    with pytest.raises(TelemetryError, match="no such socket"):
        Telemetry(tmp_path / "none")
    path = tmp_path / "dead"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as dead:
        dead.bind(str(path))
    with pytest.raises(TelemetryError, match="no listener"):
        Telemetry(path)


def test_columns_become_rows():
    table = {"name": ["a", "b"], "packets": [1, 2], "tsc": 5}
    assert rows(table, "x") == [{"name": "a", "packets": 1}, {"name": "b", "packets": 2}]
    assert rows({"name": [], "packets": []}, "x") == []
    assert rows({}, "x") == []
    with pytest.raises(TelemetryError, match="columns of different length: name 1, packets 0"):
        rows({"name": ["a"], "packets": []}, "x")
    with pytest.raises(TelemetryError, match="expected columns"):
        rows(3, "x")
