"""Packet traces as read from an engine and as printed."""

from typing import Any

from linerate.engine.packet_trace import trace_packets
from linerate.report.frame_text import describe
from linerate.report.packet_trace import trace_text

ETHERNET = "0200000000010200000000020800"
IP4 = "45000020000000004011000010000001300000090400040100000000"


class FakeEngine:
    """Answers as the engine does, one more packet at each look."""

    def __init__(self) -> None:
        """No packet has come."""
        self.asked: list[str] = []
        self.traced = 0

    def ask(self, command: str) -> Any:
        """One answer of the telemetry socket."""
        self.asked.append(command)
        if command == "/linerate/trace/read,0":
            return {
                "worker": "forwarder-0",
                "length": 60,
                "cut": 0,
                "frame": [ETHERNET, IP4],
                "node": ["ethernet-input", "ip4-lookup", "port-tx-e1"],
                "fused": ["ip4-input", "ip4-rewrite interface-output", ""],
                "next": ["ip4-lookup", "port-tx-e1", "(left)"],
                "reason": ["", "", "tx ring full"],
                "text": ["interface e0", "48.0.0.0/24: adjacency 7", ""],
            }
        self.traced += command == "/linerate/trace/read"
        return {"node": "ip4-input", "count": 1, "traced": min(self.traced, 1)}


def test_a_trace_is_armed_awaited_stopped_and_read() -> None:
    """Until all packets are there, and no longer."""
    engine = FakeEngine()
    (packet,) = trace_packets(engine, "ip4-input", 1, 5.0)  # type: ignore[arg-type]
    assert engine.asked[0] == "/linerate/trace/start,ip4-input,1"
    assert engine.asked[-2:] == ["/linerate/trace/stop", "/linerate/trace/read,0"]
    assert [hop.next for hop in packet.hops] == ["ip4-lookup", "port-tx-e1", "(left)"]
    assert packet.hops[1].fused == ("ip4-rewrite", "interface-output")


def test_each_node_has_a_line() -> None:
    """Next node, decision, drop reason, work of others."""
    packets = trace_packets(FakeEngine(), "ip4-input", 1, 5.0)  # type: ignore[arg-type]
    lines = trace_text(packets).splitlines()
    assert lines[0] == (
        "Packet 1 on forwarder-0, 60 bytes: UDP 16.0.0.1 port 1024 > 48.0.0.9 port 1025, TTL 64"
    )
    assert lines[2].split(maxsplit=3) == [
        "ip4-lookup", ">", "port-tx-e1",
        "48.0.0.0/24: adjacency 7; does the work of ip4-rewrite, interface-output",
    ]  # fmt: skip
    assert lines[3].endswith("(left)                 counted as: tx ring full")


def test_frames_are_described() -> None:
    """VLANs, labels, IPv6, ARP, and what is cut short."""
    macs = "020000000001020000000002"
    ip6 = "60000000000811402001" + "00" * 14 + "2002" + "00" * 14 + "00350036"
    assert describe(bytes.fromhex(macs + "81000064" + "0806")) == "VLAN 100, ARP"
    assert describe(bytes.fromhex(macs + "8847" + "00010140")) == "MPLS label 16"
    assert describe(bytes.fromhex(macs + "86dd" + ip6)) == (
        "UDP 2001:: port 53 > 2002:: port 54, hop limit 64"
    )
    assert describe(bytes.fromhex(macs + "0800" + "4500")) == "no IP header"
    assert describe(bytes.fromhex(macs + "88cc")) == "ethertype 0x88cc"
