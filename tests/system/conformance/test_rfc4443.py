"""RFC 4443, ICMPv6: errors and echo of a router."""

from collections.abc import Iterator
from typing import Any

import pytest
from scapy.compat import raw
from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6ND_NS,
    ICMPv6PacketTooBig,
    ICMPv6ParamProblem,
    ICMPv6TimeExceeded,
    IPv6,
    IPv6ExtHdrFragment,
)
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from tests.system.conformance.router import (
    HOSTS,
    NETWORK6,
    ROUTER6,
    SMALL_MTU,
    Router,
    ip6_config,
)

SOURCE, DESTINATION = f"{NETWORK6[0]}:1", f"{NETWORK6[1]}:1"
NOWHERE = "2001:db8:dead::1"
MINIMUM_MTU = 1280


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Router]:
    folder = tmp_path_factory.mktemp("router")
    config = ip6_config()
    with Router(folder, config) as router:
        yield router


def packet6(router: Router, upper: Packet, **fields: Any) -> Packet:
    ip = IPv6(**{"src": SOURCE, "dst": DESTINATION, "hlim": 64, **fields})
    return Ether(raw(router.ether(0) / ip / upper))


def udp6(router: Router, size: int = 20, **fields: Any) -> Packet:
    return packet6(router, UDP(sport=1000, dport=2000) / Raw(b"x" * size), **fields)


def check_error(router: Router, error: Packet, about: Packet, kind: tuple[int, int]) -> None:
    """2.2, 2.3, 2.4 (c): addresses, checksum, and as much of the packet as fits in 1280 bytes."""
    data = raw(error)
    assert (error.src, error.dst) == (router.macs[0], HOSTS[0])
    assert (error[IPv6].src, error[IPv6].dst) == (ROUTER6[0], about[IPv6].src)
    assert (data[54], data[55]) == kind
    quoted = raw(about[IPv6])[: MINIMUM_MTU - 48]
    # The router may have lowered the hop limit already.
    got = bytearray(data[62:])
    got[7] = quoted[7]
    assert bytes(got) == quoted
    again = Ether(data)
    del again[IPv6].payload.cksum
    assert raw(again) == data


# 2.1 to 2.4


@pytest.mark.parametrize("kind", [1, 2, 3, 4, 100, 127])
def test_2_4_e_1_never_about_an_error(router: Router, kind: int) -> None:
    """2.4 (e.1): MUST NOT be originated as a result of an ICMPv6 error message."""
    message = Raw(bytes([kind, 0, 0, 0, 0, 0, 0, 0]) + raw(IPv6(src=DESTINATION, dst=SOURCE)))
    for fields in ({"hlim": 1}, {"dst": NOWHERE}):
        assert router.send((0, packet6(router, message, nh=58, **fields))).nothing


def test_2_4_e_2_never_about_a_redirect(router: Router) -> None:
    """2.4 (e.2): MUST NOT be originated as a result of an ICMPv6 redirect."""
    message = Raw(bytes([137, 0, 0, 0]) + bytes(36))
    assert router.send((0, packet6(router, message, nh=58, dst=NOWHERE))).nothing


@pytest.mark.parametrize("kind", [128, 129, 130])
def test_2_4_e_about_other_messages(router: Router, kind: int) -> None:
    """2.4: informational messages are no errors: one is sent about them."""
    packet = packet6(router, Raw(bytes([kind]) + bytes(11)), nh=58, dst=NOWHERE)
    check_error(router, router.send((0, packet)).only(0), packet, (1, 0))


@pytest.mark.parametrize("dst", ["ff02::1", "ff02::2", "ff0e::99"])
def test_2_4_e_3_never_about_multicast(router: Router, dst: str) -> None:
    """2.4 (e.3): MUST NOT be originated about a packet to a multicast address."""
    for hlim in (1, 64):
        assert router.send((0, udp6(router, dst=dst, hlim=hlim))).nothing


@pytest.mark.parametrize("mac", ["33:33:00:00:00:01", "ff:ff:ff:ff:ff:ff"])
def test_2_4_e_4_never_about_link_layer_groups(router: Router, mac: str) -> None:
    """2.4 (e.4), (e.5): nor about one sent as a link layer multicast or broadcast."""
    packet = udp6(router, hlim=1)
    packet.dst = mac
    assert router.send((0, packet)).nothing


@pytest.mark.parametrize("src", ["::", "ff02::1", "::1"])
def test_2_4_e_6_to_no_single_node(router: Router, src: str) -> None:
    """2.4 (e.6): nor when the source does not identify a single node."""
    for fields in ({"hlim": 1}, {"dst": NOWHERE}):
        assert router.send((0, udp6(router, src=src, **fields))).nothing


def test_2_4_f_rate_limit(router: Router) -> None:
    """2.4 (f): a node MUST limit the rate at which it originates errors."""
    packet = udp6(router, dst=NOWHERE)
    sent = answered = 0
    while sent == answered and sent < 20000:
        outcome = router.send_vector(0, packet)
        sent += 255
        answered += len(outcome.out[0])
    assert answered < sent
    assert any("rate limited" in reason for reason in outcome.reasons)
    router.wait(0.3)


@pytest.mark.parametrize("size", [0, 100, 1183, 1184, 1185, 1400])
def test_2_4_c_as_much_as_fits(router: Router, size: int) -> None:
    """2.4 (c): an error MUST quote as much as fits without exceeding 1280 bytes."""
    packet = udp6(router, size, dst=NOWHERE)
    error = router.send((0, packet)).only(0)
    check_error(router, error, packet, (1, 0))
    assert len(error[IPv6]) <= MINIMUM_MTU


