"""RFC 4861, Neighbor Discovery for IPv6: solicitations and advertisements."""

from collections.abc import Iterator
from typing import Any

import pytest
from scapy.compat import raw
from scapy.layers.inet import UDP
from scapy.layers.inet6 import (
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptSrcLLAddr,
    IPv6,
)
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from tests.system.conformance.router import (
    HOST6,
    HOSTS,
    NETWORK6,
    ROUTER6,
    Router,
    forwarded6,
    ip6_config,
)


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Router]:
    folder = tmp_path_factory.mktemp("router")
    config = ip6_config()
    with Router(folder, config) as router:
        yield router


SOLICITED = ("ff02::1:ff00:1", "33:33:ff:00:00:01")  # of ...::1


def solicitation(
    target: str = ROUTER6[0], option: bool = True, mac: str = HOSTS[0], **fields: Any
) -> Packet:
    ip = IPv6(**{"src": HOST6[0], "dst": SOLICITED[0], "hlim": 255, **fields})
    frame = Ether(src=mac, dst=SOLICITED[1]) / ip / ICMPv6ND_NS(tgt=target)
    return Ether(raw(frame / ICMPv6NDOptSrcLLAddr(lladdr=mac) if option else frame))


def advertisement(router: Router, target: str, mac: str, port: int = 1, **fields: Any) -> Packet:
    ip = IPv6(**{"src": target, "dst": ROUTER6[port], "hlim": 255, **fields})
    frame = Ether(src=mac, dst=router.macs[port]) / ip / ICMPv6ND_NA(tgt=target, R=0, S=1, O=1)
    return Ether(raw(frame / ICMPv6NDOptDstLLAddr(lladdr=mac)))


def to_host(router: Router, dst: str, mark: bytes = b"x" * 20) -> Packet:
    frame = router.ether(0) / IPv6(src=f"{NETWORK6[0]}:1", dst=dst) / UDP() / Raw(mark)
    return Ether(raw(frame))


def check_answer(router: Router, answer: Packet) -> None:
    advert = answer[ICMPv6ND_NA]
    assert (answer.src, answer[IPv6].src, answer[IPv6].hlim) == (router.macs[0], ROUTER6[0], 255)
    assert (advert.tgt, advert.R, advert.O) == (ROUTER6[0], 1, 1)
    assert answer[ICMPv6NDOptDstLLAddr].lladdr == router.macs[0]
    again = Ether(raw(answer))
    del again[ICMPv6ND_NA].cksum
    assert raw(again) == raw(answer)


@pytest.mark.smoke
def test_7_2_4_solicited_advertisement(router: Router) -> None:
    """7.2.4: a solicitation for an address of the interface MUST be answered, S set, to its source."""
    answer = router.send((0, solicitation())).only(0)
    check_answer(router, answer)
    assert (answer.dst, answer[IPv6].dst, answer[ICMPv6ND_NA].S) == (HOSTS[0], HOST6[0], 1)


def test_7_2_4_unicast_solicitation(router: Router) -> None:
    """7.2.4, 7.3: a unicast solicitation, as reachability is confirmed by, is answered too."""
    packet = solicitation(dst=ROUTER6[0], option=False)
    packet.dst = router.macs[0]
    check_answer(router, router.send((0, packet)).only(0))


def test_7_2_4_duplicate_address_detection(router: Router) -> None:
    """7.2.4: when the source is unspecified: to all nodes, S clear."""
    answer = router.send((0, solicitation(option=False, src="::"))).only(0)
    check_answer(router, answer)
    assert (answer.dst, answer[IPv6].dst) == ("33:33:00:00:00:01", "ff02::1")
    assert answer[ICMPv6ND_NA].S == 0


@pytest.mark.parametrize("target", [HOST6[0], ROUTER6[1], "2001:db8:0:1::77"])
def test_7_2_3_only_own_addresses(router: Router, target: str) -> None:
    """7.2.3: the target MUST be an address of the receiving interface: else no answer."""
    assert router.send((0, solicitation(target))).nothing


@pytest.mark.parametrize(
    ("what", "changes"),
    [
        ("hop limit", {"hlim": 254}),
        ("hop limit", {"hlim": 64}),
        ("source", {"src": "::"}),
        ("destination", {"src": "::", "dst": ROUTER6[0], "option": False}),
    ],
)
def test_7_1_1_validation_of_solicitations(
    router: Router, what: str, changes: dict[str, Any]
) -> None:
    """7.1.1: MUST silently discard unless the hop limit is 255; from the unspecified address
    only to a solicited-node address and without a source link-layer address option.
    """
    packet = solicitation(**changes)
    if changes.get("dst") == ROUTER6[0]:
        packet.dst = router.macs[0]
    assert router.send((0, packet)).nothing, what


