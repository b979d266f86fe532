"""VPP as a box: its recorded answers lead to the verdicts that are true, and its ledger closes."""

from pathlib import Path

import pytest

from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.lab.box.continuity import BrokenError, continued
from linerate.model.box import Answer, BoxAnswers, texts
from linerate.model.box_path import along
from linerate.model.evidence import Evidence
from linerate.model.ledger import Entry, PacketLedger
from linerate.model.loss_causes import cause_of
from linerate.model.measurement import Load
from linerate.parsers.boxes import Asked, Counted, UnreadableError, box_evidence, find

DATA = Path(__file__).parents[1] / "data/boxes/vpp"
ASKED = Asked(ports={"e0": "e0", "e1": "e1"})
VPP = find("vpp")
#: The machine that the cases were recorded on.
CPU = "Model name: a CPU\nBase frequency:           2.60 GHz\n"
#: `clear` and at once a question: the polls that came in between.
CLEARED = """Thread 1 vpp_wk_0 (lcore 1)
Time 0.0, 10.000000 sec internal node vector rate 0.00 loops/sec 0.00
  vector rates in 0.0000e0, out 0.0000e0, drop 0.0000e0, punt 0.0000e0
             Name                 State         Calls          Vectors        Suspends      Packet-Clocks   Vectors/Call
memif-input                      polling                 1               0               0          1.00e2            0.00
"""
HEAD = (
    "   Count                  Node                              Reason               Severity \n"
)


def recorded(case: str, what: str) -> str:
    return (DATA / f"{case}.{what}.txt").read_text(encoding="utf-8")


def runtime_seconds(case: str) -> float:
    return {"b2-overload": 5.1}.get(case, 5.0)


def answers(moment: str, at_us: int, **text: str) -> tuple[Answer, ...]:
    return tuple(
        Answer(
            moment=moment, question=name.replace("_", " "), command="", asked_us=at_us,
            took_us=1, text=value,
        )
        for name, value in text.items()
    )  # fmt: skip


def of_case(case: str) -> tuple[BoxAnswers, Counted]:
    """All answers of a recorded case, whose counters were cleared at its begin."""
    counters = {
        "show interface": recorded(case, "interface"),
        "show errors": recorded(case, "errors"),
        "show hardware-interfaces": recorded(case, "hardware"),
    }
    seconds = runtime_seconds(case)
    given = (
        *answers("facts", 0, **{"show cpu": CPU} | counters),
        *answers("load", 1_000_000, **{"show runtime": CLEARED}),
        *answers(
            "load", 1_000_000 + round(seconds * 1e6), **{"show runtime": recorded(case, "runtime")}
        ),
        *answers("after", 9_000_000, **counters),
    )
    box = BoxAnswers(kind="vpp", at="local", ports=dict(ASKED.ports), answers=given)
    return box, VPP.counted(counters, ASKED)


def measured(make, case: str, **load):
    """The trial as linerate measures it: what VPP took was sent, what it sent was received."""
    box, counted = of_case(case)
    ports = {
        "t0": {"tx_packets": counted.ports["e0"]["rx_packets"],
               "rx_packets": counted.ports["e0"]["tx_packets"]},
        "t1": {"tx_packets": counted.ports["e1"]["rx_packets"],
               "rx_packets": counted.ports["e1"]["tx_packets"]},
        **counted.ports,
    }  # fmt: skip
    sent = ports["t0"]["tx_packets"] + ports["t1"]["tx_packets"]
    received = ports["t0"]["rx_packets"] + ports["t1"]["rx_packets"]
    entries = [Entry(place="tester t0", kind="sent", packets=sent)]
    entries += [Entry(place=p, kind="loss", packets=n) for p, n in counted.losses.items()]
    entries += [Entry(place="tester", kind="received", packets=received)]
    given = {"frame_bytes": 64, "directions": 2, "link_bps": 10**10, "pushes_back": True}
    given |= {"scale_ppm": 1_000_000, "duration_us": round(runtime_seconds(case) * 1e6)} | load
    return make(
        load=Load(**given),
        packets=along(PacketLedger(entries=tuple(entries)), ports),
        ports=ports,
        time=(),
        time_at_load=(),
        box=box,
        foreign=True,
        ceiling_pps=None,
    )


def judged(measurement):
    """Judged by its counters alone: a link that pushes back makes each trial suspect."""
    evidence = evidence_of(measurement, "B2", "evidence/B2.json")
    return explain(evidence.model_copy(update={"suspect": ()}))


