"""RFC 3032, MPLS Label Stack Encoding."""

from collections.abc import Iterator
from typing import Any

import pytest
from scapy.compat import raw
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from tests.system.conformance.router import (
    HOST,
    HOSTS,
    SMALL_MTU,
    Router,
    forwarded,
    ip4_config,
    labels,
)

LABELS = [
    {"label": 16, "via": HOST[1], "out_labels": [17]},
    {"label": 16, "eos": False, "via": HOST[1], "out_labels": [18]},
    {"label": 19, "via": HOST[1], "out_labels": [0]},
    {"label": 20, "via": HOST[2], "out_labels": [25]},
    {"label": 21, "via": HOST[2], "out_labels": [25, 26]},
    {"label": 22, "via": HOST[2]},
    {"label": 23, "eos": False, "via": HOST[2]},
    {"label": 24},
]


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Router]:
    config = ip4_config(mpls=LABELS)
    with Router(tmp_path_factory.mktemp("router"), config) as router:
        yield router


def inner(size: int = 20, ttl: int = 64, dst: str = "48.0.0.1", **fields: Any) -> Packet:
    return IP(src="16.0.0.1", dst=dst, ttl=ttl, **fields) / UDP() / Raw(b"x" * size)


def labelled(
    router: Router, *stack: int, ttl: int = 9, tc: int = 0, payload: Packet | None = None
) -> Packet:
    frame = router.ether(0, type=0x8847)
    for place, label in enumerate(stack):
        frame /= MPLS(label=label, cos=tc, s=int(place == len(stack) - 1), ttl=ttl)
    return Ether(raw(frame / (inner() if payload is None else payload)))


@pytest.mark.parametrize("tc", range(8))
def test_2_1_encoding(router: Router, tc: int) -> None:
    """2.1: label 20 bits, experimental 3, bottom 1, TTL 8; the three experimental bits pass."""
    out = router.send((0, labelled(router, 16, ttl=200, tc=tc))).out[1][0]
    assert out[12:14] == b"\x88\x47"
    entry = int.from_bytes(out[14:18], "big")
    assert entry == 17 << 12 | tc << 9 | 1 << 8 | 199


def test_2_1_explicit_null(router: Router) -> None:
    """2.1 (0): explicit null: the stack is popped and the packet forwarded by its IPv4 header."""
    out = router.send((0, labelled(router, 0, ttl=64))).out
    assert out == ([], [forwarded(router, router.ether(0) / inner(), 1)], [])


def test_2_1_explicit_null_is_sent(router: Router) -> None:
    """2.1 (0): it may be what a label is swapped for."""
    assert labels(raw(router.send((0, labelled(router, 19))).only(1))) == [(0, 0, 1, 8)]


def test_rfc4182_explicit_null_above_others(router: Router) -> None:
    """RFC 4182 2: explicit null may stand above other labels; the next one decides."""
    assert labels(raw(router.send((0, labelled(router, 0, 16))).only(1))) == [(17, 0, 1, 8)]


@pytest.mark.parametrize("label", [1, *range(3, 16)])
def test_2_1_reserved_labels(router: Router, label: int) -> None:
    """2.1: 1 is the router alert (no control plane here), 3 MUST NOT be on the wire, 4-15 are
    reserved: discarded, by a name of their own.
    """
    outcome = router.send((0, labelled(router, label)))
    assert outcome.nothing
    assert outcome.dropped("mpls-lookup", "reserved label")
    assert router.send((0, labelled(router, label, 16))).nothing


@pytest.mark.parametrize("label", [0, 24])
def test_2_2_network_layer_protocol(router: Router, label: int) -> None:
    """2.2: what the label says is IPv4, and is none, is not forwarded as IPv4."""
    for payload in (Raw(b"\x00" * 40), Raw(b"\x50" * 40), Raw(b"\x45" * 10)):
        assert router.send((0, labelled(router, label, payload=payload))).nothing
    # IPv6 beneath explicit null for IPv4 (0) is a mistake of the sender's.
    six = IPv6(src="2001:db8::1", dst="2001:db8::2") / UDP()
    outcome = router.send((0, labelled(router, label, payload=six)))
    assert outcome.out[1] == []


def test_2_2_ip4_header_is_checked(router: Router) -> None:
    """RFC 1812 5.2.2 holds for what comes out of a label too."""
    for label in (0, 22, 24):
        wrong: list[dict[str, Any]] = [
            {"chksum": 0x1234},
            {"len": 2000},
            {"len": 19},
            {"ihl": 15, "len": 48},
        ]
        for fields in wrong:
            payload = inner(**fields)
            assert router.send((0, labelled(router, label, payload=payload))).nothing


