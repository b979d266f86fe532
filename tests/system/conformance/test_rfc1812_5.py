"""RFC 1812, Requirements for IP Version 4 Routers, section 5: what forwarding asks for.

Each test is named by the section that it checks. What is not done, and why: docs/conformance.md.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from scapy.compat import raw
from scapy.layers.inet import (
    ICMP,
    IP,
    TCP,
    UDP,
    IPOption_LSRR,
    IPOption_Router_Alert,
    IPOption_SSRR,
    IPOption_Stream_Id,
)
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet, Raw
from tests.system.conformance.router import (
    HOST,
    HOSTS,
    NETWORK,
    ROUTER,
    SMALL_MTU,
    Router,
    forwarded,
    ip4_config,
)

SOURCE, DESTINATION = "16.0.0.1", "48.0.0.1"
BEHIND_SMALL_MTU = "80.0.0.1"


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Router]:
    """Beside the usual routes, more specific ones, and one back to where e0's frames come from."""
    more = [
        {"prefix": "48.0.0.128/25", "via": HOST[2]},
        {"prefix": "48.0.0.200/32", "via": HOST[0]},
        {"prefix": "32.0.0.0/8", "via": HOST[1]},
    ]
    config = ip4_config(routes=more)
    with Router(tmp_path_factory.mktemp("router"), config) as router:
        yield router


def udp(router: Router, size: int = 20, **fields: Any) -> Packet:
    """A frame from the host at e0 to one behind e1, with fields of IP changed."""
    ip = IP(**{"src": SOURCE, "dst": DESTINATION, "ttl": 64, **fields})
    packet = router.ether(0) / ip / UDP(sport=1000, dport=2000) / Raw(b"x" * size)
    return Ether(raw(packet))


# 5.2.2: header validation


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ("checksum", {"chksum": 0x1234}),
        ("version", {"version": 5}),
        ("version", {"version": 6}),
        ("version", {"version": 0}),
        ("header length", {"ihl": 4}),
        ("header length", {"ihl": 0}),
        ("total length", {"len": 19}),
        ("total length", {"len": 0}),
        ("beyond the frame", {"len": 49}),
    ],
)
def test_5_2_2_header_validation(router: Router, words: str, fields: dict[str, Any]) -> None:
    """5.2.2: a packet that fails any of the checks MUST be discarded, and without an error."""
    outcome = router.send((0, udp(router, **fields)))
    assert outcome.nothing
    assert outcome.dropped("ip4-input", words), outcome


@pytest.mark.parametrize("size", range(15, 34))
def test_5_2_2_link_layer_length(router: Router, size: int) -> None:
    """5.2.2 (1): the link layer's length MUST be enough for the minimum header, 20 bytes."""
    outcome = router.send((0, raw(udp(router))[:size]))
    assert outcome.nothing
    assert outcome.dropped("ip4-input", "shorter than an ip4 header"), outcome


def test_5_2_2_header_longer_than_packet(router: Router) -> None:
    """5.2.2 (4), (5): a header length that points beyond the packet is no good one."""
    data = bytearray(raw(udp(router, size=0, ihl=15)))
    outcome = router.send((0, bytes(data)))
    assert outcome.nothing
    assert outcome.dropped("ip4-input", "header length"), outcome