@pytest.fixture
def make(evidence):
    def make_one(**changes):
        return evidence(sent=1, **changes).model_copy(update={"card": None})

    return make_one


@pytest.mark.parametrize("case", ["b-noroute", "e-ring64", "f-acl1000", "d-idle10", "b2-overload"])
def test_a_recorded_ledger_closes(make, case):
    """Counters were read while packets flew: a few hundred are on their way from port to port."""
    ledger = measured(make, case).packets
    assert abs(ledger.unexplained) <= 2 * 1024


def test_a_full_tx_ring_is_located(make):
    found = judged(measured(make, "e-ring64"))
    assert found.limit == "tx-ring"
    assert "2,424,960 packets" in found.sentence
    worker = box_evidence(of_case("e-ring64")[0]).workers[1]
    assert worker.packets == 26_304_320
    assert worker.saturated is False
    assert worker.used_percent == pytest.approx(41, abs=1)


def test_a_blackhole_is_configuration(make):
    found = judged(measured(make, "b-noroute"))
    assert (found.limit, found.confidence) == ("configuration", "high")
    assert "14,532,288 at null-node: blackholed packets" in found.sentence


def test_a_graph_that_takes_the_whole_clock_is_saturated(make):
    """Its input finds 9 packets a call, empty polls among them; its nodes run full."""
    found = judged(measured(make, "f-acl1000"))
    assert (found.limit, found.confidence) == ("worker-cpu", "high")
    assert "acl-plugin-in-ip4-fa 4,870" in found.sentence.replace("4870.0", "4,870")
    assert "98 % of its clock in calls with 256 of 256 packets" in found.sentence
    # 4,544 packets found no slot, 0.18 % of all: bursts, not what limits.
    assert "tx-ring" not in found.also


def test_an_idle_vpp_is_limited_by_nothing(make):
    measurement = measured(make, "d-idle10", scale_ppm=50_000)
    found = judged(measurement)
    assert found.limit == "none", found.sentence
    assert "so few are no limit: 134 at e0-tx: no free tx slots" in found.sentence


def test_vpp_with_half_its_clock_to_spare_is_not_named(make):
    """A wire that pushes back, and nothing known of the tester: no guess."""
    found = judged(measured(make, "b2-overload"))
    assert found.limit == "unknown"
    assert "vpp_wk_0 had 50 % of its time to spare" in found.sentence
    assert found.confidence == "low"


def test_permits_are_no_losses_and_messages_are_no_second_packet():
    text = HEAD + "".join(
        f"   {count}    {node}    {reason}    {severity}\n"
        for count, node, reason, severity in (
            (50, "acl-plugin-in-ip4-fa", "ACL permit packets", "error"),
            (7, "acl-plugin-in-ip4-fa", "ACL deny packets", "error"),
            (57, "acl-plugin-in-ip4-fa", "checked packets", "error"),
            (5, "ip4-input", "ip4 ttl <= 1", "error"),
            (5, "ip4-icmp-error", "error message dropped", "error"),
            (3, "worker-handoff", "congestion drop", "error"),
            (90, "worker-handoff", "same worker", "error"),
            (4, "ip4-glean", "ARP requests sent", "info"),
            (1, "e0-tx", "tx sendto temporary failure", "error"),
        )
    )
    counted = VPP.counted({"show interface": INTERFACES, "show errors": text}, ASKED)
    lost = {place: packets for place, packets in counted.losses.items() if packets}
    assert lost == {
        "acl-plugin-in-ip4-fa: ACL deny packets": 7,
        "ip4-input: ip4 ttl <= 1": 5,
        "worker-handoff: congestion drop": 3,
        "ip4-glean: ARP requests sent": 4,
    }
    assert [cause_of(place) for place in lost] == [
        "configuration", "configuration", "handoff-ring", "configuration",
    ]  # fmt: skip


def interface(name: str, **counters: int) -> str:
    rows = [f"{key.replace('_', ' ')}   {value}" for key, value in counters.items()]
    rows = rows or [""]
    indent = " " * 60
    lines = [f"{name}   1   up   9000/0/0/0   {rows[0]}", *(indent + row for row in rows[1:])]
    return "\n".join(lines) + "\n"


def shown(*parts: str) -> str:
    return "  Name  Idx  State  MTU (L3/IP4/IP6/MPLS)  Counter  Count\n" + "".join(parts)


INTERFACES = shown(
    interface("e0", rx_packets=100, rx_bytes=6000, tx_packets=90, tx_bytes=5400),
    interface("e1", rx_packets=90, rx_bytes=5400, tx_packets=100, tx_bytes=6000),
)


