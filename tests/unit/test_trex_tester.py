"""A TRex server as the tester: streams in its words, its counters in ours, and its mistakes."""

import json
import sys
from typing import Any

import pytest

from linerate.base import histogram
from linerate.base.errors import SetupError, TestbedError
from linerate.lab.trex import client
from linerate.lab.trex.client import read_reply
from linerate.lab.trex.streams import trex_streams
from linerate.lab.trex.tester import TrexTester, counted, histogram_of
from linerate.model.suites import DUT_MACS, SUITES, streams
from linerate.model.testbed import parse

U2, B4 = SUITES["standard"].loadtests[1], SUITES["standard"].loadtests[7]
LINK = 10_000_000_000
MACS = ["02:00:00:00:0e:00", "02:00:00:00:0e:01"]
BED: dict[str, Any] = {
    "tester": {"kind": "trex", "server": "trex"},
    "dut": {"kind": "external", "macs": MACS},
}


def engine_streams(loadtest):
    return streams(loadtest, DUT_MACS, {"percent": 100})


def checksum(words):
    total = sum(int.from_bytes(words[at : at + 2], "big") for at in range(0, len(words), 2))
    return (total & 0xFFFF) + (total >> 16)


def test_a_frame_and_the_fields_that_vary_in_it():
    (made,) = trex_streams(engine_streams(U2), LINK, 0.5, (2, 3))
    frame = bytes.fromhex(made["frame"])
    assert len(frame) == 60
    assert frame[:14].hex(":").startswith(DUT_MACS[0])
    assert checksum(frame[14:34]) == 0xFFFF
    assert int.from_bytes(frame[16:18], "big") == 46
    assert (made["port"], made["rx_port"], made["group"]) == (2, 3, 1)
    assert made["pps"] == pytest.approx(0.5 * 14_880_952.38)
    assert [(one["offset"], one["size"], one["op"]) for one in made["fields"]] == [
        (26, 4, "inc"), (30, 4, "random"), (34, 2, "random"),
    ]  # fmt: skip
    assert made["fields"][0]["max"] - made["fields"][0]["min"] == 253


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"flows": {"count": 10}}, "flows"),
        ({"burst": 7}, "burst"),
        ({"frame_bytes": None}, "several sizes"),
        ({"rate": {"max": True}}, "rate max"),
        ({"layers": [{"ethernet": {}}, {"mpls": {}}, {"ipv4": {}}]}, "ethernet / mpls / ipv4"),
        ({"modifiers": [{"field": "vlan.id", "op": "random", "min": 1, "max": 2}]}, "vlan.id"),
        ({"program": {"x": 1}}, "program"),
    ],
)
def test_what_it_cannot_say_is_refused_in_a_line(changes, why):
    given = engine_streams(U2)[0] | changes
    with pytest.raises(SetupError, match=why) as refusal:
        trex_streams([given], LINK, 1.0, (0, 1))
    assert "\n" not in str(refusal.value)
    assert str(refusal.value).startswith("stream U2-t0: ")


class Fake:
    """A driver whose server received all but a tenth."""

    def __init__(self):
        self.calls = []
        self.sent = 0

    def ask(self, call, **parameters):
        self.calls.append(call)
        if call == "connect":
            return {"version": "v3.08", "drivers": ["net_ice"]}
        if call == "start":
            self.sent = 1000
        if call == "counters":
            port = dict.fromkeys(("obytes", "ibytes", "oerrors", "ierrors"), 0)
            times = {
                "average_us": 10.0, "min_us": 5.0, "max_us": 20.0, "jitter_us": 1.0,
                "histogram": [[5, 400], [10, 500]], "dropped": 0, "out_of_order": 0,
                "duplicated": 0,
            }  # fmt: skip
            return {
                "ports": [port | {"opackets": self.sent, "ipackets": 0},
                          port | {"opackets": 0, "ipackets": self.sent and 903}],
                "groups": {"1": {"sent": self.sent, "received": self.sent and 900}},
                "latency": {"1": times} if self.sent else {},
            }  # fmt: skip
        return {"active": False}