@pytest.mark.parametrize("bit", range(160))
def test_5_2_2_checksum_sees_every_bit(router: Router, bit: int) -> None:
    """5.2.2 (2): the checksum MUST be verified: no header with a flipped bit is forwarded."""
    data = bytearray(raw(udp(router)))
    data[14 + bit // 8] ^= 1 << bit % 8
    outcome = router.send((0, bytes(data)))
    assert outcome.nothing
    assert sum(outcome.reasons.values()) == 1


def test_5_2_2_padding_is_no_part_of_the_packet(router: Router) -> None:
    """5.2.2: the total length says how long the packet is; what the link added is taken off."""
    packet = udp(router, size=0)
    outcome = router.send((0, raw(packet) + b"\xee" * 18))
    assert outcome.out[1] == [forwarded(router, packet, 1)]


@pytest.mark.parametrize("size", [0, 1, 18, 100, 1472])
def test_5_2_1_forwarding(router: Router, size: int) -> None:
    """5.2.1: a good packet is forwarded; alone in its vector as among others."""
    packet = udp(router, size=size)
    expected = forwarded(router, packet, 1)
    assert router.send((0, packet)).out == ([], [expected], [])
    assert router.send_vector(0, packet).out == ([], [expected] * 255, [])


# 5.2.3: local delivery


@pytest.mark.parametrize("port", range(3))
@pytest.mark.parametrize("ttl", [0, 1, 64])
def test_5_2_3_local_delivery(router: Router, port: int, ttl: int) -> None:
    """5.2.3: what is addressed to any of the router's addresses is delivered locally.

    5.3.1: and MUST NOT be discarded for its TTL.
    """
    echo = router.ether(0) / IP(src=SOURCE, dst=ROUTER[port], ttl=ttl) / ICMP(id=7) / Raw(b"hello")
    reply = router.send((0, echo)).only(0)
    assert (reply[IP].src, reply[IP].dst) == (ROUTER[port], SOURCE)
    assert (reply[ICMP].type, reply[ICMP].id, reply[Raw].load) == (0, 7, b"hello")


def test_5_2_3_own_network_is_not_the_router(router: Router) -> None:
    """5.2.3: other addresses of an attached network are forwarded, not delivered."""
    packet = udp(router, dst=HOST[1])
    assert router.send((0, packet)).out[1] == [forwarded(router, packet, 1)]


@pytest.mark.parametrize("dst", ["255.255.255.255", "100.64.0.255", "100.64.1.255", "100.64.1.0"])
def test_5_2_3_broadcasts_are_not_answered(router: Router, dst: str) -> None:
    """4.3.3.6: an echo request to a broadcast address MAY be discarded silently: it is."""
    echo = router.ether(0) / IP(src=SOURCE, dst=dst) / ICMP() / Raw(b"hello")
    assert router.send((0, echo)).nothing


# 5.2.4: determining the next hop


@pytest.mark.parametrize(
    ("dst", "port"),
    [
        ("48.0.0.1", 1),
        ("48.0.0.127", 1),
        ("48.0.0.128", 2),
        ("48.0.0.199", 2),
        ("48.0.0.200", 0),
        ("48.0.0.201", 2),
        ("48.0.0.255", 2),
        ("32.1.2.3", 1),
        ("32.255.255.255", 1),
    ],
)
def test_5_2_4_3_longest_match(router: Router, dst: str, port: int) -> None:
    """5.2.4.3 (2): of the routes that match, those with the longest prefix MUST be used."""
    packet = udp(router, dst=dst)
    outcome = router.send((0, packet))
    assert outcome.only(port)
    assert outcome.out[port] == [forwarded(router, packet, port)]


def test_5_2_4_2_directly_attached(router: Router) -> None:
    """5.2.4.2: a destination on an attached network is its own next hop; 3.3.2: ARP finds it."""
    packet = udp(router, dst="100.64.1.77")
    asked = router.send((0, packet)).only(1)
    assert asked.dst == "ff:ff:ff:ff:ff:ff"
    assert (asked[ARP].op, asked[ARP].psrc, asked[ARP].pdst) == (1, ROUTER[1], "100.64.1.77")
    mac = "02:00:00:00:00:77"
    reply = Ether(src=mac, dst=router.macs[1]) / ARP(
        op=2, hwsrc=mac, psrc="100.64.1.77", hwdst=router.macs[1], pdst=ROUTER[1]
    )
    wanted = Ether(forwarded(router, packet, 1))
    wanted.dst = mac
    assert router.wait(0).nothing
    held = router.send((1, reply)).out[1] + router.wait(1.2).out[1]
    assert raw(wanted) in held


# 5.2.6: fragmentation, and path MTU discovery (RFC 1191)


def test_5_2_6_dont_fragment(router: Router) -> None:
    """5.2.6, 5.2.7.1: too long with DF set: MUST NOT be fragmented; code 4, RFC 1191 4: the MTU."""
    packet = udp(router, size=SMALL_MTU - 27, dst=BEHIND_SMALL_MTU, flags="DF")
    error = router.send((0, packet)).only(0)
    assert (error[ICMP].type, error[ICMP].code) == (3, 4)
    assert error[ICMP].nexthopmtu == SMALL_MTU


def test_5_2_6_as_long_as_the_mtu(router: Router) -> None:
    """5.2.6: what is exactly as long as the MTU goes through."""
    packet = udp(router, size=SMALL_MTU - 28, dst=BEHIND_SMALL_MTU, flags="DF")
    assert router.send((0, packet)).out[2] == [forwarded(router, packet, 2)]


@pytest.mark.parametrize("size", [SMALL_MTU - 27, 1400, 1472])
def test_5_2_6_fragmentation(router: Router, size: int) -> None:
    """5.2.6: a router MUST be able to fragment; 4.2.2.7: each but the last a multiple of 8."""
    packet = udp(router, size=size, dst=BEHIND_SMALL_MTU, id=77)
    outcome = router.send((0, packet))
    parts = [Ether(frame)[IP] for frame in outcome.out[2]]
    assert len(parts) > 1
    payload = b""
    for part in sorted(parts, key=lambda part: part.frag):
        assert part.frag * 8 == len(payload)
        assert len(raw(part)) <= SMALL_MTU
        assert (part.id, part.ttl, part.src, part.dst) == (77, 63, SOURCE, BEHIND_SMALL_MTU)
        assert part.chksum == IP(raw(part.__class__(raw(part)))).chksum
        payload += raw(part.payload)
    assert payload == raw(packet[UDP])
    assert [int(part.flags.MF) for part in parts] == [1] * (len(parts) - 1) + [0]


def test_5_2_6_fragments_are_forwarded(router: Router) -> None:
    """5.2.6: a router MUST NOT reassemble what it forwards: fragments go on as they are."""
    for fields in ({"flags": "MF"}, {"flags": "MF", "frag": 100}, {"frag": 185}):
        packet = udp(router, **fields)
        assert router.send((0, packet)).out[1] == [forwarded(router, packet, 1)]


# 5.2.7: ICMP errors


def quoted(error: Packet) -> bytes:
    return bytes(raw(error)[14 + 20 + 8 :])


def check_error(router: Router, error: Packet, about: Packet, kind: tuple[int, int]) -> None:
    """The message's own headers are right, and it quotes the packet."""
    assert (error.src, error.dst) == (router.macs[0], HOSTS[0])
    assert (error[ICMP].type, error[ICMP].code) == kind
    assert (error[IP].src, error[IP].dst) == (ROUTER[0], about[IP].src)
    assert error[IP].ttl == 64
    again = Ether(raw(error))
    del again[IP].chksum, again[ICMP].chksum
    assert raw(again) == raw(error)
    whole = raw(about[IP])
    assert quoted(error) == whole[: 576 - 28]


@pytest.mark.parametrize("size", [0, 8, 500, 1400])
def test_5_2_7_1_no_route(router: Router, size: int) -> None:
    """5.2.7.1: without a route MUST send Destination Unreachable, code 0.

    4.3.2.3: SHOULD quote as much as fits in 576 bytes.
    """
    packet = udp(router, size=size, dst="192.0.2.1")
    outcome = router.send((0, packet))
    assert outcome.dropped("ip4-lookup", "no route")
    check_error(router, outcome.only(0), packet, (3, 0))


def test_5_2_7_1_host_does_not_answer(router: Router) -> None:
    """5.2.7.1, 3.3.2: when ARP has no answer: Destination Unreachable, code 1, not at once."""
    packet = udp(router, dst="100.64.1.66")
    first = router.send((0, packet))
    assert ARP in first.only(1)
    later = router.wait(4.5)
    errors = [Ether(frame) for frame in later.out[0]]
    assert len(errors) == 1, later
    assert (errors[0][ICMP].type, errors[0][ICMP].code) == (3, 1)
    assert quoted(errors[0])[12:20] == raw(packet[IP])[12:20]
    # 3.3.2: at most one request a second.
    assert 1 <= len(later.out[1]) <= 5


@pytest.mark.parametrize(("proto", "code"), [(17, 3), (6, 3), (89, 2), (255, 2)])
def test_5_2_7_1_no_listener(router: Router, proto: int, code: int) -> None:
    """5.2.7.1: for the router itself: code 3 where no port, code 2 where no protocol is."""
    packet = udp(router, dst=ROUTER[0], proto=proto)
    check_error(router, router.send((0, packet)).only(0), packet, (3, code))


@pytest.mark.parametrize("src", [SOURCE, "100.64.0.77"])
def test_5_2_7_2_redirects(router: Router, src: str) -> None:
    """5.2.7.2: out where it came in is forwarded; MUST NOT send Redirect for a network."""
    packet = udp(router, src=src, dst="48.0.0.200")
    outcome = router.send((0, packet))
    assert forwarded(router, packet, 0) in outcome.out[0]
    others = [Ether(f) for f in outcome.out[0] if f != forwarded(router, packet, 0)]
    assert all((p[ICMP].type, p[ICMP].code) == (5, 1) for p in others)


@pytest.mark.parametrize("ttl", [0, 1])
@pytest.mark.parametrize("dst", [DESTINATION, "100.64.1.88"])
def test_5_2_7_3_time_exceeded(router: Router, ttl: int, dst: str) -> None:
    """5.2.7.3, 5.3.1: TTL that comes to 0: discarded, and Time Exceeded, code 0, is sent."""
    packet = udp(router, ttl=ttl, dst=dst)
    outcome = router.send((0, packet))
    check_error(router, outcome.only(0), packet, (11, 0))
    assert any("ttl expired" in reason for reason in outcome.reasons)


# 4.3.2: rules for ICMP errors


@pytest.mark.parametrize("kind", [3, 4, 5, 11, 12])
def test_4_3_2_7_never_about_an_icmp_error(router: Router, kind: int) -> None:
    """4.3.2.7: MUST NOT send an error about an ICMP error message."""
    inner = IP(src=DESTINATION, dst=SOURCE) / UDP()
    for fields in ({"ttl": 1, "dst": DESTINATION}, {"dst": "192.0.2.1"}):
        packet = router.ether(0) / IP(src=SOURCE, **fields) / ICMP(type=kind) / inner
        outcome = router.send((0, packet))
        assert outcome.nothing
        assert outcome.dropped("icmp4-error", "about an icmp error")


@pytest.mark.parametrize("kind", [0, 8, 13, 17])
def test_4_3_2_7_about_an_icmp_query(router: Router, kind: int) -> None:
    """4.3.2.7: ICMP queries are no errors: one is sent about them, as traceroute -I needs."""
    packet = router.ether(0) / IP(src=SOURCE, dst=DESTINATION, ttl=1) / ICMP(type=kind)
    check_error(router, router.send((0, packet)).only(0), packet, (11, 0))


@pytest.mark.parametrize(("frag", "answered"), [(0, True), (1, False), (185, False)])
def test_4_3_2_7_fragments(router: Router, frag: int, answered: bool) -> None:
    """4.3.2.7: MUST NOT send an error about a fragment other than the first."""
    packet = udp(router, ttl=1, flags="MF", frag=frag)
    outcome = router.send((0, packet))
    if answered:
        check_error(router, outcome.only(0), packet, (11, 0))
    else:
        assert outcome.nothing
        assert outcome.dropped("icmp4-error", "not the first")


@pytest.mark.parametrize("dst", ["224.0.0.5", "239.1.1.1", "255.255.255.255", "100.64.1.255"])
@pytest.mark.parametrize("ttl", [1, 64])
def test_4_3_2_7_about_a_group(router: Router, dst: str, ttl: int) -> None:
    """4.3.2.7: MUST NOT send an error about a packet to a broadcast or multicast address."""
    assert router.send((0, udp(router, dst=dst, ttl=ttl))).nothing


def test_4_3_2_7_about_a_link_layer_broadcast(router: Router) -> None:
    """4.3.2.7: MUST NOT send an error about what came as a link layer broadcast or multicast."""
    for mac in ("ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01"):
        packet = udp(router, ttl=1)
        packet.dst = mac
        assert router.send((0, packet)).nothing


@pytest.mark.parametrize(
    "src", ["0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
            "100.64.0.255", "100.64.1.255"],
)  # fmt: skip
def test_4_3_2_7_to_no_host(router: Router, src: str) -> None:
    """4.3.2.7: MUST NOT send an error when the source is not one host's own address."""
    for fields in ({"ttl": 1}, {"dst": "192.0.2.1"}, {"dst": ROUTER[0]}):
        assert router.send((0, udp(router, src=src, **fields))).nothing


def test_4_3_2_8_rate_limit(router: Router) -> None:
    """4.3.2.8: a router SHOULD be able to limit the rate at which it sends errors."""
    packet = udp(router, dst="192.0.2.1")
    sent = answered = limited = 0
    while limited == 0 and sent < 20000:
        outcome = router.send_vector(0, packet)
        sent += 255
        answered += len(outcome.out[0])
        limited += outcome.reasons.get("icmp4-error: rate limited", 0)
    assert limited > 0
    assert answered + limited == sent
    router.wait(0.3)


def test_4_3_2_4_source_address(router: Router) -> None:
    """4.3.2.4: an error's source MUST be an address of the interface that it is sent out of."""
    packet = router.ether(0) / IP(src="48.0.0.9", dst=DESTINATION, ttl=1) / UDP()
    error = router.send((0, packet)).only(1)
    assert (error[IP].src, error[IP].dst) == (ROUTER[1], "48.0.0.9")


@pytest.mark.parametrize("tos", [0, 0x08, 0x10, 0x1C, 0xB8, 0xFF])
def test_4_3_2_5_tos_and_precedence(router: Router, tos: int) -> None:
    """4.3.2.5: errors SHOULD have precedence 6 or 7, and the TOS bits of what they are about.

    RFC 3168 took the last two bits: they are 0.
    """
    error = router.send((0, udp(router, ttl=1, tos=tos))).only(0)
    assert error[IP].tos >> 5 in {6, 7}
    assert error[IP].tos & 0x1F == tos & 0x1C


def test_4_3_2_1_unknown_types(router: Router) -> None:
    """4.3.2.1: ICMP messages of an unknown type MUST be discarded silently."""
    for kind in (1, 2, 7, 42, 255):
        packet = router.ether(0) / IP(src=SOURCE, dst=ROUTER[0]) / ICMP(type=kind) / Raw(b"x" * 8)
        assert router.send((0, packet)).nothing


@pytest.mark.parametrize("size", [0, 1, 55, 56, 1000, 1472])
def test_4_3_3_6_echo(router: Router, size: int) -> None:
    """4.3.3.6: MUST answer echo requests, with all of their data; 4.3.2.5: with their TOS."""
    data = bytes(n % 251 for n in range(size))
    echo = router.ether(0) / IP(src=SOURCE, dst=ROUTER[1], tos=0x68) / ICMP(id=9, seq=3) / Raw(data)
    outcome = router.send((0, echo))
    assert outcome.dropped("icmp4-echo", "answered")
    reply = outcome.only(0)
    assert (reply[ICMP].type, reply[ICMP].code) == (0, 0)
    assert (reply[ICMP].id, reply[ICMP].seq, raw(reply[ICMP].payload)) == (9, 3, data)
    assert (reply[IP].src, reply[IP].dst, reply[IP].tos) == (ROUTER[1], SOURCE, 0x68)
    again = Ether(raw(reply))
    del again[IP].chksum, again[ICMP].chksum
    assert raw(again) == raw(reply)


# 5.3.1 to 5.3.5


@pytest.mark.parametrize("ttl", [2, 3, 64, 127, 128, 254, 255])
def test_5_3_1_ttl(router: Router, ttl: int) -> None:
    """5.3.1: a router MUST lower the TTL by at least one; here by one."""
    packet = udp(router, ttl=ttl)
    assert Ether(router.send((0, packet)).out[1][0])[IP].ttl == ttl - 1
    assert router.send_vector(0, packet).out[1] == [forwarded(router, packet, 1)] * 255


@pytest.mark.parametrize("tos", [0, 1, 3, 0x10, 0x20, 0xB8, 0xE0, 0xFF])
def test_5_3_2_tos_is_kept(router: Router, tos: int) -> None:
    """5.3.2, 5.3.3: TOS and precedence pass unchanged."""
    packet = udp(router, tos=tos)
    assert router.send((0, packet)).out[1] == [forwarded(router, packet, 1)]


@pytest.mark.parametrize("mac", ["ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:05", "33:33:00:00:00:01"])
def test_5_3_4_link_layer_broadcast(router: Router, mac: str) -> None:
    """5.3.4: MUST NOT forward what was received as a link layer broadcast."""
    packet = udp(router)
    packet.dst = mac
    outcome = router.send((0, packet))
    assert outcome.nothing
    assert outcome.dropped("ethernet-input", "group")


def test_5_3_4_frames_for_others(router: Router) -> None:
    """3.1: what is not sent to the interface's own link layer address is not for the router."""
    packet = udp(router)
    packet.dst = "02:99:99:99:99:99"
    outcome = router.send((0, packet))
    assert outcome.nothing
    assert outcome.dropped("ethernet-input", "mac mismatch")


def test_5_3_5_1_limited_broadcast(router: Router) -> None:
    """5.3.5.1: limited broadcasts MUST NOT be forwarded."""
    outcome = router.send((0, udp(router, dst="255.255.255.255")))
    assert outcome.nothing
    assert outcome.dropped("ip4-lookup", "limited broadcast")


@pytest.mark.parametrize("dst", ["100.64.1.255", "100.64.1.0"])
def test_5_3_5_2_directed_broadcast(router: Router, dst: str) -> None:
    """5.3.5.2 as RFC 2644 has it: MUST NOT forward directed broadcasts by default."""
    outcome = router.send((0, udp(router, dst=dst)))
    assert outcome.nothing
    assert outcome.dropped("ip4-lookup", "directed broadcast")


@pytest.mark.parametrize("dst", ["48.0.0.255", "48.0.0.0"])
def test_5_3_5_2_others_broadcasts(router: Router, dst: str) -> None:
    """5.3.5.2: the broadcast address of a network that is not attached is unknown: forwarded."""
    packet = udp(router, dst=dst)
    port = 2 if dst.endswith("255") else 1
    assert router.send((0, packet)).out[port] == [forwarded(router, packet, port)]


# 5.3.7: martians


@pytest.mark.parametrize(
    ("dst", "words"),
    [
        ("0.0.0.0", "0.0.0.0/8"),
        ("0.255.255.255", "0.0.0.0/8"),
        ("127.0.0.1", "127.0.0.0/8"),
        ("127.255.255.255", "127.0.0.0/8"),
        ("224.0.0.1", "multicast"),
        ("239.255.255.255", "multicast"),
        ("240.0.0.1", "240.0.0.0/4"),
        ("255.255.255.254", "240.0.0.0/4"),
    ],
)
def test_5_3_7_martian_destinations(router: Router, dst: str, words: str) -> None:
    """5.3.7: SHOULD NOT forward to invalid addresses; 4.2.2.11: 127/8 MUST NOT."""
    outcome = router.send((0, udp(router, dst=dst)))
    assert outcome.nothing
    assert outcome.dropped("ip4-lookup", words)
    vector = router.send_vector(0, udp(router, dst=dst))
    assert vector.nothing
    assert sum(vector.reasons.values()) == 255


# 5.3.7, 5.3.8: source addresses, as an option


@pytest.fixture(scope="module")
def checking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Router]:
    """Martians are dropped; e0 looks at the reverse path strictly, e1 loosely, e2 does not."""
    config = {**ip4_config(), "martians": True}
    for interface, rpf in zip(config["interfaces"], ("strict", "loose", "off"), strict=True):
        interface["rpf"] = rpf
    with Router(tmp_path_factory.mktemp("checking"), config) as router:
        yield router


