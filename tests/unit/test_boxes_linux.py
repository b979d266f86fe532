"""Linux as a box: counters and settings in its answers, recorded and made."""

import json
from pathlib import Path

import pytest

from linerate.model.box import Answer, BoxAnswers, texts
from linerate.model.loss_causes import cause_of
from linerate.parsers.boxes import Asked, UnreadableError, box_evidence, find

DATA = Path(__file__).parents[1] / "data/boxes/linux"
ASKED = Asked(ports={"e0": "e0", "e1": "e1"})


def recorded(name: str) -> BoxAnswers:
    return BoxAnswers.model_validate_json((DATA / f"{name}.json").read_text(encoding="utf-8"))


def grown(box: BoxAnswers) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """Losses of a trial, and what its ports counted."""
    linux = find("linux")
    (before,), (after,) = box.batches("before"), box.batches("after")
    early, late = (linux.counted(texts(one), ASKED) for one in (before, after))
    losses = {place: packets - early.losses[place] for place, packets in late.losses.items()}
    ports = {
        name: {key: value - early.ports[name][key] for key, value in counters.items()}
        for name, counters in late.ports.items()
    }
    return {place: packets for place, packets in losses.items() if packets}, ports


def test_rules_that_drop_and_count_are_places():
    losses, ports = grown(recorded("nft"))
    assert losses == {"nft t f: rule 2 drops": 827, "nft t f: rule 3 drops": 4388}
    lost = ports["e0"]["rx_packets"] - ports["e1"]["tx_packets"]
    assert lost == sum(losses.values())
    assert {cause_of(place) for place in losses} == {"configuration"}


def test_a_blackhole_counts_nothing():
    box = recorded("blackhole")
    losses, ports = grown(box)
    assert losses == {}
    assert ports["e0"]["rx_packets"] > 2 * ports["e1"]["tx_packets"] - 1000


def test_settings_that_drop_without_counting_are_named():
    rules = {"nftables": [
        {"chain": {"table": "t", "name": "f", "policy": "drop"}},
        {"rule": {"table": "t", "chain": "f", "handle": 3, "expr": [{"drop": None}]}},
        {"rule": {"table": "t", "chain": "f", "handle": 4,
                  "expr": [{"counter": {"packets": 1}}, {"drop": None}]}},
    ]}  # fmt: skip
    given = answers("after", **{
        "ip route: blackhole": "blackhole 48.0.0.0/25\n",
        "ip route: unreachable": "unreachable default dev lo metric 4294967295\n",
        "ip neigh": "10.0.0.1 dev e1 FAILED\n10.0.0.2 dev eth9 FAILED\n10.0.0.3 dev e0 REACHABLE\n",
        "nft": json.dumps(rules),
    })  # fmt: skip
    box = BoxAnswers(kind="linux", at="local", ports={"e0": "e0", "e1": "e1"}, answers=given)
    assert [quote.text for quote in box_evidence(box).silent] == [
        "blackhole 48.0.0.0/25",
        "10.0.0.1 dev e1 FAILED",
        "nft t f: policy drop",
        "nft t f: rule 3 drop",
    ]


def answers(moment: str, **text: str) -> tuple[Answer, ...]:
    at = {"before": 1, "after": 9, "facts": 0}.get(moment, 5)
    return tuple(
        Answer(
            moment=moment, question=name, command="", asked_us=at, took_us=1,
            text=value,
        )
        for name, value in text.items()
    )  # fmt: skip


def link(name: str, kind: str = "", **rx: int) -> dict[str, object]:
    made: dict[str, object] = {
        "ifname": name,
        "stats64": {"rx": {"packets": 10, **rx}, "tx": {"packets": 7, "dropped": 2, "errors": 0}},
    }
    return made | ({"linkinfo": {"info_kind": kind}} if kind else {})


def counted(*links: dict[str, object], **more: str):
    given = {"ip -s link": json.dumps(links)} | more
    return find("linux").counted(given, ASKED)