def counted(interfaces: str = INTERFACES, errors: str = HEAD, **more: str) -> Counted:
    return VPP.counted({"show interface": interfaces, "show errors": errors} | more, ASKED)


def test_the_cards_own_losses_were_received_by_it():
    text = shown(
        interface("e0", rx_packets=100, rx_bytes=1, **{"rx-miss": 7, "rx-no-buf": 2}),
        interface("e1", tx_packets=100, tx_bytes=1, **{"tx-error": 5}),
    )
    found = counted(text)
    assert found.ports["e0"]["rx_packets"] == 109
    assert found.ports["e1"]["tx_packets"] == 95
    lost = {place: packets for place, packets in found.losses.items() if packets}
    assert lost == {"e0: rx-miss": 7, "e0: rx-no-buf": 2, "e1: tx-error": 5}
    assert [cause_of(place) for place in lost] == ["rx-ring", "buffers", "tx-ring"]


def test_what_a_driver_refuses_is_counted_once():
    """As `tx-error` of the interface, and with its reason at the tx node."""
    text = shown(
        interface("e0"),
        interface("e1", tx_packets=100, tx_bytes=1, **{"tx-error": 9}),
    )
    errors = HEAD + "   5    e1-tx    Tx packet drops (dpdk tx failure)    error\n"
    errors += "   4    e1-output    interface is down    error\n"
    found = counted(text, errors)
    # Those that found it down were not counted as sent.
    assert found.ports["e1"]["tx_packets"] == 95
    assert found.losses["e1: tx-error"] == 0
    assert found.losses["e1-tx: Tx packet drops (dpdk tx failure)"] == 5
    assert found.losses["e1-output: interface is down"] == 4


def test_names_with_slashes_are_those_of_the_ports():
    asked = Asked(ports={"e0": "memif1/0", "e1": "TenGigabitEthernet5/0/0"})
    text = shown(
        interface("memif1/0", rx_packets=8, rx_bytes=1),
        interface("TenGigabitEthernet5/0/0", tx_packets=8, tx_bytes=1),
    )
    errors = HEAD + "   3    TenGigabitEthernet5/0/0-tx    no free tx slots    error\n"
    found = VPP.counted({"show interface": text, "show errors": errors}, asked)
    assert found.losses["e1-tx: no free tx slots"] == 3
    assert found.ports["e1"]["tx_packets"] == 5


@pytest.mark.parametrize(
    ("interfaces", "errors", "why"),
    [
        ("", HEAD, "`show interface`: an empty answer"),
        (INTERFACES[:-3], HEAD, "ends within a line, it was cut"),
        (INTERFACES + "--More--\n", HEAD, "stops at --More--"),
        (INTERFACES, "show: unknown input `errors'\n", "unknown input"),
        (shown(interface("e0")), HEAD, "no interface e1 in VPP; `show interface` has e0"),
        (shown(interface("e0"), interface("e1", rx_packets=5)), HEAD, "ends within e1"),
    ],
)
def test_an_answer_that_is_not_whole_is_refused(interfaces, errors, why):
    with pytest.raises(UnreadableError, match=why):
        counted(interfaces, errors)


def test_a_restart_is_noticed_by_its_clock():
    before = counted(**{"show clock verbose": "Time now 500.25, reftime 1\n"})
    after = counted(**{"show clock verbose": "Time now 3.5, reftime 1\n"})
    with pytest.raises(BrokenError, match="restarted within the trial: it runs for 4 s"):
        continued(before, after)


def test_counters_that_went_back_are_no_trial():
    before = Counted(ports={"e0": {"rx_packets": 500, "tx_packets": 1}}, losses={"x: y": 9})
    lower = Counted(ports={"e0": {"rx_packets": 400, "tx_packets": 1}}, losses={"x: y": 9})
    with pytest.raises(BrokenError, match="e0 rx_packets: 500, then 400"):
        continued(before, lower)
    gone = Counted(ports={"e0": {"rx_packets": 500, "tx_packets": 1}})
    with pytest.raises(BrokenError, match="x: y: 9, then none"):
        continued(before, gone)


def test_a_wrap_at_32_bits_is_carried_on_and_reported():
    before = Counted(losses={"e0: rx-miss": 2**32 - 100})
    found = continued(before, Counted(losses={"e0: rx-miss": 50}))
    assert found.counted.losses["e0: rx-miss"] - before.losses["e0: rx-miss"] == 150
    assert "taken as a wrap at 32 bits" in found.doubts[0]


