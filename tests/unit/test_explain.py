"""Each limit is named from counters, and nothing is guessed."""

import pytest

from linerate.analysis.explain import explain
from linerate.analysis.explain.rules import rules
from linerate.analysis.explain.rules.configuration import configuration
from linerate.analysis.measured_evidence import evidence_of
from linerate.model.evidence import FlowOffload, Port, Quote
from linerate.model.ledger import NodeTime
from linerate.model.measurement import Load, Stamp
from linerate.model.nic_presets import Card, Pcie, Rss
from linerate.results.verdicts import verdicts

MISSED = "card0 port 0: rx missed (ring full)"
TX_FULL = "port-tx-e1: no free tx slots"
HANDED = "worker-handoff: handoff ring full"
HALF = Load(frame_bytes=64, directions=1, link_bps=10**10, scale_ppm=500_000, duration_us=5_000_000)
LOST = 20_000_000


@pytest.fixture
def verdict(evidence):
    """Judge a measurement made of these changes."""

    def judge(invalid=(), **given):
        return explain(evidence_of(evidence(**given), "U2", "evidence/U2.json", invalid))

    return judge


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ({}, "line"),
        ({"losses": {MISSED: 50}}, "line"),
        ({"load": HALF, "ceiling_pps": 7.8e6}, "tester"),
        ({"load": HALF, "ceiling_pps": 7.8e6, "losses": {MISSED: 20_000}, "idle": 0.4}, "tester"),
        ({"load": HALF, "ceiling_pps": 7.8e6, "losses": {MISSED: 80_000}, "idle": 0.4}, "rx-ring"),
        ({"load": HALF, "ceiling_pps": 12e6}, "none"),
        ({"load": HALF, "ceiling_pps": None}, "none"),
        ({"losses": {"card0 port 0: card packet rate": LOST}}, "card-pps"),
        ({"losses": {"card0 port 0: PCIe": LOST, MISSED: 1000}}, "pcie"),
        ({"losses": {MISSED: LOST}, "idle": 0.001}, "worker-cpu"),
        ({"losses": {MISSED: LOST}, "idle": 0.4}, "rx-ring"),
        ({"losses": {HANDED: LOST}}, "handoff-ring"),
        ({"losses": {TX_FULL: LOST}}, "tx-ring"),
        ({"losses": {TX_FULL: 200_000}}, "line"),
        ({"losses": {TX_FULL: 500_000}}, "tx-ring"),
        ({"losses": {MISSED: 200_000}, "idle": 0.4}, "line"),
        ({"unexplained": 200_000}, "unexplained"),
        ({"losses": {"ip4-lookup: no route": 200_000}}, "configuration"),
        ({"losses": {TX_FULL: LOST}, "card": Card(pps_ceiling=10_890_000)}, "card-pps"),
        ({"losses": {TX_FULL: LOST}, "card": Card(pps_ceiling=14_000_000)}, "tx-ring"),
        ({"losses": {"card0 port 0: no mbuf": LOST}}, "unknown"),
        ({"losses": {MISSED: 9_000_000, TX_FULL: 8_000_000, "PCIe": 8_000_000}}, "unknown"),
    ],
)
def test_limits(verdict, given, limit):
    found = verdict(**given)
    assert found.limit == limit
    assert found.sentence
    assert found.evidence
    assert all(quote.line > 0 for quote in found.evidence)


@pytest.mark.parametrize(
    "place",
    [
        "ip4-lookup: no route",
        "null-node: blackholed packets",
        "ip4-rewrite: ttl expired",
        "lose-e0: lost at random",
    ],
)
def test_what_is_configured_is_named_with_what_to_change(verdict, place):
    found = verdict(losses={place: LOST})
    assert found.limit == "configuration"
    assert found.configured == {place: LOST}
    assert place in found.sentence
    assert found.try_


