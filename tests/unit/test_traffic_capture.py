"""Captures as profiles: libpcap reads them, addresses vary, checksums stay right."""

import contextlib
import struct
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    ICMPv6MLReport,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
    RouterAlert,
)
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import PcapNgWriter, wrpcap

from linerate.model.suites import DUT_MACS, streams
from linerate.model.testbed import Testbed
from linerate.traffic import TrafficError, find, offered_by
from linerate.traffic.addresses import shifted
from linerate.traffic.capture.capture_file import read_capture
from linerate.traffic.capture.capture_profile import parts_of_round
from linerate.traffic.ethernet import network_of, tags_of

ENDS = {"src": "16.0.0.1", "dst": "48.0.0.1"}
ENDS6 = {"src": "2001:db8::1", "dst": "2001:db8:1::1"}
#: Given, so that scapy sends no ARP.
MACS = ("02:00:00:00:00:01", "02:00:00:00:00:02")
ETHER = Ether(src=MACS[0], dst=MACS[1])
FRAMES = [
    ETHER / IP(**ENDS) / UDP(sport=1, dport=2) / Raw(b"x" * 30),
    ETHER / Dot1Q(vlan=5) / IP(**ENDS) / TCP(sport=1, dport=2) / Raw(b"y" * 31),
    ETHER / IP(**ENDS, frag=3, proto=17) / Raw(b"z" * 40),
    ETHER / IPv6(**ENDS6) / UDP(sport=1, dport=2) / Raw(b"v" * 9),
    ETHER / IPv6(**ENDS6) / ICMPv6EchoRequest(data=b"w" * 17),
    Ether(src=MACS[0], dst=MACS[1], type=0x88B5) / Raw(b"not IP, whatever it is"),
]


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    file = tmp_path / "some.pcap"
    for number, frame in enumerate(FRAMES):
        frame.time = 1.0 + number / 1000
    wrpcap(str(file), [*FRAMES, FRAMES[0]])
    return file


def test_frames_come_in_order_and_alike_ones_are_one_stream(capture):
    profile = find(str(capture))
    assert [stream["places"] for stream in profile.streams] == [[0, 6], [1], [2], [3], [4], [5]]
    for stream, frame in zip(profile.streams, FRAMES, strict=True):
        assert bytes.fromhex(stream["template"])[12:] == bytes(frame)[12:]
    loadtest = offered_by(str(capture), Testbed(), "1x")
    assert loadtest.traffic.offered is not None
    assert not loadtest.traffic.offered.signed
    assert loadtest.directions == 1


def test_pcapng_reads_the_same(capture, tmp_path):
    other = tmp_path / "same.pcapng"
    with PcapNgWriter(str(other)) as writer:
        for frame in FRAMES:
            writer.write(frame)
    contents = [frame.data for frame in read_capture(other)]
    assert contents == [frame.data for frame in read_capture(capture)][:-1]


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: frame.summary()[:30])
@pytest.mark.parametrize("by", [0, 1, 77, 255])
def test_checksums_are_what_scapy_makes_them(frame, by):
    """Sums are deleted and made anew by scapy, which knows nothing of the old ones."""
    made = Ether(shifted(bytes(frame), by, 8))
    wanted = made.copy()
    for layer in (IP, TCP, UDP, ICMPv6EchoRequest):
        if layer in wanted:
            field = "cksum" if layer is ICMPv6EchoRequest else "chksum"
            if not (layer is IP and wanted[IP].frag):
                delattr(wanted[layer], field)
    assert bytes(Ether(bytes(wanted))) == bytes(made)
    if IP in made:
        assert made[IP].src == f"16.0.0.{(1 + by) % 256}"
        assert made[IP].dst == f"48.0.0.{(1 + by) % 256}"


HOP = IPv6ExtHdrHopByHop(options=[RouterAlert()])
TALE = UDP(sport=1, dport=2) / Raw(b"u" * 21)
EXTENDED = [
    HOP / TALE,
    HOP / ICMPv6MLReport(mladdr="ff02::1:3"),
    IPv6ExtHdrDestOpt() / IPv6ExtHdrDestOpt() / TCP(sport=1, dport=2) / Raw(b"t" * 22),
    HOP / IPv6ExtHdrRouting(addresses=["2001:db8::9"], segleft=0) / TALE,
    IPv6ExtHdrFragment(m=1, offset=0, id=7) / TALE,
]