def damaged(packet: Packet, at: int, data: bytes) -> bytes:
    """The ICMPv6 message with bytes changed, and its checksum right again."""
    changed = bytearray(raw(packet))
    changed[54 + at : 54 + at + len(data)] = data
    changed[56:58] = b"\0\0"
    pseudo = bytes(changed[22:54]) + len(changed[54:]).to_bytes(4, "big") + b"\0\0\0\x3a"
    total = pseudo + bytes(changed[54:])
    words = sum(int.from_bytes(total[i : i + 2], "big") for i in range(0, len(total), 2))
    while words > 0xFFFF:
        words = (words & 0xFFFF) + (words >> 16)
    changed[56:58] = (0xFFFF - words).to_bytes(2, "big")
    return bytes(changed)


def test_7_1_1_damaged_solicitations(router: Router) -> None:
    """7.1.1: code 0, checksum, target no multicast, options of a length above 0."""
    good = solicitation()
    assert router.send((0, damaged(good, 0, b""))).only(0)
    for at, data in ((1, b"\x01"), (8, b"\xff\x02"), (25, b"\x00")):
        assert router.send((0, damaged(good, at, data))).nothing, at
    wrong = bytearray(raw(good))
    wrong[56] ^= 1
    assert router.send((0, bytes(wrong))).nothing


def test_7_1_1_too_short(router: Router) -> None:
    """7.1.1: the ICMP length is 24 bytes or more."""
    ip = IPv6(src=HOST6[0], dst=SOLICITED[0], hlim=255, nh=58)
    short = Ether(src=HOSTS[0], dst=SOLICITED[1]) / ip / Raw(bytes([135, 0, 0, 0]) + bytes(12))
    assert router.send((0, damaged(Ether(raw(short)), 0, b""))).nothing


def resolved(router: Router, target: str, mac: str, port: int = 1) -> bool:
    packet = to_host(router, target, b"is it known?" * 2)
    wanted = bytearray(forwarded6(router, packet, port))
    wanted[0:6] = bytes.fromhex(mac.replace(":", ""))
    return bytes(wanted) in router.send((0, packet)).out[port]


def test_7_2_2_sending_solicitations(router: Router) -> None:
    """7.2.2: to the target's solicited-node address, with the own link-layer address (SHOULD);
    the packet that asked for it waits; 7.2.5: an advertisement sends it on.
    """
    target, mac = "2001:db8:0:2::77", "02:00:00:00:00:77"
    packet = to_host(router, target)
    asked = router.send((0, packet)).only(1)
    assert (asked.src, asked.dst) == (router.macs[1], "33:33:ff:00:00:77")
    assert (asked[IPv6].dst, asked[IPv6].hlim) == ("ff02::1:ff00:77", 255)
    assert asked[ICMPv6ND_NS].tgt == target
    assert asked[ICMPv6NDOptSrcLLAddr].lladdr == router.macs[1]
    wanted = bytearray(forwarded6(router, packet, 1))
    wanted[0:6] = bytes.fromhex(mac.replace(":", ""))
    out = router.send((1, advertisement(router, target, mac))).out[1] + router.wait(1.2).out[1]
    assert bytes(wanted) in out
    assert resolved(router, target, mac)


@pytest.mark.parametrize("last", ["81", "82", "83"])
def test_7_1_2_validation_of_advertisements(router: Router, last: str) -> None:
    """7.1.2: MUST silently discard unless hop limit 255, code 0, checksum right."""
    target, mac = f"2001:db8:0:2::{last}", f"02:00:00:00:00:{last}"
    router.send((0, to_host(router, target)))
    good = advertisement(router, target, mac)
    bad: Packet | bytes = {
        "81": advertisement(router, target, mac, hlim=254),
        "82": damaged(good, 1, b"\x05"),
        "83": raw(good)[:56] + b"\x12\x34" + raw(good)[58:],
    }[last]
    router.send((1, bad))
    assert not resolved(router, target, mac)


def test_7_2_5_unsolicited_creates_nothing(router: Router) -> None:
    """7.2.5: an advertisement for which there is no entry SHOULD be discarded."""
    target, mac = "2001:db8:0:2::90", "02:00:00:00:00:90"
    router.send((1, advertisement(router, target, mac)))
    assert not resolved(router, target, mac)


def test_7_2_3_solicitation_teaches(router: Router) -> None:
    """7.2.3: a solicitation's source link-layer address is entered: the answer knows its way."""
    mac = "02:00:00:00:00:55"
    packet = solicitation(src="2001:db8:0:1::55", mac=mac)
    assert router.send((0, packet)).only(0).dst == mac


@pytest.mark.parametrize("kind", [133, 134, 137])
def test_6_1_other_messages(router: Router, kind: int) -> None:
    """The router advertises nothing and follows no redirects: such messages change nothing."""
    ip = IPv6(src=HOST6[0], dst="ff02::2", hlim=255, nh=58)
    packet = Ether(src=HOSTS[0], dst="33:33:00:00:00:02") / ip / Raw(bytes([kind]) + bytes(39))
    assert router.send((0, damaged(Ether(raw(packet)), 0, b""))).nothing
