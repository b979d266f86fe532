"""A capture replayed through the router comes out as scapy computes that it must."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from scapy.compat import raw
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import ICMP, IP, TCP, UDP, fragment
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6PacketTooBig,
    ICMPv6ParamProblem,
    ICMPv6TimeExceeded,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
    PadN,
    RouterAlert,
)
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.packet import Packet, Raw
from scapy.utils import PcapReader, wrpcap
from tests.system.conftest import StartEngine
from tests.system.labs import wait_for

from linerate.engine.engine_process import Engine
from linerate.engine.telemetry import Telemetry

HOSTS = ("50:7c:6f:20:30:70", "50:7c:6f:20:30:71")
VPP_CLI = """
set int state e0 up
set int state e1 up
set int ip address e0 100.64.1.1/30
set int ip address e1 100.64.2.1/30
ip route add 16.0.0.0/24 via 100.64.1.2
ip route add 48.0.0.0/24 via 100.64.2.2
ip neighbor e0 100.64.1.2 50:7c:6f:20:30:70
ip neighbor e1 100.64.2.2 50:7c:6f:20:30:71
mpls table add 0
set interface mpls e0 enable
set interface mpls e1 enable
mpls local-label add 16 eos via 100.64.2.2 e1 out-labels 17
mpls local-label add 17 eos via 100.64.1.2 e0 out-labels 16
mpls local-label add 18 eos via 100.64.2.2 e1
create sub-interfaces e0 100
create sub-interfaces e1 7 dot1ad 300 inner-dot1q 7 exact-match
set int state e0.100 up
set int state e1.7 up
set int ip address e1.7 100.64.3.1/30
set interface mtu packet 576 e1.7
ip route add 47.0.0.0/24 via 100.64.3.2
ip neighbor e1.7 100.64.3.2 50:7c:6f:20:30:71
"""


def rounds(telemetry: Telemetry) -> int:
    return int(telemetry.ask("/linerate/runtime,forwarder-0")["loops"])


class Replay:
    """The router on two pcap devices; what it is given is known once it runs."""

    def __init__(
        self, start_engine: StartEngine, folder: Path, router: dict[str, Any] | None = None
    ) -> None:
        self._start_engine = start_engine
        self._folder = folder
        self._router = router or {"cli": VPP_CLI}

    def macs(self) -> tuple[str, str]:
        """The devices' MAC addresses, asked of an engine that has nothing to do."""
        engine = self._start([])
        with engine.connect() as telemetry:
            ports = {row["name"]: row["mac"] for row in telemetry.table("/linerate/ports")}
        engine.stop()
        return (ports["e0"].lower(), ports["e1"].lower())

    def _start(self, packets: list[Packet]) -> Engine:
        self._packets = len(packets)
        wrpcap(str(self._folder / "in0.pcap"), packets or [Ether() / Raw(b"\0" * 46)])
        wrpcap(str(self._folder / "in1.pcap"), [Ether() / Raw(b"\0" * 46)])
        config: dict[str, Any] = {
            "memory": {"megabytes": 256},
            "ports": [
                {
                    "name": f"e{i}",
                    "driver": "ethdev",
                    "device": f"net_pcap{i}",
                    "devargs": f"rx_pcap={self._folder}/in{i}.pcap,tx_pcap={self._folder}/out{i}.pcap",
                }
                for i in range(2)
            ],
            "forwarder": {"mode": "router", "ports": ["e0", "e1"], "router": self._router},
        }
        return self._start_engine(config)

    def run(self, packets: list[Packet]) -> tuple[list[list[Packet]], dict[str, int]]:
        """Output of each port, and drops by place."""
        engine = self._start(packets)
        with engine.connect() as telemetry:
            wait_for(lambda: telemetry.ask("/linerate/port,e0")["rx_packets"] >= len(packets))
            # The worker has done with what it had taken in by then once it comes round again.
            known = rounds(telemetry)
            wait_for(lambda: rounds(telemetry) > known + 1)
            errors = telemetry.table("/linerate/errors")
        engine.stop()
        out = []
        for i in range(2):
            with PcapReader(str(self._folder / f"out{i}.pcap")) as reader:
                out.append(list(reader))
        return out, {f"{row['node']}: {row['reason']}": row["packets"] for row in errors}


