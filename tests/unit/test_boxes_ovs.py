"""Open vSwitch as a box: counters and cycles in its answers, recorded and made."""

import json
from pathlib import Path

import pytest

from linerate.model.box import Answer, BoxAnswers, texts
from linerate.model.loss_causes import cause_of
from linerate.parsers.boxes import Asked, UnreadableError, box_evidence, find

DATA = Path(__file__).parents[1] / "data/boxes/ovs"
ASKED = Asked(ports={"e0": "p0", "e1": "p1"})


def recorded(name: str) -> BoxAnswers:
    return BoxAnswers.model_validate_json((DATA / f"{name}.json").read_text(encoding="utf-8"))


def grown(box: BoxAnswers) -> tuple[dict[str, int], int]:
    """Losses of a trial, and the packets that were received and not sent."""
    (before,), (after,) = box.batches("before"), box.batches("after")
    early, late = (find("ovs").counted(texts(one), ASKED) for one in (before, after))
    lost = {
        place: packets - early.losses.get(place, 0)
        for place, packets in late.losses.items()
        if packets != early.losses.get(place, 0)
    }
    received = late.ports["e0"]["rx_packets"] - early.ports["e0"]["rx_packets"]
    sent = late.ports["e1"]["tx_packets"] - early.ports["e1"]["tx_packets"]
    return lost, received - sent


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("drop", "openflow br0 table 0: flow priority=40000,ip,nw_dst=48.0.0.0/25 drops"),
        ("noflow", "openflow: no flow"),
        ("policer", "e0: ingress policer drops"),
        ("mtu", "e1: longer than the MTU"),
    ],
)
def test_a_recorded_loss_is_located_to_the_packet(name, place):
    lost, missing = grown(recorded(name))
    assert lost == {place: missing}
    assert missing > 0
    assert cause_of(place) == "configuration"


def test_a_recorded_thread_is_a_worker():
    (worker,) = box_evidence(recorded("drop")).workers
    assert worker.name == "pmd-c01"
    assert worker.cpu == 1
    assert worker.packets > 0
    assert 100 < (worker.clocks_per_packet or 0) < 100_000
    assert 0 < (worker.spare_percent or 0) < 100


def port(counters: str = "") -> str:
    return (
        "OFPST_PORT reply (OF1.5) (xid=0x2): 1 ports\n"
        "  port  1: rx pkts=10, bytes=600, drop=0, errs=0, frame=?, over=?, crc=?\n"
        "           tx pkts=7, bytes=420, drop=0, errs=0, coll=?\n"
        f"           duration=1.5s\n           CUSTOM Statistics\n      {counters}\n"
    )


def counted(counters: str = "", **more: str):
    answers = {"dump-ports p0": port(counters), "dump-ports p1": port()}
    return find("ovs").counted(answers | more, ASKED)


@pytest.mark.parametrize(
    ("counter", "place", "cause"),
    [
        ("ovs_tx_failure_drops", "e0: tx ring full", "tx-ring"),
        ("ovs_tx_mtu_exceeded_drops", "e0: longer than the MTU", "configuration"),
        ("ovs_rx_qos_drops", "e0: ingress policer drops", "configuration"),
        ("ovs_tx_qos_drops", "e0: egress policer drops", "configuration"),
        ("ovs_tx_invalid_hwol_drops", "e0: tx offload unsupported", "configuration"),
        ("rx_missed_errors", "e0: rx missed", "rx-ring"),
        ("rx_errors", "e0: rx errors", "damaged"),
    ],
)
def test_each_counter_of_a_port_is_a_place(counter, place, cause):
    losses = counted(f"{counter}=5, rx_q0_packets=10,").losses
    assert {name: packets for name, packets in losses.items() if packets} == {place: 5}
    assert cause_of(place) == cause


def test_what_a_port_missed_had_reached_it():
    assert counted("rx_missed_errors=5,").ports["e0"]["rx_packets"] == 15


@pytest.mark.parametrize(
    ("counter", "place", "cause"),
    [
        ("datapath_drop_meter", "datapath: meter drops", "configuration"),
        ("datapath_drop_upcall_error", "datapath: upcall lost", "other"),
        ("datapath_drop_rx_invalid_packet", "datapath: malformed packet", "damaged"),
        ("drop_action_recursion_too_deep", "datapath: drop action recursion too deep",
         "configuration"),
    ],
)  # fmt: skip
def test_each_reason_of_the_datapath_is_a_place(counter, place, cause):
    line = f"{counter:<30}  0.0/sec     0.083/sec        0.0014/sec   total: 5\n"
    losses = counted(coverage=line).losses
    assert {name: packets for name, packets in losses.items() if packets} == {place: 5}
    assert cause_of(place) == cause


PIPELINE = "drop_action_of_pipeline 0.0/sec 0.0/sec 0.0/sec   total: 50\n"


def flows(count: int) -> str:
    return "bridge br0\n" + "".join(
        " cookie=0x0, duration=57.4s, table=0, n_packets=1, n_bytes=60, idle_age=48, hard_age=9, "
        f"priority=5,ip,nw_dst=10.0.0.{number} actions=drop\n"
        for number in range(count)
    )


def test_flows_that_drop_are_taken_from_what_has_none():
    losses = counted(**{"coverage": PIPELINE, "flows that drop": flows(2)}).losses
    found = {place: packets for place, packets in losses.items() if packets}
    assert found == {
        "openflow br0 table 0: flow priority=5,ip,nw_dst=10.0.0.0 drops": 1,
        "openflow br0 table 0: flow priority=5,ip,nw_dst=10.0.0.1 drops": 1,
        "openflow: no flow": 48,
    }


