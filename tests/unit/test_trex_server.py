"""The server for TRex's clients, asked over its requests' bytes; the engine only counts."""

import base64
import json
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fake.trex_engine import LINK_BPS, FakeEngine
from tests.trex_rpc import ETHERNET, UDP4, Client, Clock, stream

from linerate.trex_server import framing, methods  # noqa: F401
from linerate.trex_server.errors import BadTextError, FailedError
from linerate.trex_server.events import SESSIONS_MAX, Events, Kind
from linerate.trex_server.payload import payload_of
from linerate.trex_server.rates import Multiplier, Rates, rates_of, scale_for
from linerate.trex_server.rpc import answer, method_names
from linerate.trex_server.server import Server
from linerate.trex_server.smoothing import Smoothed


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def engine(clock):
    return FakeEngine(clock)


@pytest.fixture
def client(clock, engine):
    return Client(Server(engine, clock=clock)).connect()


class TestFraming:
    @given(st.binary(max_size=5000))
    def test_what_is_packed_is_unpacked(self, text):
        message = framing.Message(text, deflated=True)
        assert framing.unpack(framing.pack(message)) == message

    def test_a_bomb_is_refused_before_it_takes_memory(self):
        bomb = zlib.compress(bytes(64 << 20))
        for length in (100, framing.TEXT_BYTES_MAX, framing.TEXT_BYTES_MAX + 1):
            with pytest.raises(BadTextError):
                framing.unpack(struct.pack(">II", framing.MAGIC, length) + bomb)

    def test_a_message_that_is_too_long_is_refused(self):
        with pytest.raises(BadTextError, match="expected up to"):
            framing.unpack(bytes(framing.MESSAGE_BYTES_MAX + 1))

    def test_an_answer_is_deflated_as_its_request_was(self, client):
        request = b'{"jsonrpc":"2.0","id":1,"method":"get_version","params":{}}'
        for deflated in (False, True):
            reply = answer(client.server, framing.pack(framing.Message(request, deflated)))
            assert framing.is_deflated(reply) == deflated
            assert json.loads(framing.unpack(reply).text)["result"]["mode"] == "STL"


class TestRpc:
    @given(st.binary(max_size=300))
    def test_any_bytes_get_an_answer(self, data):
        reply = json.loads(framing.unpack(answer(Server(FakeEngine()), data)).text)
        assert reply

    @given(st.data())
    def test_any_parameters_get_an_answer(self, data):
        server = Server(FakeEngine())
        keys = ("port_id", "handler", "stream_id", "stream", "mul", "profile_id", "pgids", "attr")
        leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
        values = st.recursive(
            leaves, lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(), one)
        )
        name = data.draw(st.sampled_from([one for one in method_names() if one != "shutdown"]))
        given_words = data.draw(st.dictionaries(st.sampled_from(keys), values, max_size=5))
        given_words["api_h"] = server.api_handle
        request = {"jsonrpc": "2.0", "id": 1, "method": name, "params": given_words}
        reply = json.loads(answer(server, json.dumps(request).encode()))
        assert ("result" in reply) != ("error" in reply)

    def test_batches(self, client):
        one = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}
        assert isinstance(json.loads(answer(client.server, json.dumps([one]).encode())), dict)
        replies = json.loads(answer(client.server, json.dumps([one, {}, 7]).encode()))
        assert ["error" in reply for reply in replies] == [False, True, True]

    def test_a_call_without_the_handle_is_refused(self, client):
        client.handle = "another"
        assert "api_sync_v2" in client.refused("get_system_info")

    def test_an_unknown_method(self, client):
        assert client.raw("get_everything")["error"]["code"] == -32601

    @pytest.mark.parametrize(
        ("name", "major", "minor"), [("STL", 5, 2), ("STL", 4, 0), ("ASTF", 2, 0)]
    )
    def test_another_version_is_refused(self, client, name, major, minor):
        assert "expected" in client.refused("api_sync_v2", name=name, major=major, minor=minor)

    def test_an_engine_that_refuses_is_an_error(self, client, engine):
        client.acquire().add()
        engine.refuses = "no room"
        mul = {"type": "raw", "value": 1, "op": "abs"}
        handler = client.handlers[0]
        assert client.refused("start_traffic", port_id=0, handler=handler, mul=mul) == "no room"
        assert client.call("get_port_status", port_id=0)["state"] == "STREAMS"