def forwarded(packet: Packet, source: str, destination: str) -> bytes:
    """Forwarded as in RFC 1812: TTL less one, checksum right, new Ethernet addresses."""
    out = Ether(raw(packet))
    out.src, out.dst = source, destination
    out[IP].ttl -= 1
    del out[IP].chksum
    return bytes(raw(out))


def some_packets(router: str) -> list[Packet]:
    dice = random.Random(42)
    ether = Ether(src=HOSTS[0], dst=router)
    packets = []
    for number in range(500):
        ip = IP(
            src=f"16.0.0.{dice.randint(1, 254)}",
            dst=f"48.0.0.{dice.randint(1, 254)}",
            ttl=dice.randint(2, 255),
            tos=dice.randint(0, 255),
            id=dice.randint(0, 65535),
            flags=dice.choice(["", "DF"]),
        )
        payload = Raw(dice.randbytes(dice.randint(18, 1400)))
        ports = {"sport": dice.randint(1, 65535), "dport": dice.randint(1, 65535)}
        upper = [UDP(**ports), TCP(**ports), ICMP(), Raw(b"?")][number % 4]
        packets.append(Ether(raw(ether / ip / upper / payload)))
    return packets


@pytest.mark.smoke
def test_ip4_byte_for_byte(start_engine: StartEngine, tmp_path: Path) -> None:
    replay = Replay(start_engine, tmp_path)
    macs = replay.macs()
    packets = some_packets(macs[0])
    out, errors = replay.run(packets)
    assert len(out[1]) == len(packets), errors
    wanted = [forwarded(packet, macs[1], HOSTS[1]) for packet in packets]
    assert [raw(packet) for packet in out[1]] == wanted


def test_vlans_and_fragments_byte_for_byte(start_engine: StartEngine, tmp_path: Path) -> None:
    """With one tag in, with two out, and cut for an MTU of 576 as scapy cuts them."""
    replay = Replay(start_engine, tmp_path)
    macs = replay.macs()
    packets, wanted = [], []
    for size in (20, 548, 549, 1000, 1472):
        ip = IP(src="16.0.0.1", dst="47.0.0.1", id=size) / UDP() / Raw(b"x" * size)
        packets.append(Ether(src=HOSTS[0], dst=macs[0]) / Dot1Q(vlan=100, prio=5) / ip)
        out = Ether(raw(Ether() / ip))[IP]
        out.ttl -= 1
        del out.chksum
        pieces = fragment(out, fragsize=552) if size > 548 else [out]
        tags = Ether(src=macs[1], dst=HOSTS[1]) / Dot1AD(vlan=300) / Dot1Q(vlan=7)
        wanted += [raw(tags / piece) for piece in pieces]
    out, errors = replay.run(packets)
    assert [raw(packet) for packet in out[1]] == wanted, errors


def mpls(router: str, label: int, ttl: int, inner_ttl: int = 64) -> Packet:
    inner = IP(src="16.0.0.1", dst="48.0.0.1", ttl=inner_ttl) / UDP() / Raw(b"x" * 40)
    packet = Ether(src=HOSTS[0], dst=router, type=0x8847) / MPLS(label=label, s=1, ttl=ttl, cos=3)
    return Ether(raw(packet / inner))


@pytest.mark.smoke
def test_mpls_byte_for_byte(start_engine: StartEngine, tmp_path: Path) -> None:
    replay = Replay(start_engine, tmp_path)
    macs = replay.macs()
    swap, pop = mpls(macs[0], 16, 9), mpls(macs[0], 18, 9)
    out, errors = replay.run([swap, pop])
    assert len(out[1]) == 2, errors
    swapped = Ether(raw(swap))
    swapped.src, swapped.dst = macs[1], HOSTS[1]
    swapped[MPLS].label, swapped[MPLS].ttl = 17, 8
    assert raw(out[1][0]) == raw(swapped)
    # RFC 3443, uniform model: the IP header takes the label's TTL on.
    popped = Ether(src=macs[1], dst=HOSTS[1]) / pop[IP].copy()
    popped[IP].ttl = 8
    del popped[IP].chksum
    assert raw(out[1][1]) == raw(popped)