MARTIANS = [
    ("0.0.0.0", "0.0.0.0/8"),
    ("0.255.255.255", "0.0.0.0/8"),
    ("127.0.0.1", "127.0.0.0/8"),
    ("127.255.255.255", "127.0.0.0/8"),
    ("224.0.0.1", "multicast"),
    ("239.255.255.255", "multicast"),
    ("240.0.0.1", "240.0.0.0/4"),
    ("255.255.255.255", "240.0.0.0/4"),
    ("100.64.1.255", "broadcast"),
    ("100.64.1.0", "broadcast"),
    (ROUTER[0], "own address"),
    (ROUTER[2], "own address"),
]


@pytest.mark.parametrize(("src", "words"), MARTIANS)
@pytest.mark.parametrize("port", range(3))
def test_5_3_7_martian_sources(checking: Router, port: int, src: str, words: str) -> None:
    """5.3.7: SHOULD NOT forward what has an invalid source address, wherever it came in."""
    packet = udp_from(checking, port, src)
    outcome = checking.send((port, packet))
    assert outcome.nothing
    assert outcome.dropped("ip4-source-check", words), outcome
    vector = checking.send_vector(port, packet)
    assert vector.nothing
    assert sum(vector.reasons.values()) == 255


def test_5_3_7_no_errors_to_martians(checking: Router) -> None:
    """4.3.2.7: nor is an error sent to such a source."""
    for src, _ in MARTIANS:
        assert checking.send((0, udp_from(checking, 0, src, ttl=1))).nothing