@pytest.mark.parametrize("behind", EXTENDED, ids=lambda behind: behind.summary()[:40])
@pytest.mark.parametrize("by", [1, 200])
def test_checksums_behind_extension_headers_are_what_scapy_makes_them(behind, by):
    made = Ether(shifted(bytes(ETHER / IPv6(**ENDS6) / behind), by, 8))
    assert made[IPv6].dst == f"2001:db8:1::{1 + by:x}"
    wanted = made.copy()
    for layer, field in ((TCP, "chksum"), (UDP, "chksum"), (ICMPv6MLReport, "cksum")):
        if layer in wanted:
            delattr(wanted[layer], field)
    assert bytes(Ether(bytes(wanted))) == bytes(made)


@pytest.mark.parametrize(
    "behind",
    [
        IPv6ExtHdrRouting(addresses=["2001:db8::9"], segleft=1) / TALE,
        IPv6ExtHdrHopByHop(nh=103) / Raw(b"PIM, whose checksum counts addresses"),
        IPv6ExtHdrHopByHop(nh=17, len=9) / Raw(b"cut off"),
    ],
    ids=["routed", "unknown", "cut off"],
)
def test_addresses_stay_where_checksums_may_count_them(behind):
    frame = bytes(ETHER / IPv6(**ENDS6) / behind)
    assert shifted(frame, 1, 8) == frame


def test_what_follows_a_first_fragment_has_no_checksum():
    frame = bytes(ETHER / IPv6(**ENDS6) / IPv6ExtHdrFragment(nh=17, offset=3) / Raw(b"f" * 40))
    made = shifted(frame, 1, 8)
    assert Ether(made)[IPv6].src == "2001:db8::2"
    assert made[54:] == frame[54:]


@pytest.mark.parametrize("tags", [(0x8100,), (0x88A8, 0x8100), (0x9100, 0x8100)])
def test_tags_of_all_kinds_are_looked_behind(tags):
    def tagged(frame):
        return frame[:12] + b"".join(tag.to_bytes(2) + b"\0\7" for tag in tags) + frame[12:]

    frame = bytes(FRAMES[0])
    assert shifted(tagged(frame), 5, 8) == tagged(shifted(frame, 5, 8))
    assert tags_of(tagged(frame)) == tags
    assert network_of(tagged(frame)) == (0x0800, 14 + 4 * len(tags))
    assert network_of(tagged(frame)[: 12 + 4 * len(tags)])[0] == 0


@pytest.mark.parametrize(("loops", "bits"), [(257, 8), (1000, 9), (3, 1)])
def test_loops_that_would_repeat_are_refused(capture, tmp_path, loops, bits):
    file = tmp_path / "looped.yaml"
    file.write_text(f"pcap: {{file: {capture.name}, loops: {loops}, bits: {bits}}}\n")
    with pytest.raises(TrafficError, match=f"{bits} bits are .* of {loops:,} loops"):
        find(str(file))
    file.write_text(f"pcap: {{file: {capture.name}, loops: {1 << bits}, bits: {bits}}}\n")
    assert len(find(str(file)).streams) == 5 * (1 << bits) + 1


@given(st.binary(max_size=120), st.integers(0, 2**32), st.integers(1, 32))
def test_any_bytes_keep_their_length(frame, by, bits):
    assert len(shifted(frame, by, bits)) == len(frame)


def test_loops_vary_addresses(capture, tmp_path):
    file = tmp_path / "looped.yaml"
    file.write_text(f"pcap: {{file: {capture.name}, loops: 3, macs: keep}}\n")
    profile = find(str(file))
    # Five of the six frames differ from loop to loop.
    assert len(profile.streams) == 3 * 5 + 1
    places = sorted(place for stream in profile.streams for place in stream["places"])
    assert places == list(range(21))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "bad.pcap: "),
        (b"what is this, then? not a capture", "expected a pcap"),
        (struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101), "link type"),
        (struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1), "no frame"),
        (
            struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
            + struct.pack("<IIII", 1, 0, 20, 1514)
            + bytes(20),
            "frame 1: ",
        ),
    ],
)
def test_what_is_no_whole_capture_is_refused(tmp_path, content, message):
    file = tmp_path / "bad.pcap"
    file.write_bytes(content)
    with pytest.raises(TrafficError, match=message) as caught:
        find(str(file))
    assert "\n" not in str(caught.value)


