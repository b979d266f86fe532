"""RFC 8200, IPv6: what a router does with packets that it forwards."""

from collections.abc import Iterator
from typing import Any

import pytest
from scapy.compat import raw
from scapy.layers.inet import ICMP, TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
    PadN,
    RouterAlert,
)
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from tests.system.conformance.router import (
    HOST6,
    NETWORK6,
    SMALL_MTU,
    Router,
    forwarded6,
    ip6_config,
)

SOURCE, DESTINATION = f"{NETWORK6[0]}:1", f"{NETWORK6[1]}:1"


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Router]:
    folder = tmp_path_factory.mktemp("router")
    config = ip6_config()
    config["routes"].append({"prefix": "2001:db8:200:0:8000::/65", "via": HOST6[2]})
    with Router(folder, config) as router:
        yield router


def udp6(router: Router, size: int = 20, extension: Packet | None = None, **fields: Any) -> Packet:
    ip = IPv6(**{"src": SOURCE, "dst": DESTINATION, "hlim": 64, **fields})
    if extension is not None:
        ip = ip / extension
    frame = router.ether(0) / ip / UDP(sport=1000, dport=2000) / Raw(b"x" * size)
    return Ether(raw(frame))


@pytest.mark.parametrize("size", [0, 1, 100, 1452])
@pytest.mark.smoke("100")
def test_3_forwarding(router: Router, size: int) -> None:
    """3: hop limit lowered by one, all else as it was; alone in its vector as among others."""
    packet = udp6(router, size)
    expected = forwarded6(router, packet, 1)
    assert router.send((0, packet)).out == ([], [expected], [])
    assert router.send_vector(0, packet).out == ([], [expected] * 255, [])


@pytest.mark.parametrize("hlim", [2, 3, 64, 255])
def test_3_hop_limit(router: Router, hlim: int) -> None:
    """3: each node that forwards lowers the hop limit by one."""
    packet = udp6(router, hlim=hlim)
    assert router.send((0, packet)).out[1] == [forwarded6(router, packet, 1)]


@pytest.mark.parametrize("hlim", [0, 1])
def test_3_hop_limit_runs_out(router: Router, hlim: int) -> None:
    """3: a packet whose hop limit is 0, or comes to 0, is discarded."""
    outcome = router.send((0, udp6(router, hlim=hlim)))
    assert outcome.out[1] == []
    assert outcome.reasons


@pytest.mark.parametrize("hlim", [1, 64])
def test_3_destination_accepts_any_hop_limit(router: Router, hlim: int) -> None:
    """3: the node that is the destination does not discard for the hop limit."""
    echo = router.ether(0) / IPv6(src=SOURCE, dst="2001:db8:0:2::1", hlim=hlim)
    out = router.send((0, echo / ICMPv6EchoRequest(id=1))).only(0)
    assert out[IPv6].src == "2001:db8:0:2::1"


@pytest.mark.parametrize(("tc", "fl"), [(0, 0), (0xB8, 0), (0xFF, 0xFFFFF), (1, 0x12345)])
def test_6_7_traffic_class_and_flow_label(router: Router, tc: int, fl: int) -> None:
    """6, 7: traffic class and flow label pass as they are."""
    packet = udp6(router, tc=tc, fl=fl)
    assert router.send((0, packet)).out[1] == [forwarded6(router, packet, 1)]


@pytest.mark.parametrize(
    "extension",
    [
        IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 4)]),
        IPv6ExtHdrRouting(addresses=["2001:db8::9"]),
        IPv6ExtHdrFragment(m=1, offset=0, id=7),
        IPv6ExtHdrFragment(m=0, offset=100, id=7),
        IPv6ExtHdrHopByHop(options=[RouterAlert()]),
        IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0" * 4)]) / IPv6ExtHdrDestOpt(),
    ],
    ids=["destination", "routing", "first-fragment", "fragment", "hop-by-hop", "two"],
)
def test_4_extension_headers(router: Router, extension: Packet) -> None:
    """4: but for hop-by-hop options they are not examined on the way, nor changed or removed."""
    packet = udp6(router, extension=extension)
    assert router.send((0, packet)).out[1] == [forwarded6(router, packet, 1)]