class TestOwners:
    def test_a_taken_port_is_had_by_force_alone(self, client):
        client.acquire(user="first")
        old = client.handlers[0]
        words = {"port_id": 0, "user": "second", "session_id": 2}
        assert "already taken by 'first'" in client.refused("acquire", **words)
        client.acquire(user="second", session=2, force=True)
        assert client.call("get_port_status", port_id=0)["owner"] == "second"
        assert "'second' has the port" in client.refused("release", port_id=0, handler=old)

    @pytest.mark.parametrize("handler", ["", "wrong"])
    def test_a_wrong_handler_does_nothing(self, client, engine, handler):
        client.acquire().add()
        mul = {"type": "raw", "value": 1, "op": "abs"}
        for name in ("start_traffic", "stop_traffic", "remove_all_streams", "release"):
            refused = client.refused(name, port_id=0, handler=handler, mul=mul)
            assert "handler is not its owner's" in refused
        assert engine.asked == []

    def test_a_free_port_is_nobodys(self, client):
        assert "not acquired" in client.refused("release", port_id=0, handler="")
        assert "expected 0 to 1" in client.refused("get_port_status", port_id=2)

    def test_sessions_see_who_took_a_port(self, client):
        assert client.call("get_async_events", session_id=1)["data"] == []
        client.acquire(session=9)
        client.call("publish_now", key=77)
        event, barrier = client.call("get_async_events", session_id=1)["data"]
        assert (event["name"], event["type"], event["seq"]) == ("trex-event", 5, 0)
        assert event["data"] == {"port_id": 0, "who": "me", "session_id": 9, "force": False}
        assert (barrier["name"], barrier["type"], barrier["seq"]) == ("trex-barrier", 77, 1)
        assert client.call("get_async_events", session_id=1)["data"] == []