def runtime_text(seconds: float, calls: int, vectors: int, clocks: str) -> str:
    return (
        "Thread 1 vpp_wk_0 (lcore 1)\n"
        f"Time {seconds:.1f}, 10 sec internal node vector rate 9.00 loops/sec 9.00\n"
        "  vector rates in 1.0e0, out 1.0e0, drop 0.0000e0, punt 0.0000e0\n"
        "   Name   State   Calls   Vectors   Suspends   Clocks   Vectors/Call\n"
        f"dpdk-input   polling   {calls}   {vectors}   0   {clocks}   {vectors / calls:.2f}\n"
        f"ip4-input   active   {calls}   {vectors}   0   {clocks}   {vectors / calls:.2f}\n"
    )


def at_load(first: str, last: str, seconds: float = 2.0, **more: tuple[str, str]) -> BoxAnswers:
    given = (
        *answers("facts", 0, **{"show cpu": CPU}),
        *answers("load", 10**6, **{"show runtime": first} | {k: v[0] for k, v in more.items()}),
        *answers(
            "load", round(10**6 + seconds * 1e6),
            **{"show runtime": last} | {k: v[1] for k, v in more.items()},
        ),
    )  # fmt: skip
    return BoxAnswers(kind="vpp", at="local", ports=dict(ASKED.ports), answers=given)


def test_a_window_is_a_difference():
    first = runtime_text(10.0, 1_000, 200_000, "1.00e2")
    last = runtime_text(12.0, 5_000, 1_200_000, "1.50e2")
    (worker,) = box_evidence(at_load(first, last)).workers
    assert worker.seconds == 2.0
    assert worker.packets == 1_000_000
    assert worker.vectors_per_call == 250
    assert worker.nodes[0].clocks_per_packet == pytest.approx(160)
    assert worker.in_pps == 500_000


def test_three_digits_of_a_long_history_are_doubted():
    first = runtime_text(10_000.0, 10**9, 256 * 10**9, "1.00e2")
    last = runtime_text(10_002.0, 10**9 + 4_000, 256 * 10**9 + 10**6, "1.00e2")
    evidence = box_evidence(at_load(first, last))
    (worker,) = evidence.workers
    assert worker.packets == 1_000_000
    assert worker.clocks_per_packet in (None, 0.0)
    assert worker.used_percent is None
    assert "clear: true" in evidence.suspect[0]


def segment(updates: int, thread: int = 1, per_call: int = 250) -> str:
    """`vpp_get_stats machine dump /sys/node`: two nodes after a number of updates."""
    values = {"calls": 4_000, "vectors": 4_000 * per_call, "clocks": 4_000 * per_call * 160}
    rows = [
        f"2:{node}:{thread}:{10**6 + updates * value}:/sys/node/{what}"
        for node in (0, 1)
        for what, value in values.items()
    ]
    names = ["5:0:dpdk-input:/sys/node/names", "5:1:ip4-input:/sys/node/names"]
    return "\n".join([*rows, *names]) + "\n"


def long_history(before: str, after: str) -> Evidence:
    first = runtime_text(10_000.0, 10**9, 256 * 10**9, "1.00e2")
    last = runtime_text(10_002.0, 10**9 + 4_000, 256 * 10**9 + 10**6, "1.00e2")
    return box_evidence(at_load(first, last, 2.0, **{"stats segment": (before, after)}))


def test_the_stats_segment_has_the_clocks_of_a_long_history():
    evidence = long_history(segment(1), segment(2))
    (worker,) = evidence.workers
    assert [node.clocks_per_packet for node in worker.nodes] == pytest.approx([160, 160])
    assert worker.used_percent == pytest.approx(100 * 2 * 160e6 / 5.2e9)
    assert not evidence.suspect


def test_a_segment_of_another_load_is_not_taken():
    """Its updates are seldom: what it counted at 20 packets a call is no time of 250."""
    evidence = long_history(segment(1, 1, 20), segment(2, 1, 20))
    assert evidence.workers[0].used_percent is None
    assert "update-interval" in evidence.suspect[0]


def test_a_segment_without_counters_of_nodes_is_named():
    evidence = long_history("", "")
    assert "`per-node-counters on` of the stats segment" in evidence.suspect[0]
    assert "update-interval" not in evidence.suspect[0]


def test_the_stats_segment_is_beside_the_command_line():
    asked = Asked(ports=ASKED.ports, socket="/run/other/cli.sock")
    (command,) = [one.command for one in VPP.at_load(asked) if one.name == "stats segment"]
    assert "socket-name /run/other/stats.sock machine" in command