def broken(router: str) -> list[tuple[str, Packet]]:
    """Frames that must not be forwarded, each with a word of the reason that counts it."""
    ether = Ether(src=HOSTS[0], dst=router)
    good = IP(src="16.0.0.1", dst="48.0.0.1") / UDP() / Raw(b"x" * 30)

    def ip(**fields: Any) -> Packet:
        return Ether(
            raw(ether / IP(src="16.0.0.1", dst="48.0.0.1", **fields) / UDP() / Raw(b"x" * 30))
        )

    whole = raw(ether / good)
    return [
        ("checksum", ip(chksum=0x1234)),
        ("ttl", ip(ttl=1)),
        ("ttl", ip(ttl=0)),
        ("version", ip(version=5)),
        ("length", ip(len=2000)),
        ("length", ip(len=19)),
        ("", Ether(whole[:20])),
        ("", Ether(whole[:33])),
        ("mac", Ether(raw(Ether(src=HOSTS[0], dst="02:99:99:99:99:99") / good))),
        ("type", Ether(raw(Ether(src=HOSTS[0], dst=router, type=0x1234) / Raw(b"x" * 50)))),
        ("label", mpls(router, 999, 64)),
        ("ttl", mpls(router, 16, 1)),
        ("", Ether(raw(Ether(src=HOSTS[0], dst=router) / ARP(hwlen=8)))),
    ]


def test_broken_frames_are_counted_by_name(start_engine: StartEngine, tmp_path: Path) -> None:
    replay = Replay(start_engine, tmp_path)
    macs = replay.macs()
    cases = broken(macs[0])
    out, errors = replay.run([packet for _, packet in cases])
    # One dummy frame arrives on e1, and the source of in1.pcap is no router.
    assert sum(errors.values()) >= len(cases), errors
    for word, count in Counter(word for word, _ in cases).items():
        named = sum(n for reason, n in errors.items() if word in reason.lower())
        assert named >= count, (word, errors)
    assert [p for p in out[1] if IP in p and p[IP].dst == "48.0.0.1"] == []
    assert all(ICMP in packet or ARP in packet for packet in out[0])


PATHS_CLI = (
    VPP_CLI
    + """
ip route add 10.0.0.0/8 via 100.64.1.2 e0 weight 3 via 100.64.2.2 out-labels 100 200
ip route add 11.0.0.0/8 via 100.64.2.2 e1 out-labels 300
mpls local-label add 19 eos via 100.64.2.2 e1 out-labels 21 22 23
mpls local-label add 20 eos via 100.64.1.2 e0 out-labels 31 via 100.64.2.2 e1 out-labels 32
"""
)


def labelled(packet: Packet, labels: list[int], ttl: int, cos: int) -> bytes:
    """The packet as it goes out of e1, its TTL less one, labels before it."""
    ip = packet[IP].copy()
    ip.ttl -= 1
    del ip.chksum
    stack = b"".join(
        raw(MPLS(label=label, cos=cos, s=int(label == labels[-1]), ttl=ttl)) for label in labels
    )
    return stack + bytes(raw(ip))


@pytest.mark.parametrize("model", ["uniform", "pipe"])
def test_labels_on_routes_byte_for_byte(
    start_engine: StartEngine, tmp_path: Path, model: str
) -> None:
    replay = Replay(start_engine, tmp_path, {"cli": PATHS_CLI, "mpls_ttl": model})
    macs = replay.macs()
    packets = some_packets(macs[0])
    for packet in packets:
        packet[IP].dst = "11" + packet[IP].dst[2:]
        del packet[IP].chksum
    packets = [Ether(raw(packet)) for packet in packets]
    out, errors = replay.run(packets)
    assert len(out[1]) == len(packets), errors
    for packet, sent in zip(packets, out[1], strict=True):
        ip = packet[IP]
        ttl, cos = (ip.ttl - 1, ip.tos >> 5) if model == "uniform" else (255, 0)
        wanted = Ether(src=macs[1], dst=HOSTS[1], type=0x8847)
        assert raw(sent) == raw(wanted / Raw(labelled(packet, [300], ttl, cos)))


