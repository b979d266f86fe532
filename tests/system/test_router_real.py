"""Real traffic through the router: two namespaces, the kernel's own tools on both sides."""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.system import namespaces
from tests.system.conftest import StartEngine
from tests.system.namespaces import Host, needs_namespaces

from linerate.engine.engine_process import Engine

pytestmark = needs_namespaces

PATH_MTU = 1200
#: Bulk transfers take long on a busy machine.
BUSY_SECONDS = 240

ROUTER: dict[str, Any] = {
    "interfaces": [
        {"port": "e0", "addresses": ["10.1.0.1/24"]},
        {"port": "e1", "addresses": ["10.2.0.1/24"]},
    ],
    "routes": [{"prefix": "10.9.0.0/24", "via": "10.2.0.77", "port": "e1"}],
}


def config(
    devices: list[tuple[str, str]], router: dict[str, Any], mtu_of_e1: int = 1500
) -> dict[str, Any]:
    return {
        "memory": {"megabytes": 256},
        "ports": [
            {
                "name": f"e{i}",
                "driver": "ethdev",
                "device": device,
                "devargs": devargs,
                "max_frame_bytes": (1500, mtu_of_e1)[i] + 18,
            }
            for i, (device, devargs) in enumerate(devices)
        ],
        "forwarder": {"mode": "router", "ports": ["e0", "e1"], "router": router},
    }


@dataclass(frozen=True)
class Network:
    a: Host
    b: Host
    engine: Engine

    def errors(self) -> dict[str, int]:
        with self.engine.connect() as telemetry:
            rows = telemetry.table("/linerate/errors")
        return {f"{row['node']}: {row['reason']}": row["packets"] for row in rows}


def over_veth(
    start_engine: StartEngine, stack: ExitStack, a: Host, b: Host, router: dict[str, Any]
) -> Engine:
    names = [f"lrv{os.getpid() % 100000}{side}" for side in "ab"]
    for name, host in zip(names, (a, b), strict=True):
        stack.enter_context(namespaces.veth_to(host, name))
    devices = [
        (f"net_af_packet{i}", f"iface={name},framesz=2048,blocksz=4096,framecnt=512,qpairs=1")
        for i, name in enumerate(names)
    ]
    return start_engine(config(devices, router))


def over_tap(
    start_engine: StartEngine,
    stack: ExitStack,
    a: Host,
    b: Host,
    router: dict[str, Any],
    mtu_of_e1: int = 1500,
) -> Engine:
    names = [f"lrt{os.getpid() % 100000}{side}" for side in "ab"]
    devices = [(f"net_tap{i}", f"iface={name}") for i, name in enumerate(names)]
    engine = start_engine(config(devices, router, mtu_of_e1))
    for name, host in zip(names, (a, b), strict=True):
        namespaces.run(f"ip link set {name} netns {host.namespace}")
        host.configure(name)
    return engine


@pytest.fixture(params=[over_veth, over_tap], ids=["af_packet", "tap"])
def network(request: pytest.FixtureRequest, start_engine: StartEngine) -> Iterator[Network]:
    a, b = namespaces.hosts()
    with ExitStack() as stack:
        stack.enter_context(namespaces.namespaces(a, b))
        engine = request.param(start_engine, stack, a, b, ROUTER)
        yield Network(a, b, engine)
        engine.stop()


def bad_checksums(path: Path) -> str:
    """Packets that tshark finds wrong. Linux writes a sum of 0 as 0xffff in TCP too, where
    both mean the same; tshark does not like that.
    """
    checks = " ".join(f"-o {p}.check_checksum:TRUE" for p in ("ip", "udp", "tcp"))
    tcp = "(tcp.checksum.status==0&&tcp.checksum!=0xffff)"
    icmp = "icmp.checksum.status==0||icmpv6.checksum.status==0"
    wrong = f"ip.checksum.status==0||{tcp}||udp.checksum.status==0||{icmp}"
    return namespaces.run(f"tshark -r {path} {checks} -Y {wrong}", seconds=BUSY_SECONDS).stdout


