"""The forwarding modes beside the router, with the real engine: each packet is explained."""

import os
import random
import re
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from scapy.compat import raw
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw
from scapy.utils import PcapReader, wrpcap
from tests.system import namespaces
from tests.system.configs import card_config, stream
from tests.system.conftest import StartEngine
from tests.system.labs import wait_for
from tests.system.namespaces import Host, needs_namespaces
from tests.system.trials import run_trial

from linerate.engine.engine_process import Engine

FLOWS = [{"field": "ipv4.src", "op": "increment", "min": "16.0.0.1", "max": "16.0.0.250"}]


@pytest.mark.parametrize("card", [{}, {"rx_ring": 32, "tx_ring": 32, "rx_queues": 2}])
@pytest.mark.parametrize(
    "mode", ["flowtable", "mac", "csum", "l2fwd", "xconnect", "l2switch", "rxonly"]
)
@pytest.mark.smoke("l2switch-card0")
def test_every_packet_is_explained(
    start_engine: StartEngine, mode: str, card: dict[str, Any]
) -> None:
    streams = [stream(port, rate={"percent": 20}, modifiers=FLOWS) for port in range(2)]
    workers = card.get("rx_queues", 1)
    forwarder = {"mode": mode, "workers": workers}
    outcome = run_trial(start_engine(card_config(card, forwarder, streams)), 0.2)
    assert outcome.status["drained"] == 1
    assert outcome.unexplained == 0
    assert outcome.of_kind("sent") > 0
    back = outcome.of_kind("consumed" if mode == "rxonly" else "received")
    assert back > 0
    assert back + sum(outcome.losses().values()) == outcome.of_kind("sent")


@pytest.mark.parametrize("mode", ["txonly", "flowgen"])
def test_frames_are_made_as_fast_as_the_port_takes_them(
    start_engine: StartEngine, mode: str
) -> None:
    config = card_config({"link_bps": 10_000_000}, {"mode": mode}, [stream(0)])
    engine = start_engine(config)

    def read() -> tuple[int, int]:
        with engine.connect() as telemetry:
            rows = telemetry.table("/linerate/ledger")
        by_kind = {
            kind: sum(row["packets"] for row in rows if row["kind"] == kind)
            for kind in ("originated", "other", "held", "loss")
        }
        assert by_kind["loss"] == 0, rows
        in_rings = by_kind["originated"] - by_kind["other"] - by_kind["held"]
        return by_kind["other"], in_rings

    wait_for(lambda: read()[0] > 0)
    # Both readings are between these times, whatever else takes the CPU.
    started = time.monotonic()
    before, _ = read()
    time.sleep(1)
    wait_for(lambda: read()[0] > before)
    after, in_rings = read()
    ended = time.monotonic()
    line_pps = 2 * 1e7 / (84 * 8)
    in_rings_most = 2 * (1024 + 256) + 100
    # A tester that comes to its CPU late may find what the rings held when this began.
    assert after - before <= line_pps * (ended - started) + in_rings_most
    assert 0 <= in_rings <= in_rings_most


def pcap_config(folder: Path, mode: str) -> dict[str, Any]:
    return {
        "memory": {"megabytes": 256},
        "ports": [
            {
                "name": f"e{i}",
                "driver": "ethdev",
                "device": f"net_pcap{i}",
                "devargs": f"rx_pcap={folder}/in{i}.pcap,tx_pcap={folder}/out{i}.pcap",
            }
            for i in range(2)
        ],
        "forwarder": {"mode": mode, "ports": ["e0", "e1"]},
    }


def some_packets() -> list[Packet]:
    """Right but for their checksums, which are random (and not 0, which UDP keeps)."""
    dice = random.Random(42)
    packets = []
    for number in range(400):
        link = Ether(src="50:7c:6f:20:30:70", dst="02:00:00:00:0e:00")
        for _ in range(number % 3):
            link /= Dot1Q(vlan=dice.randint(1, 4094))
        wrong = {"chksum": dice.randint(1, 65535)}
        ip = IP(src="16.0.0.1", dst="48.0.0.1", ttl=dice.randint(1, 255), **wrong)
        if dice.random() < 0.4:
            ip = IPv6(src="2001:db8::1", dst="2001:db8::2", hlim=dice.randint(1, 255))
        ports = {"sport": dice.randint(1, 65535), "dport": dice.randint(1, 65535)}
        upper = (UDP if number % 2 else TCP)(**ports, **wrong)
        packets.append(link / ip / upper / Raw(dice.randbytes(dice.randint(26, 1300))))
    return packets


