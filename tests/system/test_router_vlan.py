"""VLANs and MTUs of the router: the kernel's own VLAN interfaces, and a card's longest frames."""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest
from tests.system import namespaces
from tests.system.configs import DUT_MACS, TESTER_MACS, card_config, stream
from tests.system.conftest import StartEngine
from tests.system.namespaces import Host, needs_namespaces
from tests.system.trials import run_trial

SMALL_MTU = 1000


#: Tags of the router's interfaces and the hosts'; the last is IEEE 802.1ad's.
TAGS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "untagged": ({}, {}),
    "tagged": ({"vlan": 100}, {"vlan": 200}),
    "stacked": (
        {"vlan": 100, "dot1ad": True, "inner_vlan": 7},
        {"vlan": 200, "dot1ad": True, "inner_vlan": 7},
    ),
}


def kernel_vlans(tags: dict[str, Any]) -> tuple[str, ...]:
    """The same tags as a host's kernel has them."""
    protocol = "protocol 802.1ad " if tags.get("dot1ad") else ""
    ids = (("vlan", protocol), ("inner_vlan", ""))
    return tuple(f"{words}id {tags[key]}" for key, words in ids if key in tags)


def router(tags: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    return {
        "interfaces": [
            {"port": "e0", "addresses": ["10.1.0.1/24"], **tags[0]},
            {"port": "e1", "addresses": ["10.2.0.1/24"], "mtu": SMALL_MTU, **tags[1]},
        ]
    }


@pytest.fixture(params=list(TAGS.values()), ids=list(TAGS))
def network(
    request: pytest.FixtureRequest, start_engine: StartEngine
) -> Iterator[tuple[Host, Host]]:
    """Two hosts, on VLANs of their own or not, with the router between them."""
    a, b = (
        replace(host, vlans=kernel_vlans(tags))
        for host, tags in zip(namespaces.hosts(), request.param, strict=True)
    )
    names = [f"lrt{os.getpid() % 100000}{side}" for side in "cd"]
    ports = [
        {"name": f"e{i}", "driver": "ethdev", "device": f"net_tap{i}", "devargs": f"iface={name}"}
        for i, name in enumerate(names)
    ]
    forwarder = {"mode": "router", "ports": ["e0", "e1"], "router": router(request.param)}
    with ExitStack() as stack:
        stack.enter_context(namespaces.namespaces(a, b))
        if a.vlans and not namespaces.kernel_makes(a, "vlan id 1"):
            pytest.skip("the kernel has no VLAN interfaces")
        engine = start_engine(
            {"memory": {"megabytes": 256}, "ports": ports, "forwarder": forwarder}
        )
        for name, host in zip(names, (a, b), strict=True):
            namespaces.run(f"ip link set {name} netns {host.namespace}")
            host.configure(name)
        yield a, b
        engine.stop()


@needs_namespaces
def test_the_kernel_is_asked_on_a_link_that_may_carry_others() -> None:
    """No kernel puts a VLAN, or what stands on a link as it does, on lo."""
    a, _ = namespaces.hosts()
    with namespaces.namespaces(a):
        # Some kernels have tunnels in each namespace.
        before = a.run("ip -o link").stdout
        assert namespaces.kernel_makes(a, "macvlan")
        assert not namespaces.kernel_makes(a, "nonsense")
        assert a.run("ip link add link lo name lo.1 type macvlan", check=False).returncode
        assert a.run("ip -o link").stdout == before


@needs_namespaces
def test_ping_through_a_small_mtu(network: tuple[Host, Host]) -> None:
    a, b = network
    # The first packet of each size asks for the neighbour; -s 3000 leaves a in three
    # fragments, each of which is cut again for b, and comes back in three.
    for options in ("-c 3 -i 0.2", "-c 3 -i 0.2 -s 3000 -M dont", "-c 3 -i 0.2 -s 972 -M do"):
        output = a.run(f"ping {options} {b.address}").stdout
        assert " 0% packet loss" in output, output
    output = a.run(f"ping -c 2 -i 0.2 {a.gateway}").stdout
    assert " 0% packet loss" in output, output


@needs_namespaces
def test_the_mtu_is_reported(network: tuple[Host, Host]) -> None:
    a, b = network
    a.run(f"ping -c 2 -i 0.2 {b.address}")
    output = a.run(f"ping -c 1 -s 1400 -M do {b.address}", check=False)
    assert re.search(rf"mtu ?= ?{SMALL_MTU}", output.stdout + output.stderr), output
    output = a.run(f"tracepath -n {b.address}", check=False)
    assert f"pmtu {SMALL_MTU}" in output.stdout, output.stdout


def tagged_stream(frame_bytes: int, tags: int) -> dict[str, Any]:
    vlans = [{"vlan": {"id": 100}}, {"vlan": {"id": 7}}][:tags]
    layers = [
        {"ethernet": {"src": TESTER_MACS[0], "dst": DUT_MACS[0]}},
        *vlans,
        {"ipv4": {"src": "16.0.0.1", "dst": "48.0.0.1"}},
        {"udp": {}},
    ]
    return stream(0, frame_bytes=frame_bytes, rate={"pps": 2000}, layers=layers)


@pytest.mark.parametrize("tags", [0, 1, 2])
@pytest.mark.parametrize("more", [0, 1])
def test_tags_come_on_top_of_the_longest_frame(
    start_engine: StartEngine, tags: int, more: int
) -> None:
    """IEEE 802.3: 1518 bytes, 1522 with a tag; 1526 with two. Both into the card and out."""
    names = [{"port": "e0"}, {"port": "e0", "vlan": 100}]
    names += [{"port": "e0", "vlan": 100, "inner_vlan": 7}]
    out = [{"port": "e1"}, {"port": "e1", "vlan": 100}]
    out += [{"port": "e1", "vlan": 100, "inner_vlan": 7}]
    name = "e1" + [".100", ".100.7"][tags - 1] if tags else "e1"
    forwarder = {
        "interfaces": [*names, *out],
        "routes": [{"prefix": "48.0.0.0/24", "via": "48.0.0.1", "port": name}],
        "neighbors": [{"port": name, "address": "48.0.0.1", "mac": TESTER_MACS[1]}],
    }
    streams = [tagged_stream(1518 + 4 * tags + more, tags)]
    config = card_config(
        {"max_frame_bytes": 1518}, {"mode": "router", "router": forwarder}, streams
    )
    outcome = run_trial(start_engine(config), 0.1)
    assert outcome.unexplained == 0
    sent = outcome.of_kind("sent")
    if more:
        assert outcome.losses() == {"card0 port 0: oversize frame": sent}
    else:
        assert outcome.of_kind("received") == sent > 0