def test_2_2_source_address(router: Router) -> None:
    """2.2 (b): a unicast address of the node's own; of where the packet came in, which says most.

    The packet's source lies behind another port: the error goes out there nevertheless.
    """
    packet = udp6(router, src=f"{NETWORK6[1]}:9", dst=f"{NETWORK6[2]}:1", hlim=1)
    error = router.send((0, packet)).only(1)
    assert (error[IPv6].src, error[IPv6].dst) == (ROUTER6[0], f"{NETWORK6[1]}:9")


def test_2_2_source_address_of_the_destination(router: Router) -> None:
    """2.2 (a): about a packet to one of the node's addresses it MUST be that address."""
    packet = udp6(router, dst=ROUTER6[2])
    error = router.send((0, packet)).only(0)
    assert (error[IPv6].src, error[IPv6].dst) == (ROUTER6[2], SOURCE)


# 3.1 to 3.4


@pytest.mark.smoke
def test_3_1_no_route(router: Router) -> None:
    """3.1: code 0: no route to the destination."""
    packet = udp6(router, dst=NOWHERE)
    outcome = router.send((0, packet))
    error = outcome.only(0)
    check_error(router, error, packet, (1, 0))
    assert error[ICMPv6DestUnreach].unused == 0
    assert outcome.dropped("ip6-lookup", "no route")


def test_3_1_address_unreachable(router: Router) -> None:
    """3.1, RFC 4861 7.2.2: code 3 when neighbour discovery has no answer after three tries."""
    packet = udp6(router, dst="2001:db8:0:2::66")
    first = router.send((0, packet))
    later = router.wait(4.5)
    asked = [f for f in first.out[1] + later.out[1] if ICMPv6ND_NS in Ether(f)]
    assert 1 <= len(asked) <= 5
    (error,) = [Ether(frame) for frame in later.out[0]]
    assert (error[ICMPv6DestUnreach].type, error[ICMPv6DestUnreach].code) == (1, 3)


@pytest.mark.parametrize("upper", [UDP(sport=1, dport=2), TCP(sport=1, dport=2)])
def test_3_1_port_unreachable(router: Router, upper: Packet) -> None:
    """3.1: code 4 from a destination without a listener (SHOULD)."""
    packet = packet6(router, upper, dst=ROUTER6[0])
    check_error(router, router.send((0, packet)).only(0), packet, (1, 4))


@pytest.mark.parametrize("size", [SMALL_MTU - 47, 1400])
def test_3_2_packet_too_big(router: Router, size: int) -> None:
    """3.2: MUST be sent about what exceeds the next link's MTU, with that MTU."""
    packet = udp6(router, size, dst=f"{NETWORK6[2]}:1")
    error = router.send((0, packet)).only(0)
    check_error(router, error, packet, (2, 0))
    assert error[ICMPv6PacketTooBig].mtu == SMALL_MTU


@pytest.mark.parametrize("hlim", [0, 1])
def test_3_3_time_exceeded(router: Router, hlim: int) -> None:
    """3.3: a hop limit that is or comes to 0: MUST discard and originate code 0."""
    packet = udp6(router, hlim=hlim)
    error = router.send((0, packet)).only(0)
    check_error(router, error, packet, (3, 0))
    assert ICMPv6TimeExceeded in error


def test_3_4_unknown_next_header(router: Router) -> None:
    """3.4: MUST discard what has a next header that is not known, SHOULD send code 1 with pointer."""
    packet = packet6(router, Raw(b"?" * 20), nh=250, dst=ROUTER6[0])
    error = router.send((0, packet)).only(0)
    check_error(router, error, packet, (4, 1))
    assert error[ICMPv6ParamProblem].ptr == 6


# 4.1, 4.2


@pytest.mark.parametrize("size", [0, 1, 56, 1000, 1452])
@pytest.mark.parametrize("port", range(3))
def test_4_2_echo(router: Router, size: int, port: int) -> None:
    """4.2: MUST answer echo requests, with all of their data, from the address asked."""
    data = bytes(n % 251 for n in range(size))
    request = packet6(router, ICMPv6EchoRequest(id=9, seq=3, data=data), dst=ROUTER6[port])
    reply = router.send((0, request)).only(0)
    assert (reply[IPv6].src, reply[IPv6].dst) == (ROUTER6[port], SOURCE)
    echo = reply[ICMPv6EchoReply]
    assert (echo.code, echo.id, echo.seq, bytes(echo.data)) == (0, 9, 3, data)
    again = Ether(raw(reply))
    del again[ICMPv6EchoReply].cksum
    assert raw(again) == raw(reply)


def test_2_3_checksum_of_echo(router: Router) -> None:
    """2.3: the checksum covers a pseudo-header; a request with a wrong one is not answered."""
    request = packet6(router, ICMPv6EchoRequest(cksum=0x1234), dst=ROUTER6[0])
    outcome = router.send((0, request))
    assert outcome.nothing
    assert outcome.dropped("ip6-local", "checksum")


def test_2_4_b_unknown_informational(router: Router) -> None:
    """2.4 (b): informational messages of an unknown type MUST be discarded silently."""
    for kind in (150, 200, 255):
        packet = packet6(router, Raw(bytes([kind]) + bytes(7)), nh=58, dst=ROUTER6[0])
        assert router.send((0, packet)).nothing


def test_4_2_echo_in_a_fragment(router: Router) -> None:
    """The router does not reassemble: fragments for itself are not answered."""
    packet = packet6(
        router, IPv6ExtHdrFragment(m=1, id=5) / ICMPv6EchoRequest(data=b"x" * 8), dst=ROUTER6[0]
    )
    assert router.send((0, packet)).nothing
