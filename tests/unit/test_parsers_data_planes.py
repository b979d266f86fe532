"""Outputs of other data planes: grout, DPVS, netmap, PF_RING, ExaNIC, Snabb, Contrail, SONiC."""

import json
from pathlib import Path

import pytest
from tests.unit.mangling import MANGLES, message, read

from linerate.analysis.explain import explain

DATA = Path(__file__).parents[1] / "data"
FIGURES = ("workers", "losses", "rings", "ports", "testers")


def published(case):
    return "".join(path.read_text() for path in sorted((DATA / "published" / case).glob("*.txt")))


def pasted(name):
    return (DATA / "pasted" / name).read_text()


def losses(evidence):
    return {loss.place: (loss.cause, loss.packets) for loss in evidence.losses}


WHOLE = {
    "grout": published("grout-stats-fragmenting"),
    "dpvs": published("dpvs-imissed-mbufs-held"),
    "pkt-gen": published("netmap-pkt-gen-idle"),
    "zbalance": published("pfring-zbalance-no-consumer"),
    "exanic": published("exanic-config-clean"),
    "registers": published("snabb-intel-registers"),
    "loadtest": published("snabb-loadtest-loses-below-its-maximum"),
    "contrail": published("contrail-vif-lcore-queue"),
    "sonic": published("sonic-counters-at-line-rate"),
}
#: Each has its columns by their names, so that collapsed blanks change nothing.
LIMITS = {
    "grout": "none",
    "dpvs": "rx-ring",
    "pkt-gen": "unknown",
    "zbalance": "handoff-ring",
    "exanic": "unknown",
    "registers": "rx-ring",
    "loadtest": "unexplained",
    "contrail": "handoff-ring",
    "sonic": "line",
}


@pytest.mark.parametrize("name", WHOLE)
def test_pasting_changes_nothing(name):
    text = WHOLE[name]
    whole = message(read(text), *FIGURES)
    assert explain(read(text)).limit == LIMITS[name]
    for mangle in MANGLES:
        changed = "\n".join(mangle(text.splitlines()))
        assert message(read(changed), *FIGURES) == whole, mangle.__name__
    quoted = "Hi,\n" + "\n".join(f"> {line}" for line in text.splitlines())
    assert message(read(quoted), *FIGURES) == whole


@pytest.mark.parametrize("name", WHOLE)
def test_a_cut_text_is_no_other_limit(name):
    lines = WHOLE[name].splitlines(keepends=True)
    allowed = {LIMITS[name], "unknown", "rx-ring" if name == "zbalance" else "none"}
    for at in range(len(lines)):
        for part in (lines[at:], lines[:at]):
            evidence = read("".join(part))
            assert evidence is None or explain(evidence).limit in allowed


GRAPH = """\
$ grcli stats show software
NODE                 BATCHES     PACKETS  PKTS/BATCH  CYCLES/BATCH    CYCLES/PKT
idle                  {idle}           0         0.0        1000.0           0.0
port_rx-p0q0         1000000    64000000        64.0        5000.0          78.1
eth_input            1000000    64000000        64.0        3000.0          46.9
{drop}
$ grcli stats show hardware
p0.rx_good_packets: 64000000
p0.rx_missed_errors: {missed}
"""


@pytest.mark.parametrize(
    ("idle", "drop", "missed", "limit"),
    [
        (10_000_000, "", 0, "none"),
        (10_000_000, "", 3_000_000, "rx-ring"),
        (10_000, "", 3_000_000, "worker-cpu"),
        (10_000_000, "ip_error_dest_unreach 9 9000000 1 1 1", 0, "configuration"),
        (10_000_000, "port_tx_error 9 9000000 1 1 1", 0, "tx-ring"),
    ],
)
def test_the_graph_of_grout_and_its_cards(idle, drop, missed, limit):
    assert explain(read(GRAPH.format(idle=idle, drop=drop, missed=missed))).limit == limit


def test_a_recorded_grout_reads_the_same_pasted():
    box = json.loads((DATA / "boxes/grout/documented.json").read_text())
    texts = [one["text"] for one in box["answers"] if one["question"] == "workers"]
    workers = read(texts[-1]).workers
    assert workers
    assert all(worker.name.startswith("grout-cpu") for worker in workers)


DPVS_LCORE = """\
2: cpu1: socket 0 lcore 1
    lcore_loop          pktburst            zpktburst           fpktburst
    900000              1000000             0                   {full}
    z2hpktburst         h2fpktburst         dropped
    0                   {half}             0
    ipackets            ibytes              opackets            obytes
    {packets}            1                   1                   1
"""


@pytest.mark.parametrize(
    ("full", "half", "packets", "saturated", "limit"),
    [
        (990_000, 1_000_000, 31_900_000, True, "worker-cpu"),
        (1_000, 20_000, 3_000_000, False, "rx-ring"),
        (500_000, 600_000, 20_000_000, None, "rx-ring"),
    ],
)
def test_lcores_of_dpvs(full, half, packets, saturated, limit):
    lcore = DPVS_LCORE.format(full=full, half=half, packets=packets)
    device = WHOLE["dpvs"].replace("2902 ", f"{packets} ").replace("8488 ", "9999999 ")
    evidence = read(device + lcore)
    (worker,) = evidence.workers
    assert (worker.name, worker.packets, worker.saturated) == ("cpu1", packets, saturated)
    assert explain(evidence).limit == limit


