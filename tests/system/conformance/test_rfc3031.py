"""RFC 3031, Multiprotocol Label Switching Architecture, as far as a static LSR meets it."""

from collections.abc import Iterator

import pytest
from scapy.compat import raw
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet, Raw
from tests.system.conformance.router import HOST, HOSTS, Router, forwarded, ip4_config, labels

LABELS = [
    {"label": 16, "via": HOST[1], "out_labels": [17]},
    {"label": 16, "eos": False, "via": HOST[1], "out_labels": [18]},
    {"label": 20, "via": HOST[1], "out_labels": [100, 200]},
    {"label": 21, "via": HOST[1]},
    {"label": 22, "eos": False, "via": HOST[1]},
    {"label": 23},
    {"label": 24, "eos": False},
    {"label": 30, "via": "100.64.1.99", "out_labels": [31]},
    {"label": 1048575, "via": HOST[2], "out_labels": [1048574]},
]


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Router]:
    config = ip4_config(mpls=LABELS)
    config["interfaces"][2]["mpls"] = False
    with Router(tmp_path_factory.mktemp("router"), config) as router:
        yield router


def inner(**fields: int) -> Packet:
    return IP(src="16.0.0.1", dst="48.0.0.1", **{"ttl": 64, **fields}) / UDP() / Raw(b"x" * 20)


def labelled(router: Router, *stack: int, ttl: int = 9, payload: Packet | None = None) -> Packet:
    frame = router.ether(0, type=0x8847)
    for place, label in enumerate(stack):
        frame /= MPLS(label=label, cos=3, s=int(place == len(stack) - 1), ttl=ttl)
    return Ether(raw(frame / (inner() if payload is None else payload)))


@pytest.mark.smoke
def test_3_11_swap(router: Router) -> None:
    """3.10, 3.11: the incoming label is replaced by that of its NHLFE, and sent to the next hop."""
    out = router.send((0, labelled(router, 16))).only(1)
    assert (out.src, out.dst, out.type) == (router.macs[1], HOSTS[1], 0x8847)
    assert labels(raw(out)) == [(17, 3, 1, 8)]
    assert raw(out)[18:] == raw(inner())


def test_3_11_swap_a_whole_vector(router: Router) -> None:
    """3.11: the same for each of many that follow each other."""
    frame = labelled(router, 16)
    alone = router.send((0, frame)).out[1]
    assert router.send_vector(0, frame).out == ([], alone * 255, [])


def test_3_10_only_the_outermost_label(router: Router) -> None:
    """3.9: forwarding is by the outermost label alone; those beneath stay as they are."""
    out = router.send((0, labelled(router, 16, 500, 600))).only(1)
    assert labels(raw(out)) == [(18, 3, 0, 8), (500, 3, 0, 9), (600, 3, 1, 9)]


def test_3_10_swap_and_push(router: Router) -> None:
    """3.10: an NHLFE may swap the label and push more."""
    out = router.send((0, labelled(router, 20))).only(1)
    assert labels(raw(out)) == [(100, 3, 0, 8), (200, 3, 1, 8)]
    assert raw(out)[22:] == raw(inner())


def test_3_16_penultimate_hop_popping(router: Router) -> None:
    """3.16: the last label is taken off before the egress: IPv4 goes to the next hop."""
    out = router.send((0, labelled(router, 21, ttl=64))).only(1)
    assert (out.src, out.dst, out.type) == (router.macs[1], HOSTS[1], 0x0800)
    assert raw(out[IP]) == raw(inner(ttl=63))


def test_3_16_php_beneath_another_label(router: Router) -> None:
    """3.16: with labels beneath, the next hop gets those."""
    out = router.send((0, labelled(router, 22, 500))).only(1)
    assert [entry[:3] for entry in labels(raw(out))] == [(500, 3, 1)]


def test_3_18_ultimate_hop(router: Router) -> None:
    """3.10, 3.15: when the next hop is the LSR itself, it pops and forwards by what is beneath."""
    out = router.send((0, labelled(router, 23, ttl=64)))
    assert out.out[1] == [forwarded(router, router.ether(0) / inner(), 1)]
    out = router.send((0, labelled(router, 24, 16)))
    assert [entry[:3] for entry in labels(out.out[1][0])] == [(17, 3, 1)]
    out = router.send((0, labelled(router, 24, 23, ttl=64)))
    assert out.out[1] == [forwarded(router, router.ether(0) / inner(), 1)]


@pytest.mark.parametrize("label", [17, 999, 1048574])
def test_3_18_invalid_incoming_label(router: Router, label: int) -> None:
    """3.18: a packet with an unknown label MUST be discarded, not forwarded unlabelled."""
    outcome = router.send((0, labelled(router, label)))
    assert outcome.nothing
    assert outcome.dropped("mpls-lookup", "no such label")


def test_3_18_known_at_another_place_of_the_stack(router: Router) -> None:
    """3.18: a label that is bound only for the bottom is unknown above it, and the reverse."""
    for stack in ((20, 16), (22,)):
        outcome = router.send((0, labelled(router, *stack)))
        assert outcome.nothing
        assert outcome.dropped("mpls-lookup", "no such label")


def test_3_14_labels_of_one_platform(router: Router) -> None:
    """3.14: labels of the per-platform space mean the same whatever interface they come by."""
    frame = labelled(router, 16)
    frame.src, frame.dst = HOSTS[1], router.macs[1]
    assert labels(raw(router.send((1, frame)).only(1))) == [(17, 3, 1, 8)]


def test_4_1_labels_only_where_enabled(router: Router) -> None:
    """3.1 of RFC 3031: labels mean what was agreed; on e2, where none was, they are refused."""
    frame = labelled(router, 16)
    frame.src, frame.dst = HOSTS[2], router.macs[2]
    outcome = router.send((2, frame))
    assert outcome.nothing
    assert outcome.dropped("mpls-input", "disabled")


def test_3_10_next_hop_by_arp(router: Router) -> None:
    """3.10: the next hop's MAC address is found by ARP; the labelled packet waits."""
    frame = labelled(router, 30)
    asked = router.send((0, frame)).only(1)
    assert asked[ARP].pdst == "100.64.1.99"
    mac = "02:00:00:00:00:99"
    reply = Ether(src=mac, dst=router.macs[1]) / ARP(
        op=2, hwsrc=mac, psrc="100.64.1.99", hwdst=router.macs[1], pdst="100.64.1.1"
    )
    frames = router.send((1, reply)).out[1] + router.wait(1.2).out[1]
    (out,) = [Ether(frame) for frame in frames if Ether(frame).type == 0x8847]
    assert out.dst == mac
    assert labels(raw(out)) == [(31, 3, 1, 8)]


def test_3_19_largest_label(router: Router) -> None:
    """RFC 3032 2.1: labels have 20 bits, all of which count."""
    out = router.send((0, labelled(router, 1048575))).only(2)
    assert labels(raw(out)) == [(1048574, 3, 1, 8)]