def test_its_counters_are_a_ledger():
    fake = Fake()
    tester = TrexTester(fake, engine_streams(U2), LINK, (0, 1))
    assert "v3.08" in tester.info["layout"]
    for trial in (1, 2):
        before = tester.readings()
        tester.start(1, 500_000)
        while tester.progress().state != "done":
            pass
        after = tester.readings()
        ledger = after.ledger.minus(before.ledger)
        # Three frames were of no stream; a hundred are missing, and it does not say where.
        assert (ledger.sent, ledger.received, ledger.other) == (1000, 900, 3)
        assert ledger.unexplained == 100
        assert after.ports["t1"]["rx_packets"] - before.ports["t1"]["rx_packets"] == 903
        progress = tester.progress()
        assert (progress.trial, progress.sent_packets, progress.drained) == (trial, 1000, True)
    (times,) = after.latency
    assert (times.count, times.min_ns, times.max_ns) == (900, 5000, 20_000)
    assert fake.calls.count("start") == 2


def test_a_stop_says_how_long_it_sent():
    fake = Fake()
    tester = TrexTester(fake, engine_streams(U2), LINK, (0, 1))
    tester.start(3_600_000_000, 500_000)
    assert tester.progress().state == "running"
    tester.stop()
    assert fake.calls[-1] == "stop"
    assert tester.progress().state == "draining"
    assert tester.progress().elapsed_us < 60_000_000


def test_its_buckets_are_microseconds():
    found = histogram.from_text(histogram_of([(0, 1), (10, 2)]))
    assert found.total_count == 3
    assert found.get_max_value() == pytest.approx(10_000, rel=0.01)
    assert histogram_of([]) == ""


@pytest.mark.parametrize("line", [b"", b"{", b"7", b"[]", b'{"reply": 1}', b"\xff", b"[" * 99999])
def test_lines_that_are_no_reply(line):
    with pytest.raises(SetupError, match="no reply that this version reads"):
        read_reply(line)


def test_complaints_of_the_client_are_lines():
    assert read_reply(b'{"reply": {"active": true}}') == {"active": True}
    with pytest.raises(SetupError, match="TRex: port 0 is owned by 'somebody'"):
        read_reply(json.dumps({"error": "port 0 is owned by 'somebody'"}).encode())
    with pytest.raises(SetupError, match="unexpected counters: ports"):
        counted({"ports": [1, 2]})


def test_a_testbed_names_its_server():
    bed = parse(BED, "x")
    assert (bed.wire, bed.by_server, bed.by_tool) == ("cabled", True, False)
    assert bed.tester is not None
    assert bed.tester.server_address == ("trex", 4501, 4500)
    named = BED | {"tester": {"kind": "trex", "server": "10.0.0.1:7:8", "server_ports": [2, 3]}}
    tester = parse(named, "x").tester
    assert tester is not None
    assert tester.server_address == ("10.0.0.1", 7, 8)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"tester": {"kind": "trex"}}, "server: expected with `kind: trex`"),
        ({"tester": {"server": "trex"}}, "server: expected with `kind: trex`"),
        ({"tester": BED["tester"] | {"server_ports": [1, 1]}}, "two that differ"),
        ({"wire": "memif"}, "wire: expected cabled"),
        ({"wire": "cabled", "tester": None}, "wire: expected cabled"),
        ({"dut": {"kind": "external"}}, "dut.macs: required"),
        ({"dut": {"mode": "io"}}, "wire|dut.macs"),
    ],
)
def test_mistakes_of_a_testbed(changes, why):
    with pytest.raises(TestbedError, match=why):
        parse(BED | changes, "x")


def test_prerequisites_name_the_package(monkeypatch, tmp_path):
    monkeypatch.setenv(client.FOLDER_VARIABLE, str(tmp_path))
    (lack,) = client.prerequisites()
    assert "pip install 'linerate[trex-client]'" in str(lack) or sys.version_info >= (3, 12)
    (tmp_path / client.PACKAGE).mkdir()
    assert client.folder() == tmp_path
    monkeypatch.setattr(client, "PYTHON_BELOW", (3, 11))
    (lack,) = client.prerequisites()
    assert "needs Python 3.11" in str(lack)
