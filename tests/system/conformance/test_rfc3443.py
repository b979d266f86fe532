"""RFC 3443, TTL Processing in MPLS Networks: the uniform and the pipe model."""

from collections.abc import Iterator

import pytest
from scapy.compat import raw
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from tests.system.conformance.router import HOST, Router, ip4_config, labels

LABELS = [
    {"label": 16, "via": HOST[1], "out_labels": [17]},
    {"label": 20, "via": HOST[1], "out_labels": [100, 200]},
    {"label": 21, "via": HOST[1]},
    {"label": 22, "eos": False, "via": HOST[1]},
    {"label": 23},
    {"label": 24, "eos": False},
]


@pytest.fixture(scope="module")
def uniform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Router]:
    with Router(tmp_path_factory.mktemp("uniform"), ip4_config(mpls=LABELS)) as router:
        yield router


@pytest.fixture(scope="module")
def pipe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Router]:
    folder = tmp_path_factory.mktemp("pipe")
    config = {**ip4_config(mpls=LABELS), "mpls_ttl": "pipe"}
    with Router(folder, config) as router:
        yield router


def labelled(router: Router, *stack: tuple[int, int], ip_ttl: int = 77) -> Packet:
    """A frame with labels, each with its TTL, above an IPv4 packet."""
    frame = router.ether(0, type=0x8847)
    for place, (label, ttl) in enumerate(stack):
        frame /= MPLS(label=label, s=int(place == len(stack) - 1), ttl=ttl)
    inner = IP(src="16.0.0.1", dst="48.0.0.1", ttl=ip_ttl) / UDP() / Raw(b"x" * 20)
    return Ether(raw(frame / inner))


def ttls(frame: bytes) -> list[int]:
    """The TTL of each label, then the IPv4 packet's."""
    packet = Ether(frame)
    beneath = IP(frame[14 + 4 * len(labels(frame)) :])
    whole = IP(raw(beneath))
    del whole.chksum
    assert raw(whole) == raw(beneath), packet
    return [entry[3] for entry in labels(frame)] + [beneath.ttl]


def sent(router: Router, *stack: tuple[int, int], ip_ttl: int = 77) -> list[int]:
    (frame,) = router.send((0, labelled(router, *stack, ip_ttl=ip_ttl))).out[1]
    return ttls(frame)


# Both models: 3.5 says that nothing but the pop is different.


@pytest.mark.parametrize("model", ["uniform", "pipe"])
def test_3_1_swap(request: pytest.FixtureRequest, model: str) -> None:
    """3.1-3.3, swap: oTTL = iTTL - 1, and what is beneath stays as it is."""
    router: Router = request.getfixturevalue(model)
    assert sent(router, (16, 9)) == [8, 77]
    assert sent(router, (16, 255)) == [254, 77]


@pytest.mark.parametrize("model", ["uniform", "pipe"])
@pytest.mark.parametrize("ttl", [0, 1])
def test_3_5_expiry(request: pytest.FixtureRequest, model: str, ttl: int) -> None:
    """3.5: a label whose TTL has run out is not forwarded, whatever the model."""
    router: Router = request.getfixturevalue(model)
    for stack in ([(16, ttl)], [(20, ttl)], [(22, ttl), (500, 9)]):
        outcome = router.send((0, labelled(router, *stack)))
        assert outcome.out[1] == []
        assert any("ttl" in reason for reason in outcome.reasons), outcome


# The uniform model


def test_3_1_uniform_push(uniform: Router) -> None:
    """3.1: all labels that are written have the same TTL."""
    assert sent(uniform, (20, 9)) == [8, 8, 77]


def test_3_1_uniform_pop_to_ip(uniform: Router) -> None:
    """3.1, 3.4.1: the exposed IP header takes the label's TTL on, less one."""
    assert sent(uniform, (21, 9)) == [8]
    assert sent(uniform, (23, 9)) == [8]
    assert sent(uniform, (21, 9), ip_ttl=1) == [8]


def test_3_1_uniform_pop_to_a_label(uniform: Router) -> None:
    """3.1: so does an exposed label."""
    assert sent(uniform, (22, 9), (500, 33)) == [8, 77]
    assert sent(uniform, (24, 9), (16, 33)) == [8, 77]


def test_3_1_uniform_many_pops_one_hop(uniform: Router) -> None:
    """3.1: however many labels one router takes off, it is one hop: the TTL goes down once."""
    assert sent(uniform, (24, 9), (24, 40), (23, 50)) == [8]


# The pipe model, and its short form, which a router that knows no DiffServ tunnels cannot tell


def test_3_2_pipe_pop_to_ip(pipe: Router) -> None:
    """3.2, 3.3: the exposed IP header keeps its own TTL, which the egress lowers by one."""
    assert sent(pipe, (23, 9)) == [76]
    assert sent(pipe, (0, 9)) == [76]


def test_3_6_pipe_php(pipe: Router) -> None:
    """3.3, 3.6: the penultimate hop leaves the exposed header's TTL as it is: the egress lowers it.

    3.6: a router MAY lower it nevertheless; whatever it does, the label's TTL stays out of it.
    """
    assert sent(pipe, (21, 9)) in ([77], [76])
    assert sent(pipe, (21, 255)) in ([77], [76])


def test_3_2_pipe_pop_to_a_label(pipe: Router) -> None:
    """3.2: an exposed label keeps its own TTL too."""
    assert sent(pipe, (22, 9), (500, 33)) in ([33, 77], [32, 77])
    assert sent(pipe, (24, 9), (16, 33)) == [32, 77]


def test_3_2_pipe_expiry_beneath(pipe: Router) -> None:
    """3.5: a packet whose exposed TTL has run out is dropped, and its sender gets an error."""
    outcome = pipe.send((0, labelled(pipe, (23, 9), ip_ttl=1)))
    error = outcome.only(0)
    assert (error["ICMP"].type, error["ICMP"].code) == (11, 0)
