"""Frames to and from TRex's clients: captures, queues, pushes, addresses; the engine only copies."""

import base64

import pytest
from tests.fake.trex_engine import FakeEngine
from tests.trex_rpc import Client, Clock

from linerate.trex_server import captures, methods  # noqa: F401
from linerate.trex_server.layers import Layers, link_local
from linerate.trex_server.server import Server

FRAMES = [bytes((number,)) * (60 + number) for number in range(8)]
GATEWAY = "02:00:00:00:0e:00"


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def engine(clock):
    return FakeEngine(clock)


@pytest.fixture
def client(clock, engine):
    """Owns both ports, in service mode."""
    made = Client(Server(engine, clock=clock)).connect().acquire(0).acquire(1)
    for port in (0, 1):
        made.on("service", port, enabled=True)
    return made


def pushed(frames, **more):
    return {"pkts": [{"binary": base64.b64encode(one).decode()} for one in frames]} | more


def start(client, **order):
    words = {"limit": 100, "mode": "fixed", "rx": [], "tx": [], "filter": ""} | order
    return client.call("capture", command="start", **words)["capture_id"]


def fetched(client, number, limit=50):
    found = client.call("capture", command="fetch", capture_id=number, pkt_limit=limit)
    return [base64.b64decode(one["binary"]) for one in found["pkts"]], found


class TestCaptures:
    def test_frames_of_two_ports_come_in_their_order(self, client):
        number = start(client, rx=[1], tx=[0, 1])
        client.call("push_pkts", port_id=0, **pushed(FRAMES[:2]))
        client.call("push_pkts", port_id=1, **pushed(FRAMES[2:3]))
        found, answer = fetched(client, number)
        assert found == [FRAMES[0], FRAMES[0], FRAMES[1], FRAMES[1], FRAMES[2]]
        places = [(one["index"], one["port"], one["origin"]) for one in answer["pkts"]]
        # A frame is captured where it leaves, and where it arrives.
        assert sorted(places) == [
            (1, 0, "TX"), (2, 1, "RX"), (3, 0, "TX"), (4, 1, "RX"), (5, 1, "TX"),
        ]  # fmt: skip
        assert answer["pending"] == 0
        assert all(one["ts"] >= answer["start_ts"] for one in answer["pkts"])

    def test_they_are_fetched_some_at_a_time(self, client):
        number = start(client, rx=[1])
        client.call("push_pkts", port_id=0, **pushed(FRAMES))
        first, answer = fetched(client, number, limit=5)
        assert (first, answer["pending"]) == (FRAMES[:5], 3)
        assert fetched(client, number, limit=5)[0] == FRAMES[5:]
        assert fetched(client, number)[0] == []

    def test_their_first_bytes_alone_are_fetched(self, client):
        number = start(client, rx=[1])
        client.call("push_pkts", port_id=0, **pushed(FRAMES[:1]))
        words = {"command": "fetch", "capture_id": number, "pkt_limit": 1, "snaplen": 20}
        (found,) = client.call("capture", **words)["pkts"]
        assert base64.b64decode(found["binary"]) == FRAMES[0][:20]
        assert found["wirelen"] == len(FRAMES[0])

    @pytest.mark.parametrize(("mode", "kept"), [("fixed", FRAMES[:3]), ("cyclic", FRAMES[-3:])])
    def test_a_full_buffer(self, client, mode, kept):
        number = start(client, rx=[1], limit=3, mode=mode)
        client.call("push_pkts", port_id=0, **pushed(FRAMES))
        status = client.call("capture", command="status")
        assert [(one["matched"], one["count"], one["limit"]) for one in status] == [(8, 3, 3)]
        assert fetched(client, number)[0] == kept

    def test_bytes_of_a_buffer_are_bounded(self, client, monkeypatch):
        monkeypatch.setattr(captures, "BYTES_MAX", 150)
        number = start(client, rx=[1])
        client.call("push_pkts", port_id=0, **pushed(FRAMES))
        assert fetched(client, number)[0] == FRAMES[:3]

    def test_a_stopped_one_is_fetched_and_removed(self, client, engine):
        number = start(client, rx=[1], filter="arp or (vlan and arp)", snaplen=64)
        assert engine.captures[0].order.filter == "arp or (vlan and arp)"
        client.call("push_pkts", port_id=0, **pushed(FRAMES))
        assert client.call("capture", command="stop", capture_id=number) == {"pkt_count": 8}
        client.call("push_pkts", port_id=0, **pushed(FRAMES))
        (status,) = client.call("capture", command="status")
        assert (status["state"], status["count"]) == ("STOPPED", 8)
        assert status["filter"] == {"rx": 2, "tx": 0, "bpf": "arp or (vlan and arp)"}
        assert fetched(client, number)[0] == [one[:64] for one in FRAMES]
        client.call("capture", command="remove", capture_id=number)
        assert client.call("capture", command="status") == []
        assert engine.captures == []
        assert "there is none" in client.refused("capture", command="fetch", capture_id=number)

    def test_the_end_of_service_mode_ends_those_of_the_port(self, client):
        start(client, rx=[0])
        start(client, rx=[1])
        client.on("service", 0, enabled=False)
        states = [one["state"] for one in client.call("capture", command="status")]
        assert states == ["STOPPED", "ACTIVE"]

    def test_stopped_ones_make_room_for_others(self, client):
        numbers = [start(client, rx=[0]) for _ in range(captures.CAPTURES_MAX)]
        words = {"command": "start", "rx": [0], "tx": [], "limit": 1}
        assert "run already" in client.refused("capture", **words)
        client.call("capture", command="stop", capture_id=numbers[4])
        start(client, rx=[0])
        listed = [one["id"] for one in client.call("capture", command="status")]
        assert listed == [*numbers[:4], *numbers[5:], numbers[-1] + 1]

    def test_one_that_the_engine_has_ended_is_stopped(self, client, engine):
        number = start(client, rx=[1])
        engine.captures.clear()
        client.server.tick()
        (status,) = client.call("capture", command="status")
        assert status["state"] == "STOPPED"
        client.call("capture", command="remove", capture_id=number)

    @pytest.mark.parametrize(
        ("words", "reason"),
        [
            ({"rx": []}, "expected ports"),
            ({"rx": [7]}, "expected 0 to 1"),
            ({"limit": 0}, "limit: 0"),
            ({"limit": captures.FRAMES_MAX + 1}, "limit"),
            ({"endpoint": "ipc:///tmp/any"}, "endpoint"),
            ({"filter": "arp\nport=t1"}, "filter"),
            ({"filter": "a" * 1000}, "filter"),
        ],
    )
    def test_what_is_not_had_is_refused(self, client, engine, words, reason):
        given = {"command": "start", "rx": [0], "tx": [], "limit": 10} | words
        assert reason in client.refused("capture", **given)
        assert engine.captures == []

    def test_a_port_out_of_service_mode_is_not_captured(self, client):
        client.on("service", 1, enabled=False)
        words = {"command": "start", "rx": [0], "tx": [1], "limit": 10}
        assert "port 1: is not in service mode" in client.refused("capture", **words)

    def test_filtered_service_mode_is_refused(self, client):
        words = {"port_id": 0, "handler": client.handlers[0], "enabled": False, "mask": 2}
        assert "filtered" in client.refused("service", filtered=True, **words)

    def test_a_filter_that_the_engine_refuses_leaves_nothing(self, client, engine):
        start(client, rx=[0])
        engine.refuses = "filter: syntax error"
        words = {"command": "start", "rx": [0, 1], "tx": [], "limit": 10, "filter": "nonsense"}
        assert client.refused("capture", **words) == "filter: syntax error"
        engine.refuses = None
        assert len(client.call("capture", command="status")) == len(engine.captures) == 1


