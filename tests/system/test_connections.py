"""A TRex stateful profile is replayed flow by flow, as tshark sees it behind a router."""

import os
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import TCP, UDP
from scapy.packet import Packet
from tests.system.configs import DUT_MACS, TESTER_MACS
from tests.system.conftest import StartEngine
from tests.system.conversations import CLIENT, SERVER, Conversation, profile, write_all
from tests.system.trials import run_trial

from linerate.traffic import find, parse_rate
from linerate.traffic.connections import connections_loadtest

SECONDS = 2.0
CPS = 100
FIELDS = (
    "ip.src", "ip.dst", "ip.proto", "tcp.srcport", "tcp.dstport", "udp.srcport", "udp.dstport",
    "tcp.flags", "frame.len", "eth.dst", "ip.ttl",
)  # fmt: skip
CHECKS = [
    option for layer in ("ip", "tcp", "udp") for option in ("-o", f"{layer}.check_checksum:TRUE")
]
#: tshark's checksum status: 0 is bad, 1 good.
STATUS = ("ip.checksum.status", "tcp.checksum.status", "udp.checksum.status")
COMPLAINTS = ("_ws.malformed", "tcp.analysis.flags")
#: The clients' packets leave by e2, the servers' by e3: each into a file.
ROUTER = """
set int state e0 up
set int state e1 up
set int state e2 up
set int state e3 up
set int ip address e0 100.64.1.1/30
set int ip address e1 100.64.2.1/30
set int ip address e2 100.64.3.1/30
set int ip address e3 100.64.4.1/30
ip route add 48.0.0.0/23 via 100.64.3.2
ip route add 16.0.0.0/24 via 100.64.4.2
ip neighbor e2 100.64.3.2 02:00:00:00:cc:00
ip neighbor e3 100.64.4.2 02:00:00:00:cc:01
"""

needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None or shutil.which("mergecap") is None,
    reason="tshark (Debian package tshark) is not installed",
)


def config(folder: Path, connections: dict[str, Any]) -> dict[str, Any]:
    """One worker walks tester and router: what is due is sent in the order in which it is due."""
    (folder / "in.pcap").write_bytes(
        bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")
    )
    return {
        "cpus": sorted(os.sched_getaffinity(0))[:1],
        "memory": {"megabytes": 384},
        "cards": [{"name": "card0", "link_bps": 10_000_000_000}],
        "ports": [
            *(
                {"name": f"{end}{i}", "driver": driver, "card": "card0", "index": i, "mac": macs[i]}
                for end, driver, macs in (("e", "card", DUT_MACS), ("t", "wire", TESTER_MACS))
                for i in range(2)
            ),
            *(
                {
                    "name": f"e{2 + i}",
                    "driver": "ethdev",
                    "device": f"net_pcap{i}",
                    "devargs": f"rx_pcap={folder}/in.pcap,tx_pcap={folder}/out{i}.pcap",
                }
                for i in range(2)
            ),
        ],
        "forwarder": {
            "mode": "router", "ports": ["e0", "e1", "e2", "e3"], "router": {"cli": ROUTER},
        },
        "tester": {"ports": ["t0", "t1"], "connections": connections},
    }  # fmt: skip


def tshark(file: Path, *arguments: str) -> list[str]:
    command = ["tshark", "-r", str(file), *CHECKS, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout.splitlines()


def shape(packet: Packet) -> tuple[int, int]:
    """Length without padding, which a router takes off, and TCP flags."""
    return len(packet), int(packet[TCP].flags) if TCP in packet else 0


def port_of(conversation: Conversation) -> int:
    packet = conversation[0][1]
    return int(packet[TCP].dport if TCP in packet else packet[UDP].dport)


def seen_conversations(file: Path) -> dict[tuple[str, ...], list[tuple[str, tuple[int, int]]]]:
    """By client, its port, server and protocol: who sent what, in the order of time."""
    fields = [part for field in (*COMPLAINTS, *STATUS, *FIELDS) for part in ("-e", field)]
    seen: dict[tuple[str, ...], list[tuple[str, tuple[int, int]]]] = defaultdict(list)
    for line in tshark(file, "-T", "fields", "-E", "separator=|", *fields):
        malformed, analysis, *statuses, src, dst, protocol, tsport, tdport, usport, udport = (
            line.split("|")[: len(COMPLAINTS) + len(STATUS) + 7]
        )
        flags, length, hop, ttl = line.split("|")[-4:]
        assert (malformed, analysis) == ("", "")
        # Status of IP, and of TCP or UDP.
        assert [status for status in statuses if status] == ["1", "1"]
        sport, dport = tsport or usport, tdport or udport
        assert ttl == "63"
        # The next hop behind e2, or behind e3.
        sender = {"02:00:00:00:cc:00": CLIENT, "02:00:00:00:cc:01": SERVER}[hop]
        client, cport, server, port = (
            (src, sport, dst, dport) if sender == CLIENT else (dst, dport, src, sport)
        )
        assert client.startswith("16.0.0.")
        assert server.startswith("48.0.")
        seen[client, cport, server, protocol, port].append(
            (sender, (int(length), int(flags, 16) if flags else 0))
        )
    return seen


@needs_tshark
@pytest.mark.smoke
def test_every_conversation_is_the_templates(start_engine: StartEngine, tmp_path: Path) -> None:
    made = write_all(tmp_path)
    (tmp_path / "ten.yaml").write_text(profile(cps=CPS, ipg_us=2_000, rtt_us=10_000))
    loadtest = connections_loadtest(
        find(str(tmp_path / "ten.yaml")), parse_rate("1x"), None, 10_000_000_000
    )
    connections = loadtest.traffic.connections(DUT_MACS)
    assert connections is not None
    engine = start_engine(config(tmp_path, connections))
    outcome = run_trial(engine, SECONDS)
    with engine.connect() as telemetry:
        templates = {row["name"]: row for row in telemetry.table("/linerate/connections,0")}
    engine.stop()

    each = round(CPS * SECONDS)
    packets = each * sum(map(len, made.values()))
    assert outcome.of_kind("sent") == outcome.status["asked_packets"] == packets
    # They leave by the files' ports, and the tester sees none of them again.
    assert (outcome.losses(), outcome.unexplained) == ({}, packets)
    assert outcome.status["elapsed_us"] == pytest.approx(SECONDS * 1e6, rel=0.01)
    for name, conversation in made.items():
        counted = templates[name]
        assert (counted["started"], counted["finished"], counted["cut"]) == (each, each, 0)
        for side in (CLIENT, SERVER):
            its = sum(sender == side for sender, _packet in conversation)
            assert counted[f"{side}_packets"] == each * its

    whole = tmp_path / "whole.pcapng"
    merge = ["mergecap", "-w", str(whole), str(tmp_path / "out0.pcap"), str(tmp_path / "out1.pcap")]
    subprocess.run(merge, check=True, timeout=60)
    seen = seen_conversations(whole)
    assert len(seen) == each * len(made)
    by_port = {port_of(conversation): name for name, conversation in made.items()}
    for key, sent in seen.items():
        names = ("dns-short", "dns-long") if key[-1] == "53" else (by_port[int(key[-1])],)
        choices = [made[name] for name in names]
        assert sent in [[(s, shape(p)) for s, p in choice] for choice in choices]
    # Every client and every server has its turn.
    assert len({key[0] for key in seen}) == 200
    assert len({key[2] for key in seen}) == 511