PKT_GEN_SENDS = """\
Sending on netmap:ens3f0: 1 queues, 1 threads and 1 cpus.
524.093217 main_thread [1512] 14.882 Mpps (14.897 Mpkts 7.150 Gbps in 1001000 usec) 512.00 avg_batch 0 min_space
Sent 85000000 packets 5100000000 bytes 166016 events 60 bytes each in 5.71 seconds.
Speed: 14.880 Mpps Bandwidth: 7.142 Gbps (raw 9.999 Gbps). Average batch: 512.00 pkts
"""


def test_one_side_of_pkt_gen_says_nothing_of_the_other():
    evidence = read(PKT_GEN_SENDS)
    (tester,) = evidence.testers
    assert (tester.sent_packets, tester.tx_pps) == (85_000_000, 14_882_000.0)
    assert tester.received_packets is None
    assert evidence.unread == ()
    assert explain(evidence).limit == "unknown"


@pytest.mark.parametrize(
    ("dropped", "limit"), [(0, "unknown"), (500, "unknown"), (900_000, "rx-ring")]
)
def test_pfcount(dropped, limit):
    evidence = read(
        "=========================\n"
        f"Absolute Stats: [5'194'609 pkts total][{dropped:,} pkts dropped][0.0% dropped]\n"
        "[5'194'609 pkts rcvd][3'647'046'644 bytes rcvd][120'761.76 pkt/sec][678.28 Mbit/sec]\n"
        "=========================\n"
        "Actual Stats: [160'765 pkts rcvd][1'000.15 ms][160'740.72 pps][0.90 Gbps]\n"
        "=========================\n"
    )
    assert evidence.ports[0].rx_packets == 5_194_609 - dropped
    assert evidence.unread == ()
    assert explain(evidence).limit == limit


def test_a_socket_of_pf_ring():
    evidence = read(
        "Bound Device(s)        : ens38\nAppl. Name             : bro\n"
        "Tot Packets            : 19085985414\nTot Pkt Lost           : 85985414\n"
    )
    assert losses(evidence) == {"ens38: its reader took too few": ("rx-ring", 85_985_414)}
    assert evidence.ports[0].rx_packets == 19_000_000_000


def test_a_queue_of_zbalance_without_a_reader():
    evidence = read(WHOLE["zbalance"])
    (ring,) = evidence.rings
    assert (ring.destination, ring.enqueued, ring.dropped) == ("queue 0", 0, 1_122_810)
    assert [port.name for port in evidence.ports] == ["eth13"]


@pytest.mark.parametrize(
    ("dropped", "found"), [(0, {}), (9000, {"ens4d1: rx_dropped": ("other", 9000)})]
)
def test_ports_of_an_exanic(dropped, found):
    evidence = read(WHOLE["exanic"].replace("error: 0  dropped: 0\n    TX packets: 2\n", "?", 1)
                    .replace("dropped: 0", f"dropped: {dropped}"))  # fmt: skip
    assert losses(evidence) == found
    assert {port.name: port.up for port in evidence.ports}["ens4d1"] is True


def test_loads_of_snabb_are_testers_of_their_own():
    first, *_ = read(WHOLE["loadtest"]).testers
    assert (first.name, first.sent_packets) == ("Snabb at 9 Gbps", 3_306_228)
    assert first.missed_packets == 374


def test_loads_of_snabb_that_lose_nothing_limit_nothing():
    last = WHOLE["loadtest"].split("Applying 9.2")[1]
    text = f"Applying 9.2{last}    RX 1653828 packets (1.653828 MPPS), 932758992 bytes (7.7 Gbps)\n"
    assert explain(read(text)).limit == "none"


def test_the_queue_of_contrail_is_one_ring():
    evidence = read(WHOLE["contrail"])
    (ring,) = evidence.rings
    assert (ring.destination, ring.dropped) == ("lcore 11, 12", 852_483_430)
    assert ring.loss_percent == pytest.approx(83.6, abs=0.1)
    assert evidence.unread == ()


def test_a_guest_that_takes_nothing_from_contrail():
    evidence = read(
        "vif0/3      PMD: tap1\n            RX port   packets:1000000 errors:0\n"
        "            TX packets:1000000  bytes:9 errors:0\n"
        "            TX port   packets:600000 errors:400000 syscalls:0\n            Drops:400000\n"
    )
    assert losses(evidence) == {"vif0/3: tx port errors": ("tx-ring", 400_000)}
    assert explain(evidence).limit == "tx-ring"


@pytest.mark.parametrize(
    ("change", "limit"),
    [
        (("102.", "42."), "none"),
        (("101.", "41."), "line"),
        ((" 0         1  ", " 0 900000000  "), "unknown"),
    ],
)
def test_interfaces_of_sonic(change, limit):
    text = WHOLE["sonic"].replace(*change)
    if limit == "none":
        text = text.replace("101.", "41.")
    assert explain(read(text)).limit == limit


@pytest.mark.parametrize(
    "text",
    [
        "Applying 9..2000 Gbps of load.\n    TX 5 packets (1 MPPS)\n    RX 5 packets (1 MPPS)\n",
        "NODE BATCHES PACKETS CYCLES/BATCH\nport_rx 1 0.5 3\neth_input 1 0.5 3\n",
        "main thread:\n  port: p0 queue-id: 0 (enabled) pmd usage: 5 %\n",
    ],
)
def test_a_damaged_row_raises_nothing(text):
    read(text)