class TestTraffic:
    def test_states_follow_what_is_asked(self, client, engine):
        states = []

        def see():
            states.append(client.call("get_port_status", port_id=0)["state"])

        see()
        client.acquire().add()
        see()
        client.start(value=2)
        see()
        client.on("pause_traffic")
        see()
        client.on("resume_traffic")
        see()
        client.on("stop_traffic")
        see()
        client.on("remove_all_streams", profile_id="*")
        see()
        assert states == ["IDLE", "STREAMS", "TX", "PAUSE", "TX", "STREAMS", "IDLE"]
        assert [words[0] for words in engine.asked] == [
            "load", "start", "pause", "resume", "stop", "remove",
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("unit", "value", "scale"),
        [
            ("raw", 3, 3),
            ("pps", 5000, 5),
            ("bps", 106 * 8 * 2000, 2),
            ("bpsl1", 126 * 8 * 4000, 4),
            ("percentage", 100 * 126 * 8 * 1000 / LINK_BPS, 1),
        ],
    )
    def test_units_of_the_multiplier(self, client, unit, value, scale):
        client.acquire().add()
        assert client.start(value=value, unit=unit)["multiplier"] == pytest.approx(scale)

    def test_latency_streams_keep_their_rate(self, client, engine, clock):
        client.acquire().add(1)
        client.add(2, stats="latency", pg_id=4, pps=100)
        client.start(unit="pps", value=2100)
        clock.now += 2
        sent = {name: count.sent for name, count in engine.streams().items()}
        assert sent == {"p0-s1": 4000, "p0-s2": 200}

    def test_more_than_the_line_needs_force(self, client):
        client.acquire().add(pps=101, kind="percentage")
        mul = {"type": "raw", "value": 1, "op": "abs"}
        words = {"port_id": 0, "handler": client.handlers[0], "mul": mul}
        assert "use force" in client.refused("start_traffic", **words)
        # Sent is what the line carries.
        sent = client.call("start_traffic", force=True, **words)["multiplier"]
        assert sent == pytest.approx(100 / 101)

    def test_no_force_makes_room_for_latency_streams(self, client):
        client.acquire().add(1, pps=101, kind="percentage", stats="latency", pg_id=1)
        client.add(2)
        mul = {"type": "raw", "value": 1, "op": "abs"}
        words = {"port_id": 0, "handler": client.handlers[0], "mul": mul, "force": True}
        assert "latency streams and other profiles" in client.refused("start_traffic", **words)

    def test_an_end_is_reported_once(self, client, clock):
        client.call("get_async_events", session_id=1)
        client.acquire().add()
        client.start(duration=2)
        for _ in range(4):
            clock.now += 1
            client.server.tick()
        events = client.call("get_async_events", session_id=1)["data"]
        kinds = [event["type"] for event in events]
        assert kinds == [5, Kind.PROFILE_STARTED, 0, Kind.PROFILE_FINISHED, Kind.PORT_JOB_DONE]
        assert client.call("get_port_status", port_id=0)["state"] == "STREAMS"

    def test_profiles_of_a_port_are_their_own(self, client, engine, clock):
        client.acquire().add(1, profile="a")
        client.add(2, profile="b", pps=10)
        client.start(profile_id="a")
        client.start(profile_id="b", value=3)
        clock.now += 1
        client.on("stop_traffic", profile_id="a")
        clock.now += 1
        client.on("update_traffic", profile_id="b", mul={"type": "pps", "value": 50, "op": "abs"})
        clock.now += 1
        sent = {name: count.sent for name, count in engine.streams().items()}
        assert sent == {"p0-s1": 1000, "p0-s2": 110}
        status = client.call("get_port_status", port_id=0)
        assert status["state_profile"] == {"a": "STREAMS", "b": "TX"}
        assert status["state"] == "TX"

    def test_single_streams_are_held(self, client, engine, clock):
        client.acquire().add(1)
        client.add(2)
        client.start()
        client.on("pause_streams", stream_ids=[1])
        clock.now += 1
        client.on("resume_streams", stream_ids=[1])
        clock.now += 1
        assert {name: one.sent for name, one in engine.streams().items()} == {
            "p0-s1": 1000,
            "p0-s2": 2000,
        }
        handler = client.handlers[0]
        refused = client.refused("pause_streams", port_id=0, handler=handler, stream_ids=[5])
        assert "no stream" in refused

    def test_streams_change_only_while_none_sends(self, client):
        client.acquire().add()
        client.start()
        words = {"port_id": 0, "handler": client.handlers[0]}
        for name, more in (
            ("remove_all_streams", {}),
            ("remove_stream", {"stream_id": 1}),
            ("add_stream", {"stream_id": 2, "stream": stream()}),
        ):
            assert "sending" in client.refused(name, **words, **more)