@pytest.mark.parametrize("src", ["127.0.0.1", "240.0.0.1", "192.0.2.1", f"{NETWORK[1]}.1"])
def test_5_3_7_5_3_8_only_when_asked(router: Router, src: str) -> None:
    """5.3.8: a router MUST NOT filter by source addresses by default; nor does this by 5.3.7."""
    packet = udp_from(router, 0, src)
    assert router.send((0, packet)).out[1] == [forwarded(router, packet, 1)]


def udp_from(router: Router, port: int, src: str, **fields: Any) -> Packet:
    """A frame that comes in at the port, to a host behind the next one."""
    ip = IP(**{"src": src, "dst": f"{NETWORK[(port + 1) % 3]}.1", "ttl": 64, **fields})
    return Ether(raw(router.ether(port) / ip / UDP(sport=1000, dport=2000) / Raw(b"x" * 20)))


@pytest.mark.parametrize(
    ("port", "src", "words"),
    [
        (0, f"{NETWORK[0]}.1", ""),
        (0, HOST[0], ""),
        (0, f"{NETWORK[1]}.1", "another interface"),
        (0, HOST[2], "another interface"),
        (0, "192.0.2.1", "no route"),
        (1, f"{NETWORK[0]}.1", ""),
        (1, HOST[2], ""),
        (1, "192.0.2.1", "no route"),
        (2, f"{NETWORK[0]}.1", ""),
        (2, "192.0.2.1", ""),
    ],
)
def test_5_3_8_source_validation(checking: Router, port: int, src: str, words: str) -> None:
    """5.3.8, RFC 3704 2.2, 2.4: silently discarded when the way back is another, or is none."""
    packet = udp_from(checking, port, src)
    to = (port + 1) % 3
    outcome = checking.send((port, packet))
    if words:
        assert outcome.nothing
        assert outcome.dropped("ip4-source-check", words), outcome
    else:
        assert outcome.out[to] == [forwarded(checking, packet, to)]


