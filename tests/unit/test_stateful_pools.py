"""Pools of a TRex stateful YAML: whose they are, and which ones templates take."""

import ipaddress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

from linerate.traffic import TrafficError, find, parse_rate
from linerate.traffic.connections import connections_loadtest
from linerate.traffic.trex.stateful_document import StatefulDocument
from linerate.traffic.trex.stateful_pools import Pools, read_pools

OWN = {
    "distribution": "seq",
    "clients_start": "16.0.0.1",
    "clients_end": "16.0.0.9",
    "servers_start": "48.0.0.1",
    "servers_end": "48.0.0.5",
}
DOCUMENT = StatefulDocument(Path("pools.yaml"))


def pool(name: str, first: str, last: str, **more: object) -> dict[str, Any]:
    return {"name": name, "ip_start": first, "ip_end": last, **more}


ENGINEERS = pool("engineers", "17.0.0.1", "17.0.0.4", distribution="random", tcp_aging=2)
SHOPS = pool("shops", "50.0.0.1", "50.0.0.2", track_ports=True, split_to_ports=True)


def generator(**more: object) -> dict[str, Any]:
    return {"generator": {**OWN, **more}}


def test_the_generators_own_comes_first() -> None:
    pools = read_pools(DOCUMENT, generator(generator_clients=[ENGINEERS]))
    assert pools.words() == {
        "clients": [
            {"name": "default", "min": "16.0.0.1", "max": "16.0.0.9", "order": "sequential"},
            {"name": "engineers", "min": "17.0.0.1", "max": "17.0.0.4", "order": "random"},
        ],
        "servers": [
            {"name": "default", "min": "48.0.0.1", "max": "48.0.0.5", "order": "sequential"}
        ],
    }


@pytest.mark.parametrize("beside", [True, False])
def test_lists_alone(beside: bool) -> None:
    """In the generator, or beside it; then "default" is the first of a list, as TRex has it."""
    lists = {"generator_clients": [ENGINEERS], "generator_servers": [SHOPS]}
    pools = read_pools(DOCUMENT, lists if beside else {"generator": lists})
    assert [one[0]["name"] for one in pools.lists] == ["engineers", "shops"]
    assert pools.choice(DOCUMENT, "cap_info[0]", {"client_pool": "default"}) == {}


def test_templates_choose_by_name() -> None:
    pools = read_pools(
        DOCUMENT, generator(generator_clients=[ENGINEERS], generator_servers=[SHOPS])
    )
    assert pools.choice(DOCUMENT, "", {}) == {}
    chosen = {"client_pool": "engineers", "server_pool": "shops"}
    assert pools.choice(DOCUMENT, "", chosen) == chosen
    assert pools.choice(DOCUMENT, "", {"server_pool": "shops"}) == {"server_pool": "shops"}
    with pytest.raises(TrafficError, match=r"info\[1\]\.client_pool: no pool 'shops' of clients"):
        pools.choice(DOCUMENT, "cap_info[1]", {"client_pool": "shops"})


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({}, r"generator\.clients_start: expected an IPv4 address"),
        (generator(generator_clients=5), r"generator\.generator_clients: expected a list"),
        ({"generator": {"generator_clients": []}}, r"generator_clients: expected a list"),
        (generator(generator_clients=[{}]), r"generator_clients\[0\]\.name"),
        (generator(generator_clients=[ENGINEERS, ENGINEERS]), r"\[1\]\.name: 'engineers' is an"),
        (
            generator(generator_servers=[pool("x", "9.0.0.2", "9.0.0.1")]),
            r"\[0\]\.ip_end: .*9.0.0.2",
        ),
        (
            generator(generator_servers=[pool("x", "9.0.0.1", "9.0.0.1", distribution="normal")]),
            r"\[0\]\.distribution: 'normal' is not had",
        ),
        (generator(generator_clients=[ENGINEERS | {"mac": 1}]), r"generator_clients\[0\]\.mac"),
        (generator(per_core=1), r"generator\.per_core: linerate does not have this"),
        (generator(generator_clients=[ENGINEERS]) | {"generator_clients": []}, "once"),
        ({"generator": []}, "generator: expected a mapping"),
    ],
)
def test_refusals_name_it(asked: dict[str, Any], text: str) -> None:
    with pytest.raises(TrafficError, match=text) as caught:
        read_pools(DOCUMENT, asked)
    assert "\n" not in str(caught.value)


@given(st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 500)), min_size=1, max_size=6))
def test_what_is_read_is_what_was_given(ranges: list[tuple[int, int]]) -> None:
    """Each pool keeps its addresses, its place and its name."""
    ends = [
        (ipaddress.IPv4Address(low), ipaddress.IPv4Address(min(low + more, 2**32 - 1)))
        for low, more in ranges
    ]
    named = [pool(f"p{n}", str(low), str(high)) for n, (low, high) in enumerate(ends)]
    read = read_pools(DOCUMENT, generator(generator_servers=named)).lists
    assert [one["name"] for one in read[0]] == ["default"]
    assert [(one["name"], one["min"], one["max"]) for one in read[1][1:]] == [
        (f"p{n}", str(low), str(high)) for n, (low, high) in enumerate(ends)
    ]
    pools = Pools(read)
    for name in (f"p{n}" for n in range(len(ends))):
        assert pools.choice(DOCUMENT, "", {"server_pool": name}) == {"server_pool": name}


def test_a_profile_of_several_pools(tmp_path: Path) -> None:
    """They reach the engine by name, and those elsewhere are routed."""
    frame = Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=5000, dport=53) / b"x"
    wrpcap(str(tmp_path / "one.pcap"), [frame])
    template = {"name": "one.pcap", "cps": 5, "ipg": 1000, "rtt": 1000, "client_pool": "engineers"}
    document = generator(generator_clients=[ENGINEERS]) | {"cap_info": [template]}
    (tmp_path / "pools.yaml").write_text(yaml.safe_dump([document | {"tw": {"buckets": 9}}]))
    profile = find(str(tmp_path / "pools.yaml"))
    loadtest = connections_loadtest(profile, parse_rate("1x"), None, 10_000_000_000)
    made = loadtest.traffic.connections(("02:00:00:00:0e:00", "02:00:00:00:0e:01"))
    assert made is not None
    assert [one["name"] for one in made["clients"]] == ["default", "engineers"]
    assert made["templates"][0]["client_pool"] == "engineers"
    assert loadtest.traffic.networks[0] == ("17.0.0.1/32", "17.0.0.2/31", "17.0.0.4/32")
