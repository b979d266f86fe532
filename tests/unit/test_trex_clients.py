"""TRex's unmodified client, in a process of its own, against the server; the engine only counts."""

import threading

import pytest
from tests.fake.trex_engine import FakeEngine
from tests.trex_client import CLIENT, run_client

from linerate.trex_server.server import Server
from linerate.trex_server.sockets import Sockets

pytestmark = pytest.mark.skipif(CLIENT is None, reason="needs TRex's client: make setup-test")


@pytest.fixture
def ports():
    """Both of a server that runs until the test ends."""
    sockets, ended = Sockets("127.0.0.1", 0, 0), threading.Event()
    thread = threading.Thread(target=sockets.serve, args=(Server(FakeEngine()), ended.is_set))
    thread.start()
    yield sockets.requests_port, sockets.wake_port
    ended.set()
    thread.join()
    sockets.close()


def test_csit(ports):
    made = run_client("csit", ports)
    assert made["received"] == made["sent"][::-1]
    assert made["total"] == sum(made["sent"])
    assert all(made["timed"])
    assert made["xstats"]
    # 500 of 2,500 frames a second are timed, whatever the multiplier is.
    for sent, timed in zip(made["sent"], made["timed_sent"], strict=True):
        assert sent == pytest.approx(5 * timed, rel=0.01)


def test_trafficgen(ports):
    made = run_client("trafficgen", ports)
    assert made["sent"] == made["group_sent"] == made["group_received"]
    assert made["sent"] == [4000, 4000]
    assert (made["warnings"], made["speed"], made["transmitting"]) == ([], [10, 10], False)


def test_a_long_session(ports):
    made = run_client("session", ports)
    assert made["states"] == ["TRANSMITTING", "PAUSE", "TRANSMITTING"]
    assert made["bursts"] == 150
    assert "use force" in made["excess"]
    assert made["forced"] == "TRANSMITTING"
    assert "already taken by 'first'" in made["taken"]
    assert "port" in made["lost"].lower()
    assert "push_pcap" in made["pcap"]