@pytest.mark.parametrize("size", range(14, 18))
def test_2_1_truncated_entry(router: Router, size: int) -> None:
    """2.1: an entry has four bytes: with fewer there is none."""
    outcome = router.send((0, raw(labelled(router, 16))[:size]))
    assert outcome.nothing
    assert outcome.dropped("mpls-input", "shorter than a label")


def test_2_1_stack_without_bottom(router: Router) -> None:
    """2.1: the bottom bit is set for the last entry; a stack that ends without is no packet."""
    for label in (0, 23):
        frame = router.ether(0, type=0x8847) / MPLS(label=label, s=0, ttl=9)
        outcome = router.send((0, frame))
        assert outcome.nothing
        assert any("no bottom" in reason for reason in outcome.reasons)


@pytest.mark.parametrize("ttl", [0, 1])
@pytest.mark.parametrize("label", [16, 22, 23])
def test_2_4_2_ttl_expires(router: Router, ttl: int, label: int) -> None:
    """2.4.2: an outgoing TTL of 0 MUST NOT be forwarded, labelled or not."""
    stack = (23, 16) if label == 23 else (label,)
    outcome = router.send((0, labelled(router, *stack, ttl=ttl)))
    assert outcome.out[1] == outcome.out[2] == []
    assert any("ttl" in reason for reason in outcome.reasons)


@pytest.mark.parametrize("ttl", [2, 3, 64, 255])
def test_2_4_2_ttl_goes_down(router: Router, ttl: int) -> None:
    """2.4.2: the outgoing TTL is one less than the incoming one; of the outermost label only."""
    assert labels(raw(router.send((0, labelled(router, 16, ttl=ttl))).only(1)))[0][3] == ttl - 1


@pytest.mark.parametrize("ttl", [2, 64, 255])
def test_2_4_3_ip_ttl_at_the_egress(router: Router, ttl: int) -> None:
    """2.4.3: when the last label is taken off, IP's TTL SHOULD become the outgoing TTL."""
    for label, port in ((22, 2), (24, 1), (0, 1)):
        out = router.send((0, labelled(router, label, ttl=ttl))).only(port)
        assert out[IP].ttl == ttl - 1
        again = Ether(raw(out))
        del again[IP].chksum
        assert raw(again) == raw(out)


@pytest.mark.parametrize(("label", "more"), [(20, 0), (21, 4)])
def test_3_2_too_big(router: Router, label: int, more: int) -> None:
    """3.2: the MTU holds with the labels in it; what is longer is fragmented or discarded."""
    fits = SMALL_MTU - 4 - more - 28
    assert len(router.send((0, labelled(router, label, payload=inner(fits)))).out[2]) == 1
    outcome = router.send((0, labelled(router, label, payload=inner(fits + 1, flags=2))))
    assert outcome.out[2] == []
    assert any("mtu exceeded" in reason for reason in outcome.reasons)


def test_3_2_popped_fits(router: Router) -> None:
    """3.2: what is too long only by its label fits once that is off."""
    payload = inner(SMALL_MTU - 28)
    out = router.send((0, labelled(router, 22, ttl=64, payload=payload))).only(2)
    assert len(out[IP]) == SMALL_MTU
    outcome = router.send((0, labelled(router, 22, payload=inner(SMALL_MTU - 27, flags=2))))
    assert outcome.out[2] == []
    assert any("mtu exceeded" in reason for reason in outcome.reasons)


def test_3_4_dont_fragment_after_the_last_label(router: Router) -> None:
    """3.4: packets looked up again as IPv4 get MTU errors as any other."""
    payload = inner(SMALL_MTU - 27, dst="80.0.0.1", flags=2)
    error = router.send((0, labelled(router, 24, ttl=64, payload=payload))).only(0)
    assert (error["ICMP"].type, error["ICMP"].code) == (3, 4)
    assert error["ICMP"].nexthopmtu == SMALL_MTU


@pytest.mark.parametrize("mac", ["ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:05", "02:99:99:99:99:99"])
def test_4_link_layer_address(router: Router, mac: str) -> None:
    """5: unicast MPLS frames (8847) are for the LSR when sent to its own address."""
    frame = labelled(router, 16)
    frame.dst = mac
    assert router.send((0, frame)).nothing


def test_5_multicast_ethertype(router: Router) -> None:
    """5: 8848 is MPLS with upstream-assigned labels (RFC 5332): none are known here."""
    frame = labelled(router, 16)
    frame.type = 0x8848
    outcome = router.send((0, frame))
    assert outcome.nothing
    assert outcome.dropped("ethernet-input", "ethertype")
    assert HOSTS[0] == frame.src
