"""VPP's `show trace` as read, and as `linerate testbed trace` prints it."""

import pytest

from linerate.model.box_trace import by_place
from linerate.model.ledger import Entry, PacketLedger
from linerate.parsers.boxes import Asked, TracingKind, find
from linerate.report import box_trace


def tracing_kind() -> TracingKind:
    kind = find("vpp")
    assert isinstance(kind, TracingKind)
    return kind


VPP = tracing_kind()
ASKED = Asked(ports={"e0": "memif1/0", "e1": "memif2/1"}, socket="/run/x y/cli.sock")
#: As vlib/trace.c prints it.
TRACE = """\
------------------- Start of thread 0 vpp_main -------------------
No packets in trace buffer
------------------- Start of thread 1 vpp_wk_0 -------------------
Packet 1

00:00:12:345678: memif-input
  memif: hw_if_index 1 next-index 4
    slot: ring 0
00:00:12:345680: ethernet-input
  IP4: 50:7c:6f:20:30:70 -> 02:00:00:00:0e:00
00:00:12:345681: ip4-input
  UDP: 16.0.0.1 -> 48.0.0.1
    tos 0x00, ttl 64, length 46, checksum 0x0f92 dscp CS0 ecn NON_ECN
00:00:12:345682: ip4-lookup
  fib 0 dpo-idx 0 flow hash: 0x00000000
00:00:12:345683: ip4-drop
    fib:0 adj:0 flow:0x00000000
00:00:12:345684: error-drop
  rx:memif1/0
00:00:12:345685: drop
  null-node: blackholed packets

Packet 2

00:00:12:345690: memif-input
  memif: hw_if_index 1 next-index 4
00:00:12:345691: memif2/1-output
  memif2/1 flags 0x00180005
00:00:12:345692: memif2/1-tx
00:00:12:345693: error-drop
  rx:memif1/0
00:00:12:345694: drop
  memif2/1-tx: no free tx slots

Packet 3

00:00:12:345700: memif-input
  memif: hw_if_index 1 next-index 4
00:00:12:345701: memif2/1-tx
    buffer 0x9d7f4: current data 0, length 60

Packet 4

00:00:12:345710: ip4-input
  UDP: 16.0.0.1 -> 48.0.0.1
00:00:12:345711: ip4-icmp-error
  UDP: 16.0.0.1 -> 48.0.0.1
00:00:12:345712: memif1/0-tx

Packet 5

00:00:12:345720: memif-input
  memif: hw_if_index 1 next-index 4
00:00:12:345721: worker-handoff
  to-worker 2

"""
LEDGER = PacketLedger(
    entries=(
        Entry(place="t0", kind="sent", packets=100),
        Entry(place="null-node: blackholed packets", kind="loss", packets=60),
        Entry(place="t1", kind="received", packets=40),
    )
)


def packets():
    return VPP.traced(TRACE, ASKED)


def test_a_packet_ends_where_the_ledger_has_it():
    assert [packet.lost_at for packet in packets()] == [
        "null-node: blackholed packets",
        "e1-tx: no free tx slots",
        "",
        "ip4-input: answered by ip4-icmp-error",
        "",
    ]
    assert [packet.open_ended for packet in packets()] == [False] * 4 + [True]
    assert {packet.thread for packet in packets()} == {"vpp_wk_0"}


def test_a_node_keeps_its_lines():
    hop = packets()[0].hops[2]
    assert hop.node == "ip4-input"
    assert hop.lines[0] == "UDP: 16.0.0.1 -> 48.0.0.1"


def test_losses_come_by_their_number():
    twice = (*packets(), packets()[1])
    place, own = by_place(twice)[0]
    assert (place, len(own)) == ("e1-tx: no free tx slots", 2)


def test_the_last_nodes_are_printed():
    text = box_trace.text(LEDGER, packets())
    assert "100 packets sent, 40 received\n  lost: 60 at null-node: blackholed packets" in text
    assert "5 packets traced: 1 left the box, 3 lost, 1 without an end" in text
    assert "1 at null-node: blackholed packets; the last nodes of one, on vpp_wk_0:" in text
    assert "  memif-input > ethernet-input > ip4-input >\n  ip4-lookup\n    fib 0" in text
    assert "  drop\n    null-node: blackholed packets" in text


def test_output_for_programs_has_all_hops():
    output = box_trace.output(LEDGER, packets())
    assert output.losses == {"null-node: blackholed packets": 60}
    assert output.packets[0].hops[-1].lines == ("null-node: blackholed packets",)


@pytest.mark.parametrize("stamp", ["1764017263.123456", "2026-11-24T20:47:43.123456"])
def test_other_time_stamps_are_read(stamp):
    text = f"Packet 1\n\n{stamp}: ip4-input\n  UDP\n{stamp}: drop\n  ip4-input: bad length\n"
    (packet,) = VPP.traced(text, ASKED)
    assert packet.lost_at == "ip4-input: bad length"


def test_questions_go_to_the_users_socket():
    (clear, add) = VPP.trace_begin(ASKED, 50)
    assert clear.command == "vppctl -s '/run/x y/cli.sock' clear trace"
    assert 'trace add "$node" 50 </dev/null' in add.command
    assert VPP.trace_read(ASKED, 50).command.endswith("show trace max 800")


def test_other_kinds_record_nothing():
    assert not isinstance(find("linux"), TracingKind)