def with_right_checksums(packet: Packet, source: str) -> bytes:
    out = packet.copy()
    ether = out[Ether]
    ether.src, ether.dst = source, "02:00:00:00:00:01"
    for layer in (IP, UDP, TCP):
        if layer in out:
            del out[layer].chksum
    return bytes(raw(out))


def test_csum_computes_what_scapy_computes(start_engine: StartEngine, tmp_path: Path) -> None:
    packets = some_packets()
    wrpcap(str(tmp_path / "in0.pcap"), packets)
    wrpcap(str(tmp_path / "in1.pcap"), [Ether() / Raw(b"\0" * 46)])
    engine = start_engine(pcap_config(tmp_path, "csum"))
    with engine.connect() as telemetry:
        wait_for(lambda: telemetry.ask("/linerate/port,e1")["tx_packets"] >= len(packets))
        (mac,) = (r["mac"] for r in telemetry.table("/linerate/ports") if r["name"] == "e1")
    engine.stop()
    with PcapReader(str(tmp_path / "out1.pcap")) as reader:
        out = [raw(packet) for packet in reader]
    assert out == [with_right_checksums(packet, mac.lower()) for packet in packets]


class Switch:
    """Hosts on tap devices, all in one subnet, with the engine between them."""

    def __init__(self, start_engine: StartEngine, stack: ExitStack) -> None:
        self._start_engine = start_engine
        self._stack = stack
        self.hosts: list[Host] = []

    def start(self, count: int, forwarder: dict[str, Any]) -> Engine:
        numbered = f"{os.getpid() % 100000}"
        self.hosts = [
            Host(f"lrm-{i}-{numbered}", f"10.3.0.{i + 1}", "10.3.0.9") for i in range(count)
        ]
        self._stack.enter_context(namespaces.namespaces(*self.hosts))
        names = [f"lrm{numbered}{i}" for i in range(count)]
        ports = [
            {"name": f"e{i}", "driver": "ethdev", "device": f"net_tap{i}", "devargs": f"iface={n}"}
            for i, n in enumerate(names)
        ]
        engine = self._start_engine(
            {
                "memory": {"megabytes": 256},
                "ports": ports,
                "forwarder": {"ports": [f"e{i}" for i in range(count)], **forwarder},
            }
        )
        for name, host in zip(names, self.hosts, strict=True):
            namespaces.run(f"ip link set {name} netns {host.namespace}")
            host.configure(name)
        self._stack.callback(engine.stop)
        return engine


@pytest.fixture
def switch(start_engine: StartEngine) -> Iterator[Switch]:
    with ExitStack() as stack:
        yield Switch(start_engine, stack)


def pings(host: Host, address: str, options: str = "-c 2 -i 0.2") -> bool:
    output = host.run(f"ping -W 1 {options} {address}", check=False).stdout
    return " 0% packet loss" in output


def reasons(engine: Engine) -> dict[str, int]:
    with engine.connect() as telemetry:
        rows = telemetry.table("/linerate/errors")
    found: dict[str, int] = {}
    for row in rows:
        found[row["reason"]] = found.get(row["reason"], 0) + row["packets"]
    return found


def flooded(engine: Engine) -> int:
    with engine.connect() as telemetry:
        rows = telemetry.table("/linerate/ledger")
    return sum(row["packets"] for row in rows if row["kind"] == "originated")


@needs_namespaces
def test_icmpecho_answers_ping_and_arping(switch: Switch) -> None:
    engine = switch.start(1, {"mode": "icmpecho"})
    (host,) = switch.hosts
    for options in ("-c 3 -i 0.2", "-c 2 -i 0.2 -s 1472 -M do", "-c 2 -i 0.2 -s 0", "-f -c 300"):
        assert pings(host, "10.3.0.77", options)
    output = host.run("arping -c 2 -I eth0 10.3.0.78").stdout
    assert re.search(r"Received 2 response|2 packets received", output), output
    host.run("ping -c 1 -W 1 -b -I eth0 10.3.0.255", check=False)
    counted = reasons(engine)
    assert counted["echo request answered"] >= 307
    assert counted["arp request answered"] >= 3