class TestQueues:
    def test_the_last_frames_of_a_port_are_kept(self, client):
        client.on("set_rx_feature", 1, type="queue", enabled=True, size=5)
        client.call("push_pkts", port_id=0, **pushed(FRAMES))
        client.server.tick()
        info = client.call("get_port_status", port_id=1)["rx_info"]["queue"]
        assert info == {"is_active": True, "count": 5, "size": 5}
        found = client.on("get_rx_queue_pkts", 1)["pkts"]
        assert [base64.b64decode(one["binary"]) for one in found] == FRAMES[-5:]
        assert client.on("get_rx_queue_pkts", 1)["pkts"] == []

    def test_it_ends(self, client, engine):
        client.on("set_rx_feature", 1, type="queue", enabled=True, size=5)
        client.on("set_rx_feature", 1, type="queue", enabled=True, size=6)
        assert len(engine.captures) == 1
        client.on("set_rx_feature", 1, type="queue", enabled=False)
        assert engine.captures == []
        handler = client.handlers[1]
        assert "has no queue" in client.refused("get_rx_queue_pkts", port_id=1, handler=handler)


class TestPushes:
    def test_each_frame_leaves_at_its_time(self, client, engine, clock):
        client.call("push_pkts", port_id=0, **pushed(FRAMES[:3], ipg_usec=100_000))
        sent = [len(engine.asked)]
        waits = []
        for _ in range(4):
            waits.append(client.server.pushes.seconds_left(clock()))
            clock.now += 0.1001
            client.server.tick()
            sent.append(sum(words[0] == "inject" for words in engine.asked))
        assert sent[1:] == [2, 3, 3, 3]
        assert waits == [pytest.approx(0.1), pytest.approx(0.0999), None, None]

    def test_a_call_that_would_last_is_refused(self, client):
        words = pushed(FRAMES, ipg_usec=200_000)
        assert "in a second" in client.refused("push_pkts", port_id=0, **words)

    def test_too_many_are_refused(self, client):
        words = pushed(FRAMES[:1] * 3000, ipg_usec=300)
        client.call("push_pkts", port_id=0, **words)
        assert "wait already" in client.refused("push_pkts", port_id=0, **words)

    def test_frames_that_the_engine_refuses_are_dropped(self, client, engine, clock):
        client.call("push_pkts", port_id=0, **pushed(FRAMES, ipg_usec=1000))
        engine.refuses = "too many frames wait"
        clock.now += 1
        client.server.pushes.send(clock())
        assert client.server.pushes.seconds_left(clock()) is None