@pytest.mark.parametrize(
    ("place", "change"),
    [
        ("ip4-lookup: no route", "ip route add"),
        ("ip4-lookup-e0: no route", "ip route add"),
        ("ethernet-input: l3 mac mismatch", "dut.macs"),
        ("ip4-rewrite: ttl expired", "higher TTL"),
        ("ip6-rewrite: hop limit expired", "higher TTL"),
        ("acl-plugin: ACL deny packets", "filter"),
        ("vlan-input: unknown vlan", "create sub-interfaces"),
        ("ip6-input: ip6 disabled on the interface", "set int ip address"),
        ("mpls-input: mpls disabled on the interface", "set interface mpls"),
        ("mpls-lookup: no such label", "mpls local-label add"),
        ("interface-output: interface down", "set int state"),
        ("lose-e0: lost at random", "lose"),
        ("ip4-input: bad ip4 checksum", "damaged"),
        ("node: unsupported", "routes, filters and interfaces"),
    ],
)
def test_a_configured_reason_has_its_line_to_change(verdict, place, change):
    found = verdict(losses={place: LOST})
    assert found.limit == "configuration"
    assert change in found.try_[0]


def test_configuration_hides_no_limit(verdict):
    places = {"ip4-lookup: no route": 30_000_000, MISSED: LOST}
    found = verdict(losses=places, idle=0.0)
    assert found.limit == "configuration"
    assert "worker-cpu" in found.also
    found = verdict(losses=places | {"ip4-lookup: no route": 10_000_000}, idle=0.0)
    assert found.limit == "worker-cpu"
    assert found.configured == {"ip4-lookup: no route": 10_000_000}


def test_the_devices_own_messages_about_drops_are_no_loss_of_ours(verdict):
    # For 20,000,000 frames without a route, 19,000,000 answers were not sent.
    places = {"ip4-lookup: no route": LOST, "icmp4-error: rate limited": LOST - 1_000_000}
    found = verdict(losses=places, sent=2 * LOST)
    assert found.limit == "configuration"
    assert found.also == ()
    assert found.sentence == (
        "50.00 % of the packets sent were dropped on purpose: 20,000,000 at ip4-lookup: no route"
    )