@pytest.mark.parametrize(
    ("given", "place", "cause"),
    [
        ({"snmp": "Ip: InHdrErrors OutNoRoutes\nIp: 5 0\n"}, "ip: header errors, or TTL exceeded",
         "configuration"),
        ({"netstat": "IpExt: InNoRoutes\nIpExt: 5\n"}, "ip: no route", "configuration"),
        ({"snmp6": "Ip6InNoRoutes    5\n"}, "ip6: no route", "configuration"),
        ({"softnet_stat": " ".join(["00000009", "00000005", *["00000000"] * 11]) + "\n"},
         "backlog of CPU 0 full", "rx-ring"),
        ({"nf_conntrack": "entries drop\n00000001 00000002\n00000001 00000003\n"},
         "conntrack: no room for a new connection", "flow-table"),
        ({"arp_cache": "entries unresolved_discards\n1 3\n1 2\n"},
         "no neighbour: queue of an unresolved address full", "configuration"),
        ({"tc -s qdisc": '[{"kind":"fq_codel","dev":"e1","root":true,"drops":5}]'},
         "e1: tc queue fq_codel drops", "tx-ring"),
        ({"tc -s qdisc": '[{"kind":"clsact","dev":"e0","drops":5}]'},
         "e0: tc filter or policer drops", "configuration"),
        ({"tc -s qdisc": '[{"kind":"netem","dev":"e1","root":true,"drops":5}]'},
         "e1: tc queue netem drops", "configuration"),
    ],
)  # fmt: skip
def test_each_layer_that_drops_is_a_place(given, place, cause):
    backlog = 5 if "backlog" in place else 0
    losses = counted(link("e0", dropped=backlog), link("e1"), **given).losses
    assert losses[place] == 5
    assert cause_of(place) == cause
    other = {name: packets for name, packets in losses.items() if packets and name != place}
    assert set(other) == {"e0: tx dropped by the interface", "e1: tx dropped by the interface"}


@pytest.mark.parametrize(
    ("counter", "place", "cause"),
    [
        ("missed_errors", "e0: rx missed", "rx-ring"),
        ("otherhost", "e0: to another MAC address", "configuration"),
        ("crc_errors", "e0: rx CRC errors", "damaged"),
    ],
)
def test_each_counter_of_a_port_is_a_place(counter, place, cause):
    found = counted(link("e0", "", **{counter: 5}), link("e1"))
    losses = found.losses
    # Frames that a card dropped had reached it: they are not lost on the wire as well.
    reached = 15 if counter in ("missed_errors", "crc_errors") else 10
    assert found.ports["e0"]["rx_packets"] == reached
    assert losses[place] == 5
    assert cause_of(place) == cause


def test_frames_that_no_protocol_takes_are_those_dropped_with_room_in_the_backlog():
    full = {"softnet_stat": " ".join(["00000009", "00000005", *["00000000"] * 11]) + "\n"}
    losses = counted(link("e0", dropped=12), link("e1"), **full).losses
    assert losses["received, and no protocol takes it"] == 7
    assert losses["backlog of CPU 0 full"] == 5
    assert cause_of("received, and no protocol takes it") == "configuration"


def test_a_source_that_the_filter_refuses_is_no_second_martian():
    losses = counted(
        link("e0"), link("e1"),
        netstat="TcpExt: IPReversePathFilter\nTcpExt: 5\n",
        rt_cache="entries in_martian_src in_martian_dst\n1 7 3\n",
    ).losses  # fmt: skip
    assert losses["ip: source fails the reverse path filter (rp_filter)"] == 5
    assert losses["ip: martian source address"] == 2
    assert losses["ip: martian destination address"] == 3


def test_the_backlog_behind_a_veth_is_the_senders_loss():
    """A packet that found it full crossed no port: the sender was refused it."""
    full = {"softnet_stat": " ".join(["00000009", "00000005", *["00000000"] * 11]) + "\n"}
    losses = counted(link("e0", "veth"), link("e1", "veth"), **full).losses
    assert not any(place.startswith("backlog") for place in losses)


def test_a_port_that_is_not_there_is_named():
    with pytest.raises(UnreadableError, match="no interface e1 on the box; `ip link` has e0"):
        counted(link("e0"))


@pytest.mark.parametrize("text", ["", "[", "[1,2]", '{"nftables": 3}', "\x00", "Ip: a\nIp: b c\n"])
def test_rubbish_counts_nothing(text):
    names = ("snmp", "netstat", "snmp6", "softnet_stat", "tc -s qdisc", "nft", "nf_conntrack")
    losses = counted(link("e0"), link("e1"), **dict.fromkeys(names, text)).losses
    assert {place for place, packets in losses.items() if packets} == {
        "e0: tx dropped by the interface",
        "e1: tx dropped by the interface",
    }


STAT = "cpu  1 1 1 1 1 1 1 1\ncpu0 {0} 0 0 {1} 0 0 {2} 0 0 0\ncpu1 0 0 0 900 0 0 0 0 0 0\n"
SOFTNET = "{:08x} 00000000 " + " ".join(["00000000"] * 10) + " 00000000\n"