class TestStreams:
    def test_they_are_given_back_as_they_came(self, client):
        client.acquire().add(7)
        found = client.call("get_all_streams", port_id=0, profile_id="*")
        assert found["profiles"] == {"_": {"7": stream()}}
        assert client.call("get_stream", port_id=0, stream_id=7)["stream"] == stream()

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"stats": "tpg"}, "tagged packet groups"),
            ({"start_paused": True}, "start_paused"),
            ({"core_id": 1}, "core_id"),
            ({"packet": {"binary": "!!!"}}, "base64"),
            ({"packet": {"binary": "AAAA"}}, "3 bytes"),
            ({"vm": {"instructions": [{"type": "leap"}]}}, "'leap'"),
            ({"vm": {"instructions": [{"type": "flow_var"}]}}, "flow_var"),
            ({"pps": -1}, "rate"),
        ],
    )
    def test_what_is_not_had_is_refused_with_its_name(self, client, changes, words):
        client.acquire()
        refused = client.refused(
            "add_stream",
            port_id=0,
            handler=client.handlers[0],
            stream_id=1,
            stream=stream(**changes),
        )
        assert words in refused

    def test_addresses_are_the_ports_own_unless_the_packet_has_them(self, client, engine):
        client.acquire().add(1, flags=0)
        client.add(2, flags=3)
        loaded = {}
        engine.load = lambda _port, _profile, streams: loaded.update(
            {one["name"]: one["template"] for one in streams}
        )
        engine.start = lambda *_: None
        client.start()
        assert loaded["p0-s1"][:24] == "020000000000" + "020000000100"
        assert loaded["p0-s2"][:24] == ETHERNET.hex()

    def test_a_chain_starts_one_stream_after_the_other(self, client, engine):
        burst = {"type": "single_burst", "total_pkts": 11, "rate": {"type": "pps", "value": 10}}
        client.acquire().add(1, mode=burst, next_stream_id=2)
        client.add(2, self_start=False)
        loaded = {}
        engine.load = lambda _port, _profile, streams: loaded.update(
            {one["name"]: one for one in streams}
        )
        engine.start = lambda *_: None
        client.start()
        assert loaded["p0-s1"]["bursts"] == {"frames": 11, "count": 1, "gap_us": 0}
        assert loaded["p0-s2"]["start_us"] == pytest.approx(1e6)

    def test_a_graph_of_rates(self, client):
        client.acquire().add()
        found = client.on("validate")["rate"]
        assert found["max_pps"] == 1000
        assert found["max_bps_l1"] == 1000 * 126 * 8


class TestCounters:
    def test_rates_are_smoothed(self, client, clock):
        client.acquire().add()
        client.start()
        for _ in range(8):
            clock.now += 0.5
            client.server.tick()
        found = client.call("get_port_stats", port_id=0)
        assert found["opackets"] == 4000
        assert found["m_total_tx_pps"] == pytest.approx(1000, rel=0.01)
        assert client.call("get_port_stats", port_id=1)["ipackets"] == 4000
        assert client.call("get_global_stats")["m_tx_pps"] == pytest.approx(1000, rel=0.01)

    def test_groups_are_counted_by_port(self, client, clock):
        client.acquire().add(1, stats="stats", pg_id=5)
        client.add(2, stats="latency", pg_id=6, pps=10)
        assert client.call("get_active_pgids") == {"ids": {"flow_stats": [5], "latency": [6]}}
        client.start()
        clock.now += 3
        found = client.call("get_pgid_stats", pgids=[5, 6, 99])
        five = found["flow_stats"]["5"]
        assert (five["tp"], five["rp"]) == ({"0": 3000, "1": 0}, {"0": 0, "1": 3000})
        assert five["rb"] == {"0": 0, "1": 3000 * 106}
        assert set(found["flow_stats"]) == {"5", "6"}
        six = found["latency"]["6"]["lat"]
        assert six["average"] == pytest.approx(21.33)
        assert six["total_max"] == 33
        assert sum(six["histogram"].values()) == 100

    def test_the_highest_latency_is_of_the_last_period(self, client):
        client.acquire().add(1, stats="latency", pg_id=6)
        client.start()
        maxima = [
            client.call("get_pgid_stats", pgids=[6])["latency"]["6"]["lat"]["last_max"]
            for _ in range(2)
        ]
        assert maxima[0] > 0
        assert maxima[1] == 0

    def test_counters_that_began_anew_have_another_version(self, client):
        client.acquire().add(1, stats="stats", pg_id=5)
        versions = []
        for number in (2, 3):
            client.add(number)
            client.start()
            versions.append(client.call("get_pgid_stats", pgids=[5])["ver_id"]["5"])
            client.on("stop_traffic")
        assert versions[0] != versions[1]

    def test_counters_that_go_back_have_another_version(self, client):
        """TRex's client ends in an assertion where a counter is less than it was."""
        versions = []
        client.acquire()
        for numbers in ((2, 3), (2,), (3,), (2, 3)):
            for number in numbers:
                client.add(number, stats="stats", pg_id=5)
            client.start()
            versions.append(client.call("get_pgid_stats", pgids=[5])["ver_id"]["5"])
            client.on("stop_traffic")
            client.on("remove_all_streams")
        assert len(set(versions)) == 4

    def test_names_and_values_of_a_ports_own_counters_match(self, client):
        names = client.call("get_port_xstats_names", port_id=0)["xstats_names"]
        values = client.call("get_port_xstats_values", port_id=1)["xstats_values"]
        assert len(names) == len(values) == 2