@pytest.mark.parametrize(("dropped", "share"), [(LOST, 1.0), (LOST // 4 * 3, 0.75)])
def test_configured_drops_explain_their_share_of_what_is_missing(evidence, dropped, share):
    places = {"ip4-lookup: no route": dropped, MISSED: LOST - dropped}
    found = configuration(evidence_of(evidence(losses=places), "U2", "x"))
    assert found is not None
    assert found.explains == pytest.approx(share)


def test_a_few_configured_drops_are_no_limit(verdict):
    found = verdict(losses={"ip4-lookup: no route": 30})
    assert found.limit == "line"
    assert found.configured == {"ip4-lookup: no route": 30}


def test_what_the_device_takes_for_itself_did_not_come_back(evidence):
    measured = evidence(sent=20_000_000, losses={"ip4-local: no echo request": 10_000_000})
    lost, received = measured.packets.entries[1:]
    taken = lost.model_copy(update={"kind": "consumed"})
    entries = (measured.packets.entries[0], taken, received)
    packets = measured.packets.model_copy(update={"entries": entries})
    found = explain(evidence_of(measured.model_copy(update={"packets": packets}), "U2", "x"))
    assert found.limit == "configuration"
    assert "for the device itself" in found.try_[0]


def test_what_descheduling_costs_hides_no_limit(verdict, ledger_of_worker):
    refused = "card0 port 0: card packet rate"
    # 100 ms at half the line's rate are 744,000 packets, and half as many more are lost so.
    absent = ledger_of_worker().model_copy(update={"away_clocks": 100_000_000})
    lost = {refused: 700_000, MISSED: 600_000, TX_FULL: 450_000}
    ledgers = (ledger_of_worker("tester", 0.1, "tester"), absent)
    found = verdict(losses=lost, time=ledgers, load=HALF)
    assert found.limit == "card-pps"
    assert found.sentence == "the card refused 700,000 packets above its packet rate"
    # Workers whose descheduling is unknown count.
    assert verdict(losses=lost, load=HALF).limit == "unknown"


def test_a_full_pcie_link_fills_the_tx_ring(verdict):
    slow = Pcie(gigatransfers=2.5, lanes=5)
    usable = slow.link.usable(64).packets_per_second
    lost = 74_404_762 - round(usable * 5)
    found = verdict(losses={TX_FULL: lost}, card=Card(pcie=slow))
    assert found.limit == "pcie"
    assert "100 % full" in found.sentence


def test_the_busiest_worker_counts(verdict, ledger_of_worker):
    workers = (
        ledger_of_worker(idle=0.8, name="forwarder-0"),
        ledger_of_worker(idle=0.0, name="forwarder-1"),
        ledger_of_worker("tester", 0.0, "tester"),
    )
    found = verdict(losses={MISSED: LOST}, time_at_load=workers)
    assert found.limit in ("worker-cpu", "rss-imbalance")
    assert found.sentence.startswith("forwarder-1")


def flows(text, protocol="ipv4", **changes):
    return Load(
        frame_bytes=64,
        directions=1,
        link_bps=10**10,
        scale_ppm=1_000_000,
        duration_us=5_000_000,
        flows=text,
        protocol=protocol,
        **changes,
    )


def uneven(ledger_of_worker, *packets):
    return tuple(
        ledger_of_worker(
            idle=0.0 if number == 0 else 0.9, name=f"forwarder-{number}", packets=carried
        )
        for number, carried in enumerate(packets)
    )


@pytest.mark.parametrize(
    ("load", "card", "packets", "limit"),
    [
        (flows("many"), Card(rx_queues=1), (90_000, 0, 0), "single-rx-queue"),
        (flows("one"), Card(rx_queues=1), (90_000, 0, 0), "single-rx-queue"),
        (flows("many", "mpls"), Card(rss=Rss(mpls_inner=False)), (90_000, 0, 0), "rss-mpls"),
        (flows("one", "mpls"), Card(rss=Rss(mpls_inner=False)), (90_000, 0, 0), "worker-cpu"),
        (flows("one"), Card(), (90_000, 0, 0), "worker-cpu"),
        (flows("skewed"), Card(), (90_000, 9_000, 9_000), "rss-imbalance"),
        (flows("many"), Card(), (34_000, 33_000, 33_000), "worker-cpu"),
    ],
)
def test_why_a_worker_is_full_while_others_are_not(
    verdict, ledger_of_worker, load, card, packets, limit
):
    workers = uneven(ledger_of_worker, *packets)
    empty = {f"forwarder-{number}" for number, carried in enumerate(packets) if not carried}
    workers = tuple(
        worker.model_copy(update={"nodes": {name: NodeTime(idle_calls=9) for name in worker.nodes}})
        if worker.worker in empty
        else worker
        for worker in workers
    )
    found = verdict(load=load, card=card, losses={MISSED: LOST}, time_at_load=workers)
    assert found.limit == limit
    if limit != "worker-cpu":
        assert "worker-cpu" in found.also
    if limit == "single-rx-queue":
        assert found.sentence.endswith("forwarder-1, forwarder-2 get no packets")


@pytest.mark.parametrize(
    ("queues", "limit"), [((None, 1), True), ((1, 4), False), ((None,), False)]
)
def test_ports_that_say_how_many_queues_they_have(evidence, ledger_of_worker, queues, limit):
    """For a device without a card of ours; a port may not say it."""
    busy, *others = uneven(ledger_of_worker, 90_000, 0)
    idle = [one.model_copy(update={"nodes": {"n": NodeTime(idle_calls=9)}}) for one in others]
    workers = (busy, *idle)
    measured = evidence_of(evidence(losses={MISSED: LOST}, time_at_load=workers), "U2", "x")
    quote = Quote(source="x", line=1, text="")
    ports = tuple(Port(name=f"p{n}", rx_queues=one, quote=quote) for n, one in enumerate(queues))
    found = explain(measured.model_copy(update={"card": None, "ports": ports}))
    assert (found.limit == "single-rx-queue") == limit


@pytest.mark.parametrize(
    ("stamp", "limit"),
    [
        (Stamp(kernel_percent={"forwarder-0": 80.0}), "syscall"),
        (Stamp(lock_wait_percent={"forwarder-0": 60.0}), "lock"),
        (Stamp(kernel_percent={"forwarder-0": 3.0}), "worker-cpu"),
    ],
)
def test_what_a_full_worker_does(verdict, stamp, limit):
    assert verdict(losses={MISSED: LOST}, idle=0.0, stamp=stamp).limit == limit


def test_a_full_flow_table(evidence):
    quote = Quote(source="x", line=1, text="512 of 512 entries")
    measured = evidence_of(evidence(losses={MISSED: LOST}, idle=0.0), "U2", "x")
    table = FlowOffload(entries=512, capacity=512, quote=quote)
    found = explain(measured.model_copy(update={"offload": (table,)}))
    assert found.limit == "flow-offload"
    assert found.try_[:2] == (
        "offload fewer flows: those with the most packets",
        "a card with a larger flow table",
    )
    slow = table.model_copy(update={"programming_percent": 100.0})
    found = explain(measured.model_copy(update={"offload": (slow,)}))
    assert found.try_[:2] == ("newer firmware or driver", "offload flows that last longer")


def test_a_short_rx_ring_is_no_full_worker(verdict, ledger_of_worker):
    workers = (ledger_of_worker(idle=0.0, packets=300),)
    found = verdict(losses={MISSED: LOST}, time_at_load=workers, card=Card(rx_ring=32))
    assert found.limit == "worker-cpu"  # it finds 10 of 32: the ring is not what holds it back
    node = NodeTime(calls=100, vectors=3100, clocks=5 * 10**9)
    full = workers[0].model_copy(update={"nodes": {"port-rx-e0-0": node}})
    found = verdict(losses={MISSED: LOST}, time_at_load=(full,), card=Card(rx_ring=32))
    assert found.limit == "rx-ring"


def test_nothing_limits_a_load_below_the_line_that_the_tester_could_exceed(verdict):
    line = HALF.model_copy(update={"scale_ppm": 1_000_000})
    most = line.model_copy(update={"scale_ppm": 806_400})
    assert verdict(load=most, sent=60_000_000).limit == "none"
    # Asked for the line, it offered less: so it could not.
    assert verdict(load=line, sent=60_000_000).limit == "tester"


@pytest.mark.parametrize(("descheduled", "limit"), [(0.03, "line"), (0.0, "unexplained")])
def test_a_line_is_full_but_for_what_the_host_cost(evidence, descheduled, limit):
    measured = evidence_of(evidence(), "U2", "x")
    given = measured.conditions
    assert given is not None
    given = given.model_copy(
        update={
            "received_packets": round(0.97 * given.sent_packets),
            "received_pps": 0.97 * given.offered_pps,
            "descheduled_packets": round(descheduled * given.sent_packets),
        }
    )
    assert explain(measured.model_copy(update={"conditions": given})).limit == limit


def test_an_invalid_trial_has_no_other_limit(verdict):
    found = verdict(invalid=("counters not drained",), losses={MISSED: LOST})
    assert found.limit == "invalid"
    assert found.evidence[0].text == "counters not drained"


def test_ceilings_within_the_error_are_reported_too(verdict):
    link = 10**10 / (84 * 8)
    found = verdict(card=Card(pps_ceiling=round(link * 1.01)))
    assert found.limit == "line"
    assert found.also == ("card-pps",)


def external(evidence, rates):
    """Evidence of the tester alone, a trial for each (name, load, rate in Mpps)."""
    trials = {}
    for name, load, mpps in rates:
        asked = round(load.asked_pps * 5)
        lost = asked - round(mpps * 5e6)
        measured = evidence(load=load, losses={"x": lost} if lost else {}, card=None)
        bare = evidence_of(measured, name, f"evidence/{name}.json")
        trials[name] = bare.model_copy(
            update={"workers": (), "losses": (), "ports": (), "card": None}
        )
    return trials


def both(load):
    return load.model_copy(update={"directions": 2})


@pytest.mark.parametrize(
    ("rates", "test", "limit"),
    [
        ([("U2", flows("many"), 2.3), ("B2", both(flows("many")), 2.29)], "U2", "shared-direction"),
        ([("U2", flows("many"), 2.3), ("B2", both(flows("many")), 2.29)], "B2", "shared-direction"),
        (
            [
                ("U2", flows("many"), 3.2),
                ("U3", flows("one"), 3.2),
                ("B2", both(flows("many")), 6.3),
            ],
            "U2",
            "single-rx-queue",
        ),
        (
            [
                ("U2", flows("many"), 13.4),
                ("U3", flows("one"), 7.77),
                ("U4", flows("many", "mpls"), 6.91),
            ],
            "U4",
            "rss-mpls",
        ),
        ([("U2", flows("many"), 9.0), ("B2", both(flows("many")), 12.0)], "U2", "unexplained"),
    ],
)
def test_the_tester_alone_can_tell_some_limits(evidence, rates, test, limit):
    found = verdicts(external(evidence, rates))[test]
    assert found.limit == limit
    if limit == "unexplained":
        assert any("show runtime" in line for line in found.try_)


def test_clocks_that_rise_with_workers(evidence, ledger_of_worker):
    one = evidence_of(
        evidence(losses={MISSED: LOST}, time=(ledger_of_worker(idle=0.0),), idle=0.0), "U2", "x"
    )
    slower = tuple(
        ledger_of_worker(idle=0.0, name=f"forwarder-{n}", packets=5_000) for n in range(2)
    )
    two = evidence_of(evidence(losses={MISSED: LOST}, time=slower, time_at_load=slower), "U2", "y")
    clocks = {"one": one, "two": two}
    assert verdicts(clocks)["two"].limit == "cache-contention"
    assert verdicts(clocks)["one"].limit == "worker-cpu"


def test_every_rule_says_where_it_comes_from():
    assert {rule.limit for rule in rules()} >= {
        "line",
        "tester",
        "pcie",
        "card-pps",
        "single-rx-queue",
        "rss-mpls",
        "rss-imbalance",
        "worker-cpu",
        "cache-contention",
        "shared-direction",
        "tx-ring",
        "rx-ring",
        "handoff-ring",
        "syscall",
        "lock",
        "flow-offload",
        "configuration",
        "unexplained",
        "invalid",
        "none",
    }
    assert all(rule.reference and rule.judge.__doc__ for rule in rules())


def test_a_wire_that_pushes_back_is_no_slow_tester(evidence):
    load = HALF.model_copy(update={"scale_ppm": 1_000_000, "pushes_back": True})
    for ceiling, limit in ((2e6, "tester"), (5e6, "unknown")):
        measured = evidence(load=load, sent=9_900_000, ceiling_pps=ceiling)
        found = explain(evidence_of(measured, "U2", "x"))
        assert found.limit == limit, found.sentence
    assert "wire and device took 1.98 Mpps while forwarder-0 had 45 %" in found.sentence


@pytest.mark.parametrize(
    ("ring_size", "idle", "limit"),
    [(1024, 0.0, "worker-cpu"), (1024, 0.5, "handoff-ring"), (32, 0.0, "handoff-ring")],
)
def test_who_takes_out_of_a_full_ring(evidence, ledger_of_worker, ring_size, idle, limit):
    full = NodeTime(calls=1000, vectors=256_000, clocks=4 * 10**9)
    reader = ledger_of_worker(idle=idle, name="forwarder-1").model_copy(
        update={"nodes": {"handoff-rx": full, **ledger_of_worker(idle=idle).nodes}}
    )
    workers = (ledger_of_worker(idle=0.6, name="forwarder-0"), reader)
    ring = {"size": ring_size, "used": 0, "enqueued": 256_000, "dropped": LOST}
    measured = evidence(
        losses={HANDED: LOST}, time_at_load=workers, rings={"handoff-0-1-normal": ring}
    )
    found = explain(evidence_of(measured, "U2", "x"))
    assert found.limit == limit, found.sentence
    assert any(ceiling.name == "hand-off rings" for ceiling in found.ceilings) == (
        measured.time_at_load[1].loops > 0
    )
    if limit == "handoff-ring":
        assert "forwarder-0 → forwarder-1" in found.sentence