# 5.3.13: options


@pytest.mark.parametrize(
    "options",
    [
        [b"\x00\x00\x00\x00"],
        [b"\x01\x01\x01\x00"],
        [IPOption_Router_Alert()],
        [IPOption_Stream_Id()],
        [b"\x5e\x04\x12\x34"],
        [b"\xde\x08abcdef"],
        [b"\x82\x0b" + bytes(9)],
    ],
    ids=["end", "nop", "router-alert", "stream-id", "unknown", "unknown-copied", "security"],
)
def test_5_3_13_1_options_pass(router: Router, options: list[Any]) -> None:
    """5.3.13.1: MUST pass on options that it does not know, unchanged; 5.3.13.3: stream id too."""
    packet = udp(router, options=options)
    assert packet[IP].ihl > 5
    assert router.send((0, packet)).out[1] == [forwarded(router, packet, 1)]


@pytest.mark.parametrize(
    "option",
    [b"\x07\x0b\x04" + bytes(9), b"\x44\x0c\x05\x00" + bytes(8)],
    ids=["record-route", "timestamp"],
)
def test_5_3_13_5_record_route_and_timestamp(router: Router, option: bytes) -> None:
    """5.3.13.5, 5.3.13.6: such packets are forwarded. Nothing is recorded: docs/conformance.md."""
    packet = udp(router, options=[option])
    assert packet[IP].ihl == 8
    assert router.send((0, packet)).out[1] == [forwarded(router, packet, 1)]