@pytest.mark.parametrize("upper", [TCP(), ICMP(), ICMPv6EchoRequest(), Raw(b"?" * 20)])
def test_3_upper_layers(router: Router, upper: Packet) -> None:
    """3: whatever follows is forwarded, known or not; also with no next header (4.7)."""
    frame = router.ether(0) / IPv6(src=SOURCE, dst=DESTINATION, nh=59) / upper
    packet = Ether(raw(frame))
    assert router.send((0, packet)).out[1] == [forwarded6(router, packet, 1)]


def test_5_no_fragmentation_by_routers(router: Router) -> None:
    """5, 4.5: only the source fragments; a router never does."""
    packet = udp6(router, SMALL_MTU - 47, dst=f"{NETWORK6[2]}:1")
    outcome = router.send((0, packet))
    assert outcome.out[2] == []
    fits = udp6(router, SMALL_MTU - 48, dst=f"{NETWORK6[2]}:1")
    assert router.send((0, fits)).out[2] == [forwarded6(router, fits, 2)]


@pytest.mark.parametrize("version", [0, 4, 5, 7, 15])
def test_3_version(router: Router, version: int) -> None:
    """3: the version is 6."""
    outcome = router.send((0, udp6(router, version=version)))
    assert outcome.nothing
    assert outcome.dropped("ip6-input", "version"), outcome


@pytest.mark.parametrize("size", [15, 30, 53])
def test_3_truncated_header(router: Router, size: int) -> None:
    """3: a header has 40 bytes."""
    outcome = router.send((0, raw(udp6(router))[:size]))
    assert outcome.nothing
    assert sum(outcome.reasons.values()) == 1, outcome


def test_3_payload_length(router: Router) -> None:
    """3: what is shorter than it says is discarded; what is longer has padding at its end."""
    packet = udp6(router, plen=200)
    assert router.send((0, packet)).nothing
    packet = udp6(router, 0)
    assert router.send((0, raw(packet) + b"\xee" * 8)).out[1] == [forwarded6(router, packet, 1)]


@pytest.mark.parametrize(
    ("dst", "port"),
    [
        ("2001:db8:200::1", 1),
        ("2001:db8:200:0:7fff::", 1),
        ("2001:db8:200:0:8000::", 2),
        ("2001:db8:200:0:ffff::1", 2),
        ("2001:db8:200:1:8000::", 1),
        (HOST6[1], 1),
    ],
)
def test_longest_match(router: Router, dst: str, port: int) -> None:
    """RFC 7608: all prefix lengths up to /128 are forwarded by, the longest match wins."""
    packet = udp6(router, dst=dst)
    assert router.send((0, packet)).out[port] == [forwarded6(router, packet, port)]


@pytest.mark.parametrize("dst", ["::", "::1", "ff02::1", "ff0e::1", "fe80::1234"])
def test_rfc4291_2_5_never_forwarded(router: Router, dst: str) -> None:
    """RFC 4291 2.5.2, 2.5.3, 2.5.6: unspecified, loopback, link-local: never to another link."""
    outcome = router.send((0, udp6(router, dst=dst)))
    assert outcome.out[1] == outcome.out[2] == []


@pytest.mark.parametrize("src", ["::1", "ff02::1", "fe80::1"])
def test_rfc4291_2_5_sources(router: Router, src: str) -> None:
    """RFC 4291 2.5.3, 2.5.6, 2.7: MUST NOT forward from loopback, link-local, multicast."""
    outcome = router.send((0, udp6(router, src=src)))
    assert outcome.out[1] == outcome.out[2] == []


def test_link_layer_broadcast(router: Router) -> None:
    """RFC 2464 7: unicast packets in multicast frames must not be forwarded."""
    packet = udp6(router)
    packet.dst = "33:33:00:00:00:01"
    assert router.send((0, packet)).nothing