@pytest.mark.parametrize(
    "name", ["push_remote", "conf_ns_batch", "enable_tpg", "start_capture_port", "set_global_cfg"]
)
def test_what_is_refused_has_a_reason(client, name):
    assert name in client.refused(name, port_id=0)


def test_attributes_that_a_port_has_anyway_are_taken(client):
    client.acquire()
    client.on("set_port_attr", attr={"promiscuous": {"enabled": True}, "link_status": {"up": True}})
    handler = client.handlers[0]
    for name, value in (("led_status", {"on": True}), ("vxlan_fs", [4789])):
        refused = client.refused("set_port_attr", port_id=0, handler=handler, attr={name: value})
        assert name in refused


def test_frames_are_sent_with_the_ports_addresses_where_they_are_asked_for(client, engine):
    frame = bytes(range(60))
    words = {"binary": base64.b64encode(frame).decode()}
    pushed = {"pkts": [words, words | {"use_port_dst_mac": True, "use_port_src_mac": True}]}
    assert "not acquired" in client.refused("push_pkts", port_id=0, **pushed)
    client.acquire()
    client.call("push_pkts", port_id=0, **pushed)
    addresses = bytes.fromhex("020000000000" + "020000000100")
    assert engine.asked == [("inject", "t0", frame, addresses + frame[12:])]
    assert "13 bytes" in client.refused(
        "push_pkts", port_id=0, pkts=[{"binary": base64.b64encode(bytes(13)).decode()}]
    )


def test_a_server_ends_when_it_is_asked(client):
    client.acquire(user="other")
    assert "use force" in client.refused("shutdown", user="me")
    assert not client.server.is_ended
    client.call("shutdown", user="me", force=True)
    assert client.server.is_ended


class TestParts:
    def test_added_rates(self):
        mul = Multiplier(type="pps", value=50, op="sub")
        assert scale_for(mul, Rates(pps=100), Rates(), LINK_BPS, 2.0) == pytest.approx(1.5)
        with pytest.raises(FailedError, match="more than 0"):
            scale_for(mul, Rates(pps=100), Rates(), LINK_BPS, 0.1)

    def test_a_rate_below_the_latency_streams_is_refused(self):
        with pytest.raises(FailedError, match="latency streams"):
            scale_for(Multiplier(type="pps", value=5), Rates(pps=9), Rates(pps=6), LINK_BPS)

    def test_rates_of_a_stream_agree(self):
        for kind, value in (("pps", 1e6), ("l2_bps", 512e6), ("l1_bps", 672e6), ("percent", 6.72)):
            assert rates_of(kind, value, 64, LINK_BPS).pps == pytest.approx(1e6)

    def test_payloads(self):
        assert payload_of(ETHERNET + UDP4 + bytes(20)).offset == 42
        assert payload_of(ETHERNET + b"\x81\0\0\1" + UDP4 + bytes(20)).offset == 46
        fragment = ETHERNET + UDP4[:8] + b"\x20\0" + UDP4[10:]
        assert payload_of(fragment).offset is None
        assert payload_of(ETHERNET + b"\x08\x06" + bytes(50)).offset is None

    @given(st.binary(max_size=120))
    def test_a_payload_is_in_the_frame(self, frame):
        offset = payload_of(frame).offset
        assert offset is None or 14 <= offset <= len(frame) + 60

    def test_a_rate_is_0_as_soon_as_nothing_moves(self):
        smoothed = Smoothed()
        for second, value in enumerate((0, 100, 300, 300)):
            smoothed.read(value, float(second))
        assert smoothed.rate == 0.0

    def test_sessions_that_ask_no_more_are_forgotten(self):
        events = Events()
        for number in range(3 * SESSIONS_MAX):
            events.taken(number, float(number))
        assert len(events._queues) <= SESSIONS_MAX