class TestLayers:
    def test_l2(self, client, engine):
        client.on("set_l2", dst_mac="AA:BB:CC:00:11:22")
        ether = client.call("get_port_status", port_id=0)["attr"]["layer_cfg"]["ether"]
        assert (ether["dst"], ether["state"]) == ("aa:bb:cc:00:11:22", "configured")
        frame = {"binary": base64.b64encode(bytes(60)).decode(), "use_port_dst_mac": True}
        client.call("push_pkts", port_id=0, pkts=[frame])
        assert engine.asked[-1][2][:6].hex(":") == "aa:bb:cc:00:11:22"

    def test_l3_is_unresolved_until_the_client_says_the_neighbour(self, client, engine):
        given = {"src_addr": "100.64.1.2", "dst_addr": "100.64.1.1"}
        states = []
        for more in ({}, {"resolved_mac": GATEWAY}, {}):
            client.on("set_l3", **given, **more)
            found = client.call("get_port_status", port_id=0)["attr"]["layer_cfg"]
            states.append((found["ipv4"]["state"], found["ether"]["dst"]))
        no_mac = "00:00:00:00:00:00"
        assert states == [("unresolved", no_mac), ("resolved", GATEWAY), ("unresolved", no_mac)]
        # The port answers to the address all the time: it was set once.
        assert engine.asked == [("addresses", "t0", "100.64.1.2/32")]

    def test_vlan_and_ipv6_are_of_the_same_port(self, client, engine):
        client.on("set_vlan", vlan=[7, 9])
        client.on("set_l3", src_addr="10.0.0.2", dst_addr="10.0.0.1")
        client.on("conf_ipv6", enabled=True, src_ipv6="2001:db8::2")
        client.on("conf_ipv6", enabled=True, src_ipv6="")
        client.on("conf_ipv6", enabled=False, src_ipv6="")
        client.on("set_vlan", vlan=[])
        client.on("set_l2", dst_mac=GATEWAY)
        assert [words[2:] for words in engine.asked] == [
            (7, 9),
            ("10.0.0.2/32", 7, 9),
            ("10.0.0.2/32", "2001:db8::2/64", 7, 9),
            ("10.0.0.2/32", link_local("02:00:00:00:01:00") + "/64", 7, 9),
            ("10.0.0.2/32", 7, 9),
            ("10.0.0.2/32",),
            (),
        ]

    def test_streams_follow_the_neighbour(self, client, engine):
        client.add(1, flags=0)
        client.start()
        words = {"port_id": 0, "handler": client.handlers[0], "dst_mac": GATEWAY}
        assert "is sending" in client.refused("set_l2", **words)
        client.on("stop_traffic")
        client.on("set_l2", dst_mac=GATEWAY)
        client.start()
        loads = [name for name, *_ in engine.asked if name in ("load", "remove")]
        assert loads == ["load", "remove", "load"]

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("set_l2", {"dst_mac": "aa:bb"}),
            ("set_l3", {"src_addr": "1.2.3.4,vlan=1", "dst_addr": "1.2.3.5"}),
            ("set_l3", {"src_addr": "1.2.3.4", "dst_addr": "::1"}),
            ("conf_ipv6", {"enabled": True, "src_ipv6": "fe80::1%t0"}),
            ("set_vlan", {"vlan": [0]}),
            ("set_vlan", {"vlan": [1, 2, 3]}),
        ],
    )
    def test_what_is_no_address_is_refused(self, client, engine, name, words):
        client.refused(name, port_id=0, handler=client.handlers[0], **words)
        assert engine.asked == []

    def test_a_link_local_address_is_of_the_mac_address(self):
        assert link_local("50:7c:6f:20:30:70") == "fe80::527c:6fff:fe20:3070"

    def test_the_testbeds_destination_is_kept_unless_another_is_set(self):
        assert Layers().next_mac(GATEWAY) == GATEWAY
        assert Layers(ip6="").next_mac(GATEWAY) == GATEWAY