def test_a_cpu_in_softirq_is_a_worker():
    first = answers("load", stat=STAT.format(0, 100, 100), softnet_stat=SOFTNET.format(2**32 - 10))
    last = tuple(
        answer.model_copy(update={"asked_us": 6})
        for answer in answers("load", stat=STAT.format(10, 110, 180), softnet_stat=SOFTNET.format(990))
    )  # fmt: skip
    facts = answers("facts", cpuinfo="cpu MHz\t\t: 2000.0\n")
    box = BoxAnswers(kind="linux", at="local", ports={}, answers=(*facts, *first, *last))
    (worker,) = box_evidence(box).workers
    assert worker.name == "kernel-cpu0"
    assert worker.spare_percent == pytest.approx(10)
    assert worker.away_percent == pytest.approx(10)
    # 0.8 s of 2 GHz over 1,000 packets: the counter has 32 bits.
    assert worker.packets == 1000
    assert worker.clocks_per_packet == pytest.approx(1.6e6)
    alone = box.model_copy(update={"tester_cpus": (0,)})
    assert box_evidence(alone).workers == ()


#: As vmxnet3 of Linux 6.1 prints them, shortened.
VMXNET3 = """\
NIC statistics:
     Tx Queue#: 0
       ucast pkts tx: 500
     Rx Queue#: 0
       ucast pkts rx: 9000
       pkts rx OOB: {first}
       pkts rx err: 0
       drv dropped rx total: 0
     Rx Queue#: 1
       ucast pkts rx: 100
       pkts rx OOB: {second}
     tx timeout count: 0
"""


def test_a_ring_that_the_driver_alone_counts_is_a_place():
    box = recorded("nft")
    (answers_before,) = box.batches("before")
    linux = find("linux")
    plain = linux.counted(texts(answers_before), ASKED)
    of_ring = {"ethtool -S e0": VMXNET3.format(first=40, second=2)}
    counted = linux.counted(texts(answers_before) | of_ring, ASKED)
    assert counted.losses["e0: rx ring full"] == 42
    # They reached the port, whose own counter is without them.
    assert counted.ports["e0"]["rx_packets"] == plain.ports["e0"]["rx_packets"] + 42
    assert counted.losses == plain.losses | {"e0: rx ring full": 42}
    assert cause_of("e0: rx ring full") == "rx-ring"


@pytest.mark.parametrize(
    ("counters", "packets"),
    [
        # veth: a row for each queue, and others of XDP that are no drops.
        (
            "     rx_queue_0_xdp_drops: 5\n     rx_queue_1_xdp_drops: 6\n     rx_queue_0_xdp_tx: 9",
            11,
        ),
        # mlx5: a total, and what it is the sum of.
        ("     rx_xdp_drop: 11\n     rx0_xdp_drop: 5\n     rx1_xdp_drop: 6", 11),
        ("     rx_queue_0_drops: 7", 0),
    ],
)
def test_frames_that_xdp_drops_are_a_place(counters, packets):
    asked = {"ethtool -S e0": f"NIC statistics:\n{counters}\n"}
    losses = counted(link("e0"), link("e1"), **asked).losses
    assert losses["e0: XDP program drops"] == packets
    assert cause_of("e0: XDP program drops") == "configuration"


def test_an_xdp_program_is_a_setting_that_may_drop_without_counting():
    attached = link("e0") | {"xdp": {"mode": 2, "prog": {"id": 97}}}
    text = json.dumps([attached, link("e1"), link("e2") | {"xdp": {"mode": 1}}])
    box = BoxAnswers(
        kind="linux", at="local", ports=ASKED.ports,
        answers=answers("after", **{"ip -s link": text}),
    )  # fmt: skip
    assert [one.text for one in box_evidence(box).silent] == ["XDP program 97 at e0"]


def test_a_thread_of_the_kernel_that_polls_a_port_is_a_worker():
    def at(moment: int, seconds: float, ran: int, waited: int) -> Answer:
        rows = "".join(f"napi/{name}-8193 {ran} {waited} 9\n" for name in ("e0", "e00", "eth9"))
        return Answer(
            moment="load", question="napi threads", command="", asked_us=moment, took_us=1,
            text=f"{seconds} 1\n{rows}",
        )  # fmt: skip

    box = BoxAnswers(
        kind="linux", at="local", ports=ASKED.ports,
        answers=(at(1_000_000, 1.0, 0, 0), at(2_000_000, 2.0, 300_000_000, 600_000_000)),
    )  # fmt: skip
    (worker,) = box_evidence(box).workers
    assert worker.name == "napi/e0-8193"
    assert worker.waited_percent == pytest.approx(60)