def test_several_paths_byte_for_byte(start_engine: StartEngine, tmp_path: Path) -> None:
    """Each packet goes one of the two ways, as that way has it; all of a flow go the same."""
    replay = Replay(start_engine, tmp_path, {"cli": PATHS_CLI})
    macs = replay.macs()
    packets = some_packets(macs[0])
    for packet in packets:
        packet[IP].dst = "10" + packet[IP].dst[2:]
        del packet[IP].chksum
    packets = [Ether(raw(packet)) for packet in packets] * 2
    out, errors = replay.run(packets)
    assert len(out[0]) + len(out[1]) == len(packets), errors
    assert 2 < len(out[0]) / len(out[1]) < 4.5
    wanted = [Counter[bytes](), Counter[bytes]()]
    for packet in packets:
        wanted[0][forwarded(packet, macs[0], HOSTS[0])] += 1
        ip = packet[IP]
        header = raw(Ether(src=macs[1], dst=HOSTS[1], type=0x8847))
        wanted[1][header + labelled(packet, [100, 200], ip.ttl - 1, ip.tos >> 5)] += 1
    for port in range(2):
        for frame, count in Counter(raw(packet) for packet in out[port]).items():
            assert wanted[port][frame] == count


def test_label_stacks_byte_for_byte(start_engine: StartEngine, tmp_path: Path) -> None:
    replay = Replay(start_engine, tmp_path, {"cli": PATHS_CLI})
    macs = replay.macs()
    push, both = mpls(macs[0], 19, 9), [mpls(macs[0], 20, 9, inner) for inner in range(2, 40)]
    out, errors = replay.run([push, *both])
    assert len(out[0]) + len(out[1]) == 1 + len(both), errors
    inner = raw(push[IP])
    stack = [MPLS(label=21 + i, cos=3, s=int(i == 2), ttl=8) for i in range(3)]
    wanted = Ether(src=macs[1], dst=HOSTS[1], type=0x8847) / stack[0] / stack[1] / stack[2]
    pushed = [packet for packet in out[1] if packet[MPLS].label == 21]
    assert [raw(packet) for packet in pushed] == [raw(wanted) + inner]
    # The TTL is no part of the flow: all of them go one way.
    labels = Counter(packet[MPLS].label for packet in out[0] + out[1])
    assert labels in (Counter({21: 1, 31: len(both)}), Counter({21: 1, 32: len(both)}))


IP6_CLI = """
set int state e0 up
set int state e1 up
set int mtu packet 1400 e1
set int ip address e0 2001:db8:0:1::1/64
set int ip address e1 2001:db8:0:2::1/64
ip route add 2001:db8:16::/48 via 2001:db8:0:1::2
ip route add 2001:db8:48::/48 via 2001:db8:0:2::2
ip neighbor e0 2001:db8:0:1::2 50:7c:6f:20:30:70
ip neighbor e1 2001:db8:0:2::2 50:7c:6f:20:30:71
"""
ROUTER6 = ("2001:db8:0:1::1", "2001:db8:0:2::1")
MTU6 = 1400
HOP_LIMIT = 64
#: RFC 4443 2.4 (c): an error quotes no more than fits in the smallest MTU.
QUOTED_BYTES = 1280 - 40 - 8


def some_extensions(dice: random.Random) -> list[Packet]:
    return [
        IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 4)]),
        IPv6ExtHdrRouting(addresses=["2001:db8::9"]),
        IPv6ExtHdrFragment(m=1, offset=0, id=dice.randint(0, 2**32 - 1)),
        IPv6ExtHdrFragment(m=0, offset=dice.randint(1, 8191), id=7),
        IPv6ExtHdrHopByHop(options=[RouterAlert()]),
        IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / IPv6ExtHdrFragment(id=9),
    ]


def some_packets6(router: str) -> list[Packet]:
    dice = random.Random(6)
    packets = []
    for number in range(500):
        ip = IPv6(
            src=f"2001:db8:16::{dice.randint(1, 65535):x}",
            dst=f"2001:db8:48:{dice.randint(0, 65535):x}::{dice.randint(1, 65535):x}",
            hlim=dice.randint(2, 255),
            tc=dice.randint(0, 255),
            fl=dice.randint(0, 2**20 - 1),
        )
        if number % 3 == 0:
            ip = ip / dice.choice(some_extensions(dice))
        ports = {"sport": dice.randint(1, 65535), "dport": dice.randint(1, 65535)}
        upper = [UDP(**ports), TCP(**ports), ICMPv6EchoRequest(), Raw(b"?")][number % 4]
        payload = Raw(dice.randbytes(dice.choice([0, 1, 18, 700, 1280])))
        packets.append(Ether(raw(Ether(src=HOSTS[0], dst=router) / ip / upper / payload)))
    return packets


