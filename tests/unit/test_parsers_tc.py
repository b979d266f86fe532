"""tc's queues: a rate drops on purpose, another queue says where and not why."""

from pathlib import Path

import pytest
from tests.unit.mangling import collapse_blanks, lose_indent, read

from linerate.analysis.explain import explain

DATA = Path(__file__).parents[1] / "data" / "pasted_host"
HTB = """\
qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10 direct_packets_stat 0 direct_qlen 1000
 Sent 1000000 bytes 9000 pkt (dropped 1000, overlimits 5000 requeues 3)
 backlog 15140b 10p requeues 3
qdisc fq_codel 10: dev eth0 parent 1:10 limit 10240p flows 1024 quantum 1514 target 5ms
 Sent 1000000 bytes 9000 pkt (dropped 1000, overlimits 0 requeues 0)
 backlog 15140b 10p requeues 0
  maxpacket 1514 drop_overlimit 0 new_flow_count 10 ecn_mark 0
  new_flows_len 1 old_flows_len 1
"""
MQ = """\
qdisc mq 0: dev eth0 root
 Sent 1000000 bytes 9000 pkt (dropped 1000, overlimits 0 requeues 12)
 backlog 0b 0p requeues 12
qdisc fq_codel 0: dev eth0 parent :2 limit 10240p flows 1024
 Sent 400000 bytes 4000 pkt (dropped 300, overlimits 0 requeues 6)
 backlog 0b 0p requeues 6
qdisc fq_codel 0: dev eth0 parent :1 limit 10240p flows 1024
 Sent 600000 bytes 5000 pkt (dropped 700, overlimits 0 requeues 6)
 backlog 0b 0p requeues 6
"""


def sample(name):
    return (DATA / name).read_text()


def losses(evidence):
    return [(one.place, one.cause, one.packets, one.offered) for one in evidence.losses]


def test_drops_of_a_queue_are_counted_once_at_the_outermost():
    assert losses(read(HTB)) == [("eth0: tc queue htb drops", "shaper", 1000, 10_000)]
    assert losses(read(MQ)) == [("eth0: tc queue mq drops", "other", 1000, 10_000)]
    assert not read(HTB).unread
    assert not read(MQ).unread


@pytest.mark.parametrize("mangle", [collapse_blanks, lose_indent])
def test_blanks_change_nothing(mangle):
    for text in (HTB, MQ, sample("tc-class.txt"), sample("tc-police-wrapped.txt")):
        pasted = "\n".join(mangle(text.splitlines()))
        assert losses(read(pasted)) == losses(read(text))


def test_a_rate_that_drops_is_a_shaper():
    verdict = explain(read(HTB))
    assert verdict.limit == "shaper"
    assert "a rate that is configured here dropped 1,000 packets" in verdict.sentence
    assert "cloud" not in verdict.sentence
    verdict = explain(read(sample("tc-class.txt")))
    assert verdict.limit == "shaper"
    assert "163 at eth1: tc class htb 4Mbit drops" in verdict.sentence


def test_a_queue_without_a_rate_says_where_and_leaves_open_why():
    verdict = explain(read(MQ))
    assert verdict.limit == "unknown"
    assert "1,000 at eth0: tc queue mq drops (10 % of what came there)" in verdict.sentence
    assert "why is open" in verdict.sentence
    assert any("ethtool" in command for command in verdict.send_next)


def test_drops_below_a_thousandth_are_noted():
    few = HTB.replace("9000 pkt", "9000000 pkt")
    verdict = explain(read(few))
    assert verdict.limit == "unknown"
    assert "1,000 packets were lost at eth0: tc queue htb drops, too few" in verdict.sentence
    # 32 bits of packets, and 64 of bytes.
    wrapped = HTB.replace("Sent 1000000 bytes", "Sent 655360000000 bytes")
    assert explain(read(wrapped)).limit == "unknown"


def test_without_the_outermost_queue_those_of_the_text_count():
    below = "\n".join(MQ.splitlines()[3:])
    assert [packets for _, _, packets, _ in losses(read(below))] == [300, 700]
    headless = "\n".join(HTB.splitlines()[1:3])
    assert [packets for _, _, packets, _ in losses(read(headless))] == [1000]
    assert explain(read(headless)).limit == "unknown"


def test_two_readings_are_subtracted():
    later = HTB.replace("dropped 1000", "dropped 1600").replace("9000 pkt", "18400 pkt")
    later = later.replace("overlimits 5000", "overlimits 9000")
    assert losses(read(HTB + later)) == [("eth0: tc queue htb drops", "shaper", 600, 10_000)]


def test_acknowledgements_that_cake_leaves_out_are_no_loss():
    cake = """\
qdisc cake 8021: root refcnt 2 bandwidth 831Kbit besteffort ack-filter
 Sent 3816835 bytes 9000 pkt (dropped 1000, overlimits 500 requeues 12)
 backlog 10156b 7p requeues 12
                  Tin 0
  drops             200
  ack_drop          800
"""
    assert losses(read(cake)) == [("tc queue cake 831Kbit drops", "shaper", 200, 9200)]
    unlimited = cake.replace("bandwidth 831Kbit", "bandwidth unlimited")
    assert losses(read(unlimited)) == [("tc queue cake drops", "other", 200, 9200)]


POLICE = """\
# tc -s filter show dev eth0 ingress
filter protocol ip pref 1 u32 chain 0
  match 0a000000/ff000000 at 12
        action order 1:  police 0x1 rate 1Mbit burst 10Kb mtu 2Kb action drop overhead 0b
        ref 1 bind 1
        Action statistics:
        Sent 1000000 bytes 10000 pkt (dropped 4000, overlimits 4000 requeues 0)
        backlog 0b 0p requeues 0
filter protocol ip pref 2 flower chain 0
        action order 1: gact action drop
         random type none pass val 0
         index 1 ref 1 bind 1 installed 20 sec used 6 sec
        Action statistics:
        Sent 500 bytes 5 pkt (dropped 5, overlimits 0 requeues 0)
        backlog 0b 0p requeues 0
"""


def test_policers_shape_and_filters_are_configured():
    ingress = """\
qdisc ingress ffff: dev eth0 parent ffff:fff1 ----------------
 Sent 1000000 bytes 10000 pkt (dropped 4005, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
"""
    assert losses(read(POLICE + ingress)) == [
        ("eth0: tc police 1Mbit drops", "shaper", 4000, 10_000),
        ("eth0: tc gact action drop drops", "configuration", 5, 5),
    ]
    assert losses(read(ingress)) == [
        ("eth0: tc filter or policer drops", "configuration", 4005, 14_005)
    ]
    assert explain(read(POLICE)).limit == "shaper"
    assert explain(read(ingress)).limit == "configuration"
    assert read(sample("tc-police-wrapped.txt")).losses == ()


def test_a_queue_that_dropped_nothing_is_no_limit():
    verdict = explain(read(HTB.replace("dropped 1000", "dropped 0")))
    assert verdict.limit == "unknown"
    assert "the queue htb of eth0 dropped none of 9,000 packets" in verdict.sentence


def test_other_words_are_another_tools():
    assert read("Sent 1 of my qdisc questions (dropped them)\n") is None