@pytest.mark.parametrize("option", [IPOption_LSRR, IPOption_SSRR])
def test_5_3_13_4_source_route(router: Router, option: type[Packet]) -> None:
    """5.3.13.4 lets a router discard them; RFC 7126 4.3, 4.4 say that it should by default."""
    packet = udp(router, options=[option(routers=[HOST[1]])])
    outcome = router.send((0, packet))
    assert outcome.nothing
    assert outcome.dropped("ip4-input", "source route")


@pytest.mark.parametrize(
    "option",
    [b"\x07\x00\x00\x00", b"\x07\x01\x00\x00", b"\x07\x05\x00\x00", b"\x01\x01\x01\x07"],
    ids=["length-0", "length-1", "too-long", "no-length"],
)
def test_4_3_3_5_malformed_options(router: Router, option: bytes) -> None:
    """4.3.3.5: MUST send Parameter Problem about a bad option, pointing at it."""
    data = bytearray(raw(udp(router, options=[b"\x01\x01\x01\x00"])))
    data[34:38] = option
    data[24:26] = b"\0\0"
    data[24:26] = internet_checksum(bytes(data[14:38])).to_bytes(2, "big")
    outcome = router.send((0, bytes(data)))
    assert outcome.dropped("ip4-input", "malformed options")
    error = outcome.only(0)
    assert (error[ICMP].type, error[ICMP].code) == (12, 0)
    assert error[ICMP].ptr == 20 + option.index(7)