@given(st.binary(max_size=300), st.integers(0, 400))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_file_raises_anything_else(tmp_path, noise, at):
    """A good capture whose bytes are overwritten from somewhere on."""
    good = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    good += b"".join(struct.pack("<IIII", n, 0, 60, 60) + bytes(60) for n in range(4))
    file = tmp_path / "noise.pcap"
    file.write_bytes(good[:at] + noise)
    with contextlib.suppress(TrafficError):
        assert find(str(file)).streams


TIMES = st.lists(st.integers(0, 10**12), min_size=2, max_size=60).filter(
    lambda times: max(times) > times[0]
)


def written(file, frames):
    """A capture of frames and when they came, in nanoseconds."""
    with file.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for time, data in frames:
            out.write(struct.pack("<IIII", *divmod(time, 10**9), len(data), len(data)) + data)
    return file


@given(TIMES)
def test_times_are_parts_of_the_capture_and_a_mean_gap(times):
    parts = parts_of_round(times)
    assert parts is not None
    assert parts[0] == 0
    assert parts == sorted(parts)
    assert parts[-1] < 1
    # A clock that goes backwards stands still instead.
    reported = list(accumulate(times, max))
    took = reported[-1] - reported[0]
    whole = took + took / (len(times) - 1)
    for part, time in zip(parts, reported, strict=True):
        assert part * whole == pytest.approx(time - reported[0], rel=1e-9, abs=1e-6)


def test_without_times_there_are_no_gaps():
    assert parts_of_round([5]) is None
    assert parts_of_round([5, 5, 4]) is None


@given(TIMES, st.integers(1, 4), st.lists(st.booleans(), min_size=60, max_size=60))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
def test_both_directions_share_a_clock(tmp_path, times, loops, senders):
    """Places of each side are whole rounds, and all times together are the capture's."""
    times = sorted(times)
    macs = [bytes.fromhex(mac.replace(":", "")) for mac in MACS]
    frames = [
        (time, macs[1 - one] + macs[one] + b"\x88\xb5" + bytes(46))
        for time, one in zip(times, senders, strict=False)
    ]
    written(tmp_path / "both.pcap", frames)
    profile = tmp_path / "both.yaml"
    profile.write_text(f"pcap: {{file: both.pcap, sides: {{t0: ['{MACS[0]}']}}, loops: {loops}}}")
    made = find(str(profile)).streams
    together = []
    for side in (0, 1):
        mine = [one for one in made if one["port"] == side]
        places = sorted(
            (place, at) for one in mine for place, at in zip(one["places"], one["at"], strict=True)
        )
        count = loops * senders[: len(times)].count(bool(side))
        assert [place for place, _ in places] == list(range(count))
        assert [at for _, at in places] == sorted(at for _, at in places)
        together += [at for _, at in places]
        round_s = (times[-1] - times[0]) / 1e9 * len(times) / (len(times) - 1) * loops
        assert sum(one["rate"]["pps"] for one in mine) == pytest.approx(count / round_s)
    parts = parts_of_round(times)
    assert parts is not None
    wanted = sorted((loop + part) / loops for loop in range(loops) for part in parts)
    assert sorted(together) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("rate", "pacing", "kept"),
    [
        ("1x", "", True),
        ("0.5x", "", True),
        ("40%", "", False),
        ("5kpps", "", False),
        ("1x", ", pacing: even", False),
        ("40%", ", pacing: captured", True),
    ],
)
def test_gaps_are_kept_where_rates_are_the_captures(capture, tmp_path, rate, pacing, kept):
    file = tmp_path / "paced.yaml"
    file.write_text(f"pcap: {{file: {capture.name}{pacing}}}")
    loadtest = offered_by(str(file), Testbed(), rate)
    offered = loadtest.traffic.offered
    assert offered is not None
    assert offered.uneven == kept
    assert offered.text.endswith("gaps as captured" if kept else "evenly spaced")
    made = streams(loadtest, DUT_MACS, {"percent": 100})
    assert made
    assert all(("at" in stream) == kept for stream in made)