@pytest.mark.smoke("af_packet")
def test_ping(network: Network, tmp_path: Path) -> None:
    with network.b.capture(tmp_path / "b.pcap"):
        for options in (
            "-c 5 -i 0.2",
            "-c 3 -i 0.2 -s 1472 -M do",
            "-c 3 -i 0.2 -s 0",
            "-f -c 500",
        ):
            output = network.a.run(f"ping {options} {network.b.address}").stdout
            assert " 0% packet loss" in output, output
        assert "ttl=63" in network.a.run(f"ping -c 1 {network.b.address}").stdout
    assert bad_checksums(tmp_path / "b.pcap") == ""


def test_the_router_answers(network: Network) -> None:
    for address in (network.a.gateway, network.b.gateway):
        output = network.a.run(f"ping -c 3 -i 0.2 {address}").stdout
        assert " 0% packet loss" in output, output
    output = network.a.run(f"arping -c 2 -I eth0 {network.a.gateway}").stdout
    assert re.search(r"Received 2 response|2 packets received", output), output


def test_traceroute_shows_the_router(network: Network) -> None:
    # One probe at a time, to a host that is known: else probes wait for ARP, and the host
    # limits how many it answers at once.
    network.a.run(f"ping -c 2 -i 0.2 -w 10 {network.b.address}")
    for options in ("-n -q 1 -N 1 -w 3", "-n -q 1 -N 1 -w 3 -I"):
        output = network.a.run(f"traceroute {options} {network.b.address}").stdout
        hops = re.findall(r"^\s*\d+\s+(\S+)", output, re.MULTILINE)
        assert hops == [network.a.gateway, network.b.address], output


def test_what_cannot_be_reached_is_reported(network: Network) -> None:
    output = network.a.run("ping -c 1 -W 2 192.0.2.1", check=False).stdout
    assert re.search("Destination (Net|Host) Unreachable", output), output
    output = network.a.run("ping -c 6 -i 1 -W 5 10.2.0.66", check=False, seconds=30).stdout
    assert "Destination Host Unreachable" in output, output
    output = network.a.run(f"ping -c 1 -t 1 {network.b.address}", check=False).stdout
    assert "Time to live exceeded" in output, output
    errors = network.errors()
    assert any("ttl" in reason.lower() for reason in errors), errors


def iperf3(a: Host, b: Host, address: str, options: str) -> str:
    """Move data between the hosts; returns what the client says of it."""
    with b.background("iperf3 -s -1 --forceflush") as server:
        assert server.stdout is not None
        while "listening" not in (line := server.stdout.readline()):
            assert line, "iperf3 does not start"
        output = a.run(f"iperf3 -c {address} {options}", check=False, seconds=BUSY_SECONDS)
    assert output.returncode == 0, output.stdout + output.stderr
    moved = re.findall(r"([\d.]+) ([KMG])bits/sec.*receiver", output.stdout)
    assert moved, output.stdout
    assert float(moved[0][0]) > 0
    return output.stdout


@pytest.mark.parametrize("options", ["-b 200M", "-b 200M -R", "-u -b 20M", "-u -b 20M -R"])
def test_iperf3(network: Network, tmp_path: Path, options: str) -> None:
    with network.a.capture(tmp_path / "a.pcap"):
        output = iperf3(network.a, network.b, network.b.address, f"-t 2 {options}")
    if "-u" in options:
        lost = re.search(r"\(([\d.]+)%\)\s+receiver", output)
        assert lost is not None
        assert float(lost[1]) < 5, output
    assert bad_checksums(tmp_path / "a.pcap") == ""


def test_path_mtu(start_engine: StartEngine) -> None:
    """RFC 1191: behind the router is a link of a smaller MTU, which tracepath and TCP find."""
    a, b = namespaces.hosts()
    with ExitStack() as stack:
        stack.enter_context(namespaces.namespaces(a, b))
        engine = over_tap(start_engine, stack, a, b, ROUTER, PATH_MTU)
        a.run(f"ping -c 2 -i 0.2 -w 10 {b.address}")
        output = a.run(f"tracepath -n -m 4 {b.address}").stdout
        assert f"pmtu {PATH_MTU}" in output, output
        hops = re.findall(r"^\s*\d+:\s+(\d\S+)", output, re.MULTILINE)
        assert {a.gateway, b.address} <= set(hops), output
        too_long = a.run(f"ping -c 1 -W 2 -M do -s {PATH_MTU} {b.address}", check=False)
        assert "message too long" in (too_long.stdout + too_long.stderr).lower()
        iperf3(a, b, b.address, "-n 2M -b 100M")
        engine.stop()