def internet_checksum(data: bytes) -> int:
    total = sum(int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - total


def test_5_3_13_options_and_ttl(router: Router) -> None:
    """4.3.2.3: an error about a packet with options quotes them, and 8 bytes behind them."""
    packet = udp(router, ttl=1, options=[IPOption_Router_Alert()])
    check_error(router, router.send((0, packet)).only(0), packet, (11, 0))


# Local traffic by ARP (3.3.2, RFC 826, RFC 1122 2.3.2)


@pytest.mark.parametrize("port", range(3))
def test_3_3_2_arp(router: Router, port: int) -> None:
    """3.3.2: a router MUST answer ARP for the addresses of that interface, and no others."""
    for target in (*ROUTER, HOST[port]):
        request = Ether(src=HOSTS[port], dst="ff:ff:ff:ff:ff:ff") / ARP(
            hwsrc=HOSTS[port], psrc=HOST[port], pdst=target
        )
        outcome = router.send((port, request))
        if target == ROUTER[port]:
            reply = outcome.only(port)
            assert (reply.src, reply.dst) == (router.macs[port], HOSTS[port])
            assert (reply[ARP].op, reply[ARP].hwsrc) == (2, router.macs[port])
            assert (reply[ARP].psrc, reply[ARP].pdst) == (target, HOST[port])
        else:
            assert outcome.nothing


@pytest.mark.parametrize("upper", [UDP(), TCP(), ICMP(), Raw(b"?" * 20)])
def test_5_2_1_upper_layers_are_not_looked_at(router: Router, upper: Packet) -> None:
    """5.2.1: forwarding is by the IP header alone."""
    packet = Ether(raw(router.ether(0) / IP(src=SOURCE, dst=DESTINATION, proto=99) / upper))
    assert router.send((0, packet)).out[1] == [forwarded(router, packet, 1)]