def test_a_history_that_was_cleared_in_between_counts_from_there():
    first = runtime_text(500.0, 10**6, 10**8, "1.00e2")
    last = runtime_text(2.0, 4_000, 10**6, "1.00e2")
    (worker,) = box_evidence(at_load(first, last)).workers
    assert (worker.packets, worker.seconds) == (10**6, 2.0)


def test_a_worker_that_shares_its_cpu_is_reported():
    first, last = (runtime_text(10.0 + n, 10 + n, 2560 + n, "1.00e2") for n in (0, 2))
    stats = ("vpp_wk_0 77 1000 1000 5\n", "vpp_wk_0 77 1400001000 600001000 9\n")
    evidence = box_evidence(at_load(first, last, schedstat=stats))
    assert evidence.workers[0].away_percent == pytest.approx(30)
    assert "did not run for 30 % of the window: something else runs on CPU 1" in evidence.suspect[0]


def test_a_cpu_that_throttles_is_reported():
    first, last = (runtime_text(10.0 + n, 10 + n, 2560 + n, "1.00e2") for n in (0, 2))
    path = "/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq"
    heat = "/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count"
    both = (f"{path}:3000000\n{heat}:4\n", f"{path}:1800000\n{heat}:9\n")
    suspect = box_evidence(at_load(first, last, frequency=both)).suspect
    assert "from 3,000 to 1,800 MHz" in suspect[0]
    assert "throttled 5 times" in suspect[1]


def test_queues_links_and_slots_are_facts():
    hardware = (
        "              Name                Idx   Link  Hardware\n"
        "e0                                 1     up   e0\n"
        "  Link speed: 1 Gbps\n"
        "  Intel X710/XL710 Family\n"
        "    carrier up full duplex max-frame-size 9022\n"
        "    pci: device 8086:1572 subsystem 8086:0001 address 0000:05:00.00 numa 0\n"
    )
    placement = "Thread 1 (vpp_wk_0):\n node dpdk-input:\n    e0 queue 0 (polling)\n"
    dmesg = (Path(__file__).parents[1] / "data/cases/pcie.dmesg.txt").read_text()
    given = answers(
        "facts", 0,
        **{"show hardware-interfaces": hardware, "show interface rx-placement": placement,
           "dmesg": dmesg},
    )  # fmt: skip
    box = BoxAnswers(kind="vpp", at="local", ports=dict(ASKED.ports), answers=given)
    evidence = box_evidence(box)
    (port,) = evidence.ports
    assert (port.name, port.link_bps, port.rx_queues) == ("e0", 10**9, 1)
    # The other card's slot is narrow as well, and limits nothing here.
    assert [(link.device, link.lanes) for link in evidence.pcie] == [("0000:05:00.0", 4)]


def test_a_port_that_negotiated_less_is_the_limit(evidence):
    """It lost the rest at its tx ring, which is no fault of the ring's."""
    load = Load(
        frame_bytes=64, directions=1, link_bps=10**10, scale_ppm=200_000, duration_us=5_000_000
    )
    lost = {"e1-tx: no free tx slots": 7_441_000}
    trial = evidence(losses=lost, load=load, ceiling_pps=None).model_copy(update={"card": None})
    hardware = (
        "              Name                Idx   Link  Hardware\n"
        "e1                                 1     up   e1\n"
        "  Link speed: 1 Gbps\n"
    )
    given = answers("facts", 0, **{"show hardware-interfaces": hardware})
    box = BoxAnswers(kind="vpp", at="local", ports=dict(ASKED.ports), answers=given)
    assert judged(trial).limit == "tx-ring"
    found = judged(trial.model_copy(update={"box": box}))
    assert found.limit == "link"
    assert "e1 negotiated 1 Gb/s of the line's 10 Gb/s" in found.sentence


def test_pause_frames_of_a_card_are_known():
    hardware = (
        "              Name                Idx   Link  Hardware\n"
        "e1                                 1     up   e1\n"
        "    extended stats:\n"
        "      rx_xoff_packets                     12\n"
    )
    assert counted(**{"show hardware-interfaces": hardware}).ports["e1"]["rx_pause"] == 12


def test_the_socket_of_the_command_line_is_the_users():
    asked = Asked(ports=ASKED.ports, socket="/run/other/cli.sock")
    commands = [question.command for question in VPP.counters(asked)]
    assert "vppctl -s /run/other/cli.sock show errors" in commands
    assert texts(()) == {}
