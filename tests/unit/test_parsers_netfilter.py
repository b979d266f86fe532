"""Rules of packet filters: drops by rule, and counters of others that are no drops."""

from pathlib import Path

import pytest
from tests.unit.mangling import collapse_blanks, lose_indent, read

from linerate.analysis.explain import explain

DATA = Path(__file__).parents[1] / "data" / "pasted_host"
CHAIN = """\
Chain FORWARD (policy ACCEPT 5000 packets, 400K bytes)
    pkts      bytes target     prot opt in     out     source               destination
 1000000 900000000 ACCEPT     all  --  *      *       0.0.0.0/0            0.0.0.0/0            ctstate RELATED,ESTABLISHED
   20000   1200000 DROP       tcp  --  eth0   *       192.0.2.0/24         0.0.0.0/0            tcp dpt:23
     100      6000            all  --  eth0   *       0.0.0.0/0            0.0.0.0/0
"""


def sample(name):
    return (DATA / name).read_text()


def losses(evidence):
    return [(one.place, one.cause, one.packets, one.offered) for one in evidence.losses]


RULE = "DROP tcp in eth0 from 192.0.2.0/24 tcp dpt:23"


@pytest.mark.parametrize(
    "paste",
    [
        lambda text: text,
        lambda text: "\n".join(collapse_blanks(text.splitlines())),
        lambda text: "\n".join(lose_indent(text.splitlines())),
        lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
    ],
    ids=["whole", "blanks", "indent", "mail"],
)
def test_a_rule_that_drops_is_configuration_and_others_are_not(paste):
    evidence = read(paste(CHAIN))
    assert losses(evidence) == [(f"iptables FORWARD: {RULE}", "configuration", 20_000, 1_025_000)]
    verdict = explain(evidence)
    assert verdict.limit == "configuration"
    assert f"iptables FORWARD: {RULE}" in verdict.sentence
    assert "1.95 % of the packets" in verdict.sentence


def test_without_its_head_a_rule_still_drops():
    (found,) = losses(read(CHAIN.splitlines()[3]))
    assert found == (f"iptables : {RULE}".replace(" :", ":"), "configuration", 20_000, 20_000)
    assert read("    100      6000 FOO all -- eth0 * 0.0.0.0/0 0.0.0.0/0\n") is None


def test_a_policy_that_drops_all_and_one_that_drops_hardly_any():
    verdict = explain(read(sample("iptables-docker.txt")))
    assert verdict.limit == "configuration"
    assert "1,735 at iptables FORWARD: policy DROP" in verdict.sentence
    evidence = read(sample("iptables-grep.txt"))
    assert losses(evidence) == [("iptables FORWARD: policy DROP", "configuration", 197, 22_457_197)]
    assert explain(evidence).limit == "unknown"


def test_nft_names_the_rule_and_what_drops_without_a_counter():
    evidence = read(sample("nft-ruleset.txt"))
    assert losses(evidence) == [
        (
            "nft inet filter input: ip saddr 192.168.0.0/24 icmp type echo-request drop",
            "configuration",
            7,
            None,
        )
    ]
    assert [quote.line for quote in evidence.silent] == [3, 12]
    assert not evidence.unread
    assert explain(evidence).limit == "unknown"
    many = sample("nft-ruleset.txt").replace("packets 7 ", "packets 70000 ")
    assert explain(read(many)).limit == "configuration"


def test_a_counter_with_a_name_and_words_in_quotes():
    text = """\
table inet filter {
	chain in {
		log prefix "DROP: " counter packets 5000 bytes 1 accept
		tcp dport 99 counter name "bad" drop comment "accept nothing"
	}
	counter bad {
		packets 2000 bytes 300
	}
}
"""
    assert losses(read(text)) == [
        ("nft inet filter in: tcp dport 99 drop", "configuration", 2000, 5000)
    ]


def test_saved_rules_and_bridges():
    saved = "*filter\n:FORWARD DROP [10:648]\n[5:300] -A FORWARD -i wg0 -j REJECT --reject-with x\n"
    listed = "-P FORWARD DROP -c 10 648\n-A FORWARD -i wg0 -c 5 300 -j REJECT --reject-with x\n"
    for text in (saved, listed):
        assert losses(read(text)) == [
            ("iptables FORWARD: policy DROP", "configuration", 10, 15),
            ("iptables FORWARD: -i wg0 REJECT", "configuration", 5, 15),
        ]
    bridge = losses(read(sample("ebtables.txt")))
    assert [(place[:18], packets) for place, _, packets, _ in bridge] == [
        ("ebtables FORWARD: ", 7),
        ("ebtables FORWARD: ", 3),
    ]


def test_two_readings_are_subtracted():
    later = CHAIN.replace("   20000 ", "   50000 ")
    assert [packets for _, _, packets, _ in losses(read(CHAIN + later))] == [30_000]


def test_no_drop_is_named_and_no_limit():
    clean = explain(read(CHAIN.replace("   20000 ", "       0 ")))
    assert clean.limit == "unknown"
    assert "no rule of the packet filter dropped any of 1,005,000 packets" in clean.sentence