@needs_namespaces
def test_l2switch_joins_three_hosts(switch: Switch) -> None:
    engine = switch.start(3, {"mode": "l2switch", "l2switch": {"ageing_seconds": 2}})
    hosts = switch.hosts
    for a in hosts:
        for b in hosts:
            if a is not b:
                assert pings(a, b.address), (a, b)
    # Known stations are not flooded: 200 pings make no copies but what else the hosts say.
    before = flooded(engine)
    assert pings(hosts[0], hosts[1].address, "-c 200 -f")
    assert flooded(engine) - before < 100
    # A station moves: host 2 takes over the address and the MAC of host 1.
    mac = hosts[1].run("cat /sys/class/net/eth0/address").stdout.strip()
    hosts[1].run("ip link set eth0 down")
    hosts[2].run(f"ip link set eth0 address {mac}")
    hosts[2].run(f"ip address add {hosts[1].address}/24 dev eth0")
    hosts[2].run(f"arping -c 1 -U -I eth0 {hosts[1].address}", check=False)
    assert pings(hosts[0], hosts[1].address)
    # Once it is too old it is unknown again, and flooded: the sender knows it still.
    hosts[0].run(f"ip neigh replace {hosts[1].address} lladdr {mac} dev eth0")
    assert any(is_flooded_after(engine, hosts[0], hosts[1].address, 2.5) for _ in range(4))


def is_flooded_after(engine: Engine, host: Host, address: str, seconds: float) -> bool:
    """Unless a frame of the station makes it known again in between."""
    time.sleep(seconds)
    before = flooded(engine)
    assert pings(host, address, "-c 1")
    return flooded(engine) > before


#: Sends frames, in hexadecimal, on eth0: namespaces may have no VLAN interfaces.
SEND = """
import socket, sys
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(("eth0", 0))
for frame in sys.argv[1:]:
    link.send(bytes.fromhex(frame))
"""


def tagged(source: int, vlan: int) -> Packet:
    link = Ether(src=f"02:00:00:00:77:0{source}", dst="ff:ff:ff:ff:ff:ff")
    return link / Dot1Q(vlan=vlan, type=0x88B5) / Raw(bytes([source, vlan]) * 25)


def tags_in(path: Path) -> set[tuple[int, int]]:
    with PcapReader(str(path)) as reader:
        frames = [raw(packet) for packet in reader]
    return {(f[18], f[19]) for f in frames if f[12:14] == b"\x81\0" and f[16:18] == b"\x88\xb5"}


@needs_namespaces
def test_l2switch_keeps_vlans_separate(switch: Switch, tmp_path: Path) -> None:
    vlans = [{"id": 10, "ports": ["e0", "e1"]}, {"id": 20, "ports": ["e0", "e2"]}]
    engine = switch.start(3, {"mode": "l2switch", "l2switch": {"vlans": vlans}})
    script = tmp_path / "send.py"
    script.write_text(SEND)
    captures = [tmp_path / f"{i}.pcap" for i in range(3)]
    with ExitStack() as stack:
        for host, capture in zip(switch.hosts, captures, strict=True):
            stack.enter_context(host.capture(capture))
        for number, host in enumerate(switch.hosts):
            frames = " ".join(raw(tagged(number, vlan)).hex() for vlan in (10, 20, 30))
            host.run(f"{sys.executable} {script} {frames}")
        # tcpdump is handed what it sees once a second.
        time.sleep(2)
    # Each sees what it sent itself, and of the others what is in its VLANs.
    own = [{(i, vlan) for vlan in (10, 20, 30)} for i in range(3)]
    assert tags_in(captures[0]) == own[0] | {(1, 10), (2, 20), (1, 30), (2, 30)}
    assert tags_in(captures[1]) == own[1] | {(0, 10), (0, 30), (2, 30)}
    assert tags_in(captures[2]) == own[2] | {(0, 20), (0, 30), (1, 30)}
    assert reasons(engine)["port is not in the vlan"] == 2
    # Without a tag they are all together.
    assert pings(switch.hosts[1], switch.hosts[2].address)