def test_many_flows_that_drop_are_one_place_a_table():
    losses = counted(**{"coverage": PIPELINE, "flows that drop": flows(40)}).losses
    assert losses["openflow br0 table 0: a flow drops"] == 40
    assert losses["openflow: no flow"] == 10


def test_a_flow_for_all_packets_has_a_name():
    line = (
        "bridge br0\n cookie=0x0, duration=5.4s, table=2, n_packets=3, n_bytes=60, actions=drop\n"
    )
    losses = counted(**{"flows that drop": line}).losses
    assert losses["openflow br0 table 2: flow without a match drops"] == 3


def test_the_database_counts_where_openflow_does_not():
    table = {
        "headings": ["name", "statistics"],
        "data": [["p0", ["map", [["rx_packets", 3], ["tx_packets", 4], ["ovs_rx_qos_drops", 9]]]]],
    }
    found = counted(interfaces=json.dumps(table))
    assert found.ports["e0"]["rx_packets"] == 10
    assert found.losses["e0: ingress policer drops"] == 9


def test_a_port_that_is_not_there_is_named():
    table = json.dumps({"headings": ["name", "statistics"], "data": [["p9", ["map", []]]]})
    with pytest.raises(UnreadableError, match=r"no counters of port p0; .* has p9"):
        find("ovs").counted({"interfaces": table}, ASKED)


STATS = (
    "pmd thread numa_id 0 core_id 3:\n  packets received: {}\n  miss with success upcall: {}\n"
    "  miss with failed upcall: 0\n  idle cycles: {} (20.00%)\n  processing cycles: {} (80.00%)\n"
    "main thread:\n  packets received: 0\n"
)
PERF = "pmd thread numa_id 0 core_id 3:\n\n  - busy iterations:   {}  (  0.0 % of used cycles)\n"


def at_load(asked_us: int, stats: str, calls: int, waited_ns: int) -> tuple[Answer, ...]:
    given = {
        "pmd-stats-show": stats,
        "pmd-perf-show": PERF.format(calls),
        "schedstat": f"ovs-vswitchd 1 2 3\npmd-c03/id:8 900 {waited_ns} 7\n",
    }
    return tuple(
        Answer(moment="load", question=name, command="", asked_us=asked_us, took_us=1, text=text)
        for name, text in given.items()
    )


def box_at_load(*answers: Answer) -> BoxAnswers:
    return BoxAnswers(kind="ovs", at="local", ports={"e0": "p0", "e1": "p1"}, answers=answers)


def test_a_thread_between_two_answers():
    first = at_load(1_000_000, STATS.format(1000, 0, 10**9, 10**9), 100, 0)
    last = at_load(3_000_000, STATS.format(33_000, 0, 2 * 10**9, 5 * 10**9), 1100, 10**6)
    evidence = box_evidence(box_at_load(*first, *last))
    (worker,) = evidence.workers
    assert worker.name == "pmd-c03"
    assert worker.packets == 32_000
    assert worker.vectors_per_call == pytest.approx(32)
    assert worker.clocks_per_packet == pytest.approx(125_000)
    assert worker.spare_percent == pytest.approx(20)
    assert worker.tsc_hz == pytest.approx(2.5e9)
    assert evidence.doubts == ()


def test_a_thread_without_its_cpu_and_packets_without_a_flow_are_doubts():
    first = at_load(1_000_000, STATS.format(1000, 0, 10**9, 10**9), 100, 0)
    last = at_load(3_000_000, STATS.format(2000, 500, 2 * 10**9, 5 * 10**9), 110, 10**9)
    waited, upcalls = (one.text for one in box_evidence(box_at_load(*first, *last)).doubts)
    assert waited == "pmd-c03: it waited for its CPU for 50 % of the time"
    assert upcalls.startswith("pmd-c03: 50 % of the packets had no flow in the datapath yet")


def test_counters_cleared_in_between_make_no_worker():
    first = at_load(1_000_000, STATS.format(1000, 0, 10**9, 10**9), 100, 0)
    last = at_load(3_000_000, STATS.format(10, 0, 10, 10), 110, 0)
    assert box_evidence(box_at_load(*first, *last)).workers == ()


def test_a_link_that_is_down_and_a_packet_socket():
    """The kernel's interface behind a port counts what OVS did not fetch, and has its link."""
    row = {
        "name": "p0", "mac_in_use": "02:00:00:00:00:01", "link_state": "up", "admin_state": "up",
        "options": ["map", [["dpdk-devargs", "net_af_packet0,iface=e0,qdisc_bypass=1"]]],
    }  # fmt: skip
    table = {"headings": list(row), "data": [list(row.values())]}
    link = {
        "ifname": "e0", "address": "02:00:00:00:00:01", "operstate": "DOWN",
        "stats64": {"rx": {"packets": 25}, "tx": {"packets": 7}},
    }  # fmt: skip
    answers = {"interfaces": json.dumps(table), "ip -s link": json.dumps([link])}
    found = counted(**answers)
    assert found.ports["e0"]["rx_packets"] == 25
    assert found.losses["e0: packet socket full, or not polled"] == 15
    box = BoxAnswers(
        kind="ovs", at="local", ports=ASKED.ports,
        answers=tuple(
            Answer(moment="after", question=name, command="", asked_us=1, took_us=1, text=text)
            for name, text in answers.items()
        ),
    )  # fmt: skip
    (found,) = box_evidence(box).unplugged
    assert found.text == "e0 (p0): link down"
