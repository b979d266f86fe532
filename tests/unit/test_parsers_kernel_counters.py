"""Counters of a kernel's IP and UDP, and drops that it traces."""

from pathlib import Path

import pytest
from tests.unit.mangling import collapse_blanks, lose_indent, read

from linerate.analysis.explain import explain

DATA = Path(__file__).parents[1] / "data" / "pasted_host"


def sample(name):
    return (DATA / name).read_text()


def losses(evidence):
    return [(one.place, one.cause, one.packets, one.offered) for one in evidence.losses]


NSTAT = """\
#kernel
IpInReceives                    1000000            0.0
IpInAddrErrors                  {errors}           0.0
IpForwDatagrams                 1000               0.0
IpOutRequests                   5000               0.0
IpOutNoRoutes                   10                 0.0
TcpExtIPReversePathFilter       7                  0.0
"""
SNMP = """\
Ip: Forwarding DefaultTTL InReceives InHdrErrors InAddrErrors ForwDatagrams OutRequests OutNoRoutes
Ip: 1 64 1000000 0 {errors} 1000 5000 10
Icmp: InMsgs InErrors
Icmp: 1 0
TcpExt: SyncookiesSent IPReversePathFilter
TcpExt: 3 7
"""
NETSTAT = """\
Ip:
    Forwarding: 1
    1000000 total packets received
    {errors} with invalid addresses
    1000 forwarded
    5000 requests sent out
    10 dropped because of missing route
TcpExt:
    3 resets sent
    IPReversePathFilter: 7
"""
PASTES = [
    lambda text: text,
    lambda text: "\n".join(collapse_blanks(text.splitlines())),
    lambda text: "\n".join(lose_indent(text.splitlines())),
    lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
]


@pytest.mark.parametrize("paste", PASTES)
@pytest.mark.parametrize("text", [NSTAT, SNMP, NETSTAT], ids=["nstat", "snmp", "netstat"])
def test_losses_of_ip_are_the_same_in_each_layout(text, paste):
    evidence = read(paste(text.format(errors=400_000)))
    assert losses(evidence) == [
        ("ip: wrong destination address, or forwarding is off", "configuration", 400_000, 10**6),
        ("ip: no route on the way out", "configuration", 10, 1_005_000),
        ("ip: source fails the reverse path filter (rp_filter)", "configuration", 7, 10**6),
    ]
    assert not [line for line in evidence.unread if not line.text.startswith("#")]
    verdict = explain(evidence)
    assert verdict.limit == "configuration"
    assert "forwarding is off" in verdict.sentence
    assert explain(read(paste(text.format(errors=40)))).limit == "unknown"


def test_two_readings_are_subtracted():
    both = NSTAT.format(errors=400_000) + NSTAT.format(errors=400_900)
    assert [packets for *_, packets, _ in losses(read(both))] == [900]


def test_a_socket_that_is_not_read_says_where_and_not_why():
    evidence = read(sample("nstat-udp-sink.txt"))
    assert losses(evidence) == [
        ("udp: socket buffer full (RcvbufErrors)", "other", 2_828_118, 2_831_066)
    ]
    verdict = explain(evidence)
    assert verdict.limit == "unknown"
    assert "99.9 % of what came there" in verdict.sentence
    assert "the program that reads it was late" in verdict.sentence


def test_ip6_of_proc_and_segments_that_were_sent_again():
    text = "Ip6InReceives   1000\nIp6InNoRoutes   900\nTcpOutSegs 1000 0.0\nTcpRetransSegs 34 0.0\n"
    evidence = read(text)
    assert losses(evidence) == [("ip6: no route", "configuration", 900, 1000)]
    assert [one.text for one in evidence.remarks] == ["TCP sent 34 of 1,000 segments again (3.4 %)"]
    assert (
        explain(read("Ip6InReceives 1000\nTcpOutSegs 1000\nTcpRetransSegs 3\n")).limit == "unknown"
    )


def traced(evidence):
    return [(one.place, one.cause, one.packets, one.traced) for one in evidence.traced_drops]


@pytest.mark.parametrize("paste", PASTES)
def test_copies_for_sockets_are_no_drops(paste):
    assert traced(read(paste(sample("dropwatch-hooks.txt")))) == [
        ("kernel drop without a reason in nf_hook_slow", "configuration", 57, 58),
        ("kernel drop without a reason in __sme_end", "other", 1, 58),
    ]
    assert traced(read(paste(sample("perf-script-drops.txt")))) == [
        ("kernel drop FQ_FLOW_LIMIT in __dev_queue_xmit", "other", 2, 3),
        ("kernel drop QDISC_DROP in kfree_skb_list_reason", "other", 1, 3),
    ]


def test_few_traced_drops_are_no_verdict_and_many_on_purpose_are():
    few = sample("dropwatch-hooks.txt")
    verdict = explain(read(few))
    assert verdict.limit == "unknown"
    assert "57 of 58 traced drops" in verdict.sentence
    many = few.replace("21 drops", "2100 drops")
    verdict = explain(read(many))
    assert verdict.limit == "configuration"
    assert "4,215 of 4,216 traced packets were dropped on purpose" in verdict.sentence
    assert explain(read(many.replace("nf_hook_slow", "__dev_xmit_skb"))).limit == "unknown"


def test_reasons_of_bpftrace_and_of_a_trace_pipe():
    text = """\
@[NETFILTER_DROP]: 9000
@drops[SKB_DROP_REASON_NO_SOCKET, __udp4_lib_rcv+0xb60]: 50
@[TCP_OLD_ACK]: 70000
<idle>-0 [001] ..s. 123.456: kfree_skb: skbaddr=000 protocol=2048 location=ip_rcv_core+0x1 reason: IP_CSUM
"""
    assert traced(read(text)) == [
        ("kernel drop NETFILTER_DROP in an unnamed function", "configuration", 9000, 9051),
        ("kernel drop NO_SOCKET in __udp4_lib_rcv", "configuration", 50, 9051),
        ("kernel drop IP_CSUM in ip_rcv_core", "damaged", 1, 9051),
    ]
    assert explain(read(text)).limit == "configuration"


def test_other_words_are_another_tools():
    assert read("mail me @home[1]: 5\n12 drops of water\n") is None


CONNTRACK = (
    "cpu=0 found=12 invalid=3 insert=0 insert_failed={failed} drop={drop} early_drop=9 error=0\n"
)


def test_a_clash_is_no_full_table():
    clash = read(CONNTRACK.format(failed=5000, drop=5000))
    assert [(one.cause, one.packets) for one in clash.losses] == [("other", 5000)]
    assert explain(clash).limit == "unknown"
    full = read(CONNTRACK.format(failed=5, drop=5005))
    assert [(one.cause, one.packets) for one in full.losses] == [
        ("flow-table", 5000),
        ("other", 5),
    ]
    assert explain(full).limit == "configuration"
    assert explain(read(CONNTRACK.format(failed=0, drop=12))).limit == "unknown"
    assert read(CONNTRACK.format(failed=0, drop=0)).losses == ()