@pytest.mark.smoke
def test_ip6_byte_for_byte(start_engine: StartEngine, tmp_path: Path) -> None:
    """New Ethernet addresses and the hop limit less one; what follows the header is untouched."""
    replay = Replay(start_engine, tmp_path, {"cli": IP6_CLI})
    macs = replay.macs()
    packets = some_packets6(macs[0])
    out, errors = replay.run(packets)
    assert len(out[1]) == len(packets), errors
    for packet, sent in zip(packets, out[1], strict=True):
        wanted = bytearray(raw(packet))
        wanted[0:14] = raw(Ether(src=macs[1], dst=HOSTS[1], type=0x86DD))
        wanted[14 + 7] -= 1
        assert raw(sent) == bytes(wanted)


def packet6(router: str, upper: Packet, **fields: Any) -> Packet:
    ip = IPv6(**{"src": "2001:db8:16::1", "dst": "2001:db8:48::1", "hlim": 64, **fields})
    return Ether(raw(Ether(src=HOSTS[0], dst=router) / ip / upper))


def error6(router: str, about: Packet, message: Packet, source: str = ROUTER6[0]) -> bytes:
    """The error that the sender gets: what fits of its packet behind the message's head."""
    ip = IPv6(src=source, dst=about[IPv6].src, hlim=HOP_LIMIT)
    quoted = Raw(raw(about[IPv6])[:QUOTED_BYTES])
    return bytes(raw(Ether(src=router, dst=HOSTS[0]) / ip / message / quoted))


def test_icmp6_byte_for_byte(start_engine: StartEngine, tmp_path: Path) -> None:
    """Errors (RFC 4443 3.1 to 3.4) and echo replies (4.2) as scapy makes them."""
    replay = Replay(start_engine, tmp_path, {"cli": IP6_CLI})
    mac = replay.macs()[0]
    udp = UDP(sport=1000, dport=2000)
    cases: list[tuple[Packet, bytes]] = []
    for size in (MTU6 - 47, 1450):
        big = packet6(mac, udp / Raw(b"x" * size))
        cases.append((big, error6(mac, big, ICMPv6PacketTooBig(mtu=MTU6))))
    for hlim, size in ((0, 20), (1, 20), (1, 1400 - 48)):
        old = packet6(mac, udp / Raw(b"y" * size), hlim=hlim)
        cases.append((old, error6(mac, old, ICMPv6TimeExceeded())))
    nowhere = packet6(mac, udp / Raw(b"z" * 99), dst="2001:db8:dead::1", tc=3, fl=77)
    cases.append((nowhere, error6(mac, nowhere, ICMPv6DestUnreach(code=0))))
    for address in ROUTER6:
        port = packet6(mac, udp / Raw(b"p" * 9), dst=address)
        cases.append((port, error6(mac, port, ICMPv6DestUnreach(code=4), address)))
        header = packet6(mac, IPv6ExtHdrDestOpt(nh=250) / Raw(b"h" * 9), dst=address)
        cases.append((header, error6(mac, header, ICMPv6ParamProblem(code=1, ptr=40), address)))
        for size in (0, 1, 1000):
            echo = {"id": size, "seq": 7, "data": bytes(n % 251 for n in range(size))}
            request = packet6(mac, ICMPv6EchoRequest(**echo), dst=address, hlim=1)
            ip = IPv6(src=address, dst="2001:db8:16::1", hlim=HOP_LIMIT)
            reply = Ether(src=mac, dst=HOSTS[0]) / ip / ICMPv6EchoReply(**echo)
            cases.append((request, raw(reply)))
    out, errors = replay.run([packet for packet, _ in cases])
    assert [packet for packet in out[1] if IPv6 in packet and packet[IPv6].nh != 58] == []
    # Nodes work one after the other: the messages' order is not the packets'.
    assert Counter(raw(packet) for packet in out[0]) == Counter(reply for _, reply in cases), errors