IP_FRAMES = [
    ETHER / IP(src="10.1.2.3", dst="192.0.2.1") / UDP(),
    Ether(src=MACS[1], dst=MACS[0]) / IP(src="192.0.2.1", dst="10.1.2.3") / UDP(),
    ETHER / IPv6(src="2001:db8::9", dst="2001:db8:1::1") / UDP(),
    Ether(src=MACS[1], dst="ff:ff:ff:ff:ff:ff") / ARP(psrc="192.0.2.1", pdst="10.1.2.3"),
    ETHER / Dot1Q(vlan=7) / ARP(psrc="10.1.2.3", pdst="192.0.2.1"),
]


@pytest.mark.parametrize(
    ("sides", "found"),
    [
        ("first", [0, 1, 0, 1, 0]),
        ("{t0: [10.0.0.0/8, '2001:db8::/64']}", [0, 1, 0, 1, 0]),
        ("{t1: [10.0.0.0/8, '2001:db8::/64']}", [1, 0, 1, 0, 1]),
        (f"{{t0: [10.0.0.0/8], t1: [192.0.2.0/24, '{MACS[0].upper()}']}}", "both sides"),
        ("{t0: [10.0.0.0/8], t1: [192.0.2.0/24]}", "frame 3: from 2001:db8::9"),
        ("{t0: [10.1.2.3]}", "frame 3: .* of neither side"),
        ("{t0: [here]}", "expected a network as 10.0.0.0/8 or a MAC"),
        ("{}", "expected networks or MAC addresses"),
        ("last", "sides"),
    ],
)
def test_sides_are_found_by_who_sent_a_frame(tmp_path, sides, found):
    wrpcap(str(tmp_path / "link.pcap"), IP_FRAMES)
    file = tmp_path / "link.yaml"
    file.write_text(f"pcap: {{file: link.pcap, macs: keep, sides: {sides}}}")
    if isinstance(found, str):
        with pytest.raises(TrafficError, match=found):
            find(str(file))
        return
    made = {one["template"]: one["port"] for one in find(str(file)).streams}
    assert [made[bytes(frame).hex()] for frame in IP_FRAMES] == found


def test_a_third_sender_is_reported(tmp_path):
    third = Ether(src="02:00:00:00:00:03", dst=MACS[0], type=0x88B5) / Raw(b"?")
    wrpcap(str(tmp_path / "link.pcap"), [*IP_FRAMES, third])
    (tmp_path / "link.yaml").write_text("pcap: {file: link.pcap, sides: first}")
    message = f"frame 6: from 02:00:00:00:00:03, neither {MACS[0]} .t0. nor {MACS[1]} .t1."
    with pytest.raises(TrafficError, match=message):
        find(str(tmp_path / "link.yaml"))


def test_two_captures_are_one_link(tmp_path):
    frame = bytes(ETHER / IP(**ENDS) / UDP() / Raw(b"x" * 20))
    written(tmp_path / "a.pcap", [(10**9 + t, frame) for t in (0, 100, 500)])
    written(tmp_path / "b.pcap", [(10**9 + t, frame) for t in (200, 300)])
    written(tmp_path / "late.pcap", [(2 * 10**9 + t, frame) for t in (200, 300)])
    file = tmp_path / "two.yaml"
    file.write_text("pcap: {t0: a.pcap, t1: b.pcap}")
    one, other = find(str(file)).streams
    assert (one["port"], one["at"]) == (0, pytest.approx([0, 0.16, 0.8]))
    assert (other["port"], other["at"]) == (1, pytest.approx([0.32, 0.48]))
    assert offered_by(str(file), Testbed(), "1x").directions == 2
    for wrong, message in (
        ("{t0: a.pcap, t1: late.pcap}", "captured at another time"),
        ("{t0: a.pcap}", "expected either file, or t0 and t1"),
        ("{file: a.pcap, t1: b.pcap}", "expected either file, or t0 and t1"),
        ("{t0: a.pcap, t1: b.pcap, sides: first}", "sides: of one file"),
    ):
        file.write_text(f"pcap: {wrong}")
        with pytest.raises(TrafficError, match=message):
            find(str(file))
