"""Real IPv6 traffic through the router: two namespaces, the kernel's own tools on both sides."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.system import namespaces
from tests.system.conftest import StartEngine
from tests.system.namespaces import needs_namespaces
from tests.system.test_router_real import (
    PATH_MTU,
    Network,
    bad_checksums,
    iperf3,
    over_tap,
    over_veth,
)

pytestmark = needs_namespaces

ROUTER6: dict[str, Any] = {
    "interfaces": [
        {"port": "e0", "addresses": ["10.1.0.1/24", "2001:db8:0:1::1/64"]},
        {"port": "e1", "addresses": ["10.2.0.1/24", "2001:db8:0:2::1/64"]},
    ],
    "routes": [{"prefix": "2001:db8:99::/48", "via": "2001:db8:0:2::77"}],
}


@pytest.fixture(params=[over_veth, over_tap], ids=["af_packet", "tap"])
def network(request: pytest.FixtureRequest, start_engine: StartEngine) -> Iterator[Network]:
    a, b = namespaces.hosts6()
    with ExitStack() as stack:
        stack.enter_context(namespaces.namespaces(a, b))
        engine = request.param(start_engine, stack, a, b, ROUTER6)
        yield Network(a, b, engine)
        engine.stop()


def hops(output: str) -> list[str]:
    return re.findall(r"^\s*\d+:?\s+([0-9a-f:]+:[0-9a-f:]*)", output, re.MULTILINE)


@pytest.mark.smoke("af_packet")
def test_ping(network: Network, tmp_path: Path) -> None:
    with network.b.capture(tmp_path / "b.pcap"):
        for options in (
            "-c 5 -i 0.2",
            "-c 3 -i 0.2 -s 1452 -M do",
            "-c 3 -i 0.2 -s 0",
            "-f -c 500",
        ):
            output = network.a.run(f"ping -6 {options} {network.b.address6}").stdout
            assert " 0% packet loss" in output, output
        assert "ttl=63" in network.a.run(f"ping -6 -c 1 {network.b.address6}").stdout
    assert bad_checksums(tmp_path / "b.pcap") == ""


def test_the_router_answers(network: Network) -> None:
    for address in (network.a.gateway6, network.b.gateway6):
        output = network.a.run(f"ping -6 -c 3 -i 0.2 {address}").stdout
        assert " 0% packet loss" in output, output


def test_neighbour_discovery(network: Network) -> None:
    """ndisc6 asks for the gateway's MAC address; rdisc6 for advertisements, which it sends none."""
    with network.engine.connect() as telemetry:
        mac = telemetry.table("/linerate/ports")[0]["mac"].upper()
    output = network.a.run(f"ndisc6 -1 -w 3000 {network.a.gateway6} eth0").stdout
    assert f"Target link-layer address: {mac}" in output, output
    silent = network.a.run("rdisc6 -1 -r 1 -w 500 eth0", check=False)
    assert silent.returncode != 0
    assert "Prefix" not in silent.stdout


def test_traceroute_shows_the_router(network: Network) -> None:
    network.a.run(f"ping -6 -c 2 -i 0.2 -w 10 {network.b.address6}")
    for options in ("-n -q 1 -N 1 -w 3", "-n -q 1 -N 1 -w 3 -I"):
        output = network.a.run(f"traceroute -6 {options} {network.b.address6}").stdout
        assert hops(output)[-2:] == [network.a.gateway6, network.b.address6], output
    output = network.a.run(f"tracepath -6 -n -m 4 {network.b.address6}").stdout
    assert {network.a.gateway6, network.b.address6} <= set(hops(output)), output


def test_what_cannot_be_reached_is_reported(network: Network) -> None:
    output = network.a.run("ping -6 -c 1 -W 2 2001:db8:dead::1", check=False).stdout
    assert re.search("No route|Destination unreachable", output), output
    output = network.a.run("ping -6 -c 6 -W 5 2001:db8:0:2::66", check=False, seconds=30).stdout
    assert "Address unreachable" in output, output
    output = network.a.run(f"ping -6 -c 1 -t 1 {network.b.address6}", check=False).stdout
    assert "Time exceeded" in output, output


@pytest.mark.parametrize("options", ["-b 200M", "-b 200M -R", "-u -b 20M", "-u -b 20M -R"])
def test_iperf3(network: Network, tmp_path: Path, options: str) -> None:
    with network.a.capture(tmp_path / "a.pcap"):
        iperf3(network.a, network.b, network.b.address6 or "", f"-V -t 2 {options}")
    assert bad_checksums(tmp_path / "a.pcap") == ""


def test_path_mtu(start_engine: StartEngine) -> None:
    """RFC 8201: behind the router is a link of a smaller MTU, which tracepath and TCP find."""
    mtu = max(PATH_MTU, 1280)
    a, b = namespaces.hosts6()
    with ExitStack() as stack:
        stack.enter_context(namespaces.namespaces(a, b))
        engine = over_tap(start_engine, stack, a, b, ROUTER6, mtu)
        a.run(f"ping -6 -c 2 -i 0.2 -w 10 {b.address6}")
        output = a.run(f"tracepath -6 -n -m 4 {b.address6}").stdout
        assert f"pmtu {mtu}" in output, output
        iperf3(a, b, b.address6 or "", "-V -n 2M -b 100M")
        engine.stop()
