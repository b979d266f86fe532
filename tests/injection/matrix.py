"""The injection matrix: limits made on purpose, each of a known size, over the eight loadtests.

A strength is one testbed on which all its loadtests are measured and then judged together,
as in a bench. Where the limit is a rate it lies well below the line and all else, and no more
than some times as much is offered: a busy machine adds losses of its own to a higher rate.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from linerate.analysis.explain import Limit
from linerate.base.line_rate import PcieLink
from linerate.model.suites import SUITES, Loadtest, Traffic
from linerate.model.testbed import Testbed, parse

STANDARD = SUITES["standard"].loadtests
#: Offered load as a multiple of the injected rate, if the line carries it.
OFFERED_TIMES = 3.0
#: Each direction of trials whose batches shall have a certain size; 1514 bytes fit 10 Gb/s.
BATCHED_PPS = 800_000.0

#: Fault of the engine in the midst of a trial.
Event = Literal["starved", "cut short"]


@dataclass(frozen=True, slots=True)
class Strength:
    """A limit of one size, and the loadtests that it is tried with."""

    injected: Limit
    text: str
    testbed: Testbed
    loadtests: tuple[Loadtest, ...] = STANDARD
    #: By loadtest, where it is not the injected limit.
    expected: dict[str, Limit] = field(default_factory=dict)
    #: Packets a second, over all directions; None: what the bench would offer.
    offered_pps: Callable[[Loadtest], float] | None = None
    event: Event | None = None
    #: The same trials as of a closed box, of which only the tester's counters are known.
    closed_box: Limit | None = None
    #: Measured before, of which nothing is counted: the same with fewer workers.
    beside: Testbed | None = None

    def expects(self, loadtest: Loadtest) -> Limit:
        """Say which verdict is right."""
        return self.expected.get(loadtest.name, self.injected)


def many_flows(loadtests: Iterable[Loadtest] = STANDARD) -> tuple[Loadtest, ...]:
    """The same loadtests with many flows, behind labels too."""
    return _with_flows("many", loadtests)


def skewed_flows(loadtests: Iterable[Loadtest] = STANDARD) -> tuple[Loadtest, ...]:
    """The same loadtests with most packets in one flow."""
    return _with_flows("skewed", loadtests)


def _with_flows(flows: Any, loadtests: Iterable[Loadtest]) -> tuple[Loadtest, ...]:
    return tuple(
        replace(one, traffic=Traffic(one.traffic.frame_bytes, flows, protocol=one.traffic.protocol))
        for one in loadtests
    )


def make_testbed(**document: Any) -> Testbed:
    """Make a testbed as its file would."""
    return parse({"dut": {"mode": "router"}} | document, "the matrix")


def _times(rate_pps: float) -> Callable[[Loadtest], float]:
    return lambda loadtest: OFFERED_TIMES * rate_pps


def _batched(loadtest: Loadtest) -> float:
    return BATCHED_PPS * loadtest.directions


Maker = Callable[["Clock"], Iterable[Strength]]
_MAKERS: list[Maker] = []


def _limit(maker: Maker) -> Maker:
    _MAKERS.append(maker)
    return maker


@dataclass(frozen=True, slots=True)
class Clock:
    """Converts times and rates to cycles of the time stamp counter."""

    hertz: float

    def each(self, packets_per_second: float) -> int:
        """Cycles a packet that leave one worker that rate."""
        return round(self.hertz / packets_per_second)

    def during(self, microseconds: float) -> int:
        """Clocks in a time."""
        return round(self.hertz * microseconds / 1e6)


def matrix(clock: Clock) -> tuple[Strength, ...]:
    """All strengths of all limits."""
    return tuple(strength for maker in _MAKERS for strength in maker(clock))


@_limit
def _line(_clock: Clock) -> Iterable[Strength]:
    for link in ("100M", "1G", "2.5G"):
        yield Strength("line", link, make_testbed(card={"link": link}))


@_limit
def _none(_clock: Clock) -> Iterable[Strength]:
    """Nothing is injected, and less than the line is offered."""
    for link, share in (("1G", 0.3), ("2.5G", 0.6)):
        bed = make_testbed(card={"link": link})
        yield Strength(
            "none",
            f"{100 * share:.0f} % of {link}",
            bed,
            offered_pps=lambda loadtest, bed=bed, share=share: (  # type: ignore[misc]
                share * loadtest.line_pps(bed.line_bps)
            ),
        )


@_limit
def _pcie(_clock: Clock) -> Iterable[Strength]:
    slots = ((2.5, 128, "10G"), (5.0, 256, "25G"))
    for gigatransfers, payload, link in slots:
        slot = PcieLink(gigatransfers, 1, payload)
        yield Strength(
            "pcie",
            f"{gigatransfers:g} GT/s x1, {payload} B",
            make_testbed(
                card={
                    "link": link,
                    "pcie": {
                        "gigatransfers": gigatransfers,
                        "lanes": 1,
                        "max_payload_bytes": payload,
                    },
                }
            ),
            offered_pps=lambda loadtest, slot=slot: (  # type: ignore[misc]
                OFFERED_TIMES * slot.usable(loadtest.traffic.frame_bytes).packets_per_second
            ),
        )


@_limit
def _card_pps(_clock: Clock) -> Iterable[Strength]:
    for pps in (100_000, 500_000):
        yield Strength(
            "card-pps",
            f"{pps / 1e6:g} Mpps",
            make_testbed(card={"pps_ceiling": pps}),
            offered_pps=_times(pps),
            closed_box="shared-direction",
        )


@_limit
def _worker_cpu(clock: Clock) -> Iterable[Strength]:
    for pps in (100_000, 500_000):
        yield Strength(
            "worker-cpu",
            f"1 worker, {pps / 1e6:g} Mpps",
            make_testbed(dut={"burn": {"clocks": clock.each(pps)}}),
            offered_pps=_times(pps),
        )
    yield Strength(
        "worker-cpu",
        "3 workers, 0.3 Mpps",
        _slow_workers(clock, 3, 100_000),
        offered_pps=_times(300_000),
    )


def _slow_workers(clock: Clock, workers: int, each_pps: float, **dut: Any) -> Testbed:
    """Workers that sleep through their burnt cycles, so that they need no CPU of their own."""
    burn = {"clocks": clock.each(each_pps), "how": "sleep"}
    return make_testbed(dut={"workers": workers, "rx_mode": "interrupt", "burn": burn} | dut)


@_limit
def _single_rx_queue(clock: Clock) -> Iterable[Strength]:
    for pps in (50_000, 200_000):
        bed = _slow_workers(clock, 3, pps, handoff="off")
        card = bed.card.model_copy(update={"rx_queues": 1})
        yield Strength(
            "single-rx-queue",
            f"1 of 3 workers, {pps / 1e6:g} Mpps",
            bed.model_copy(update={"card": card}),
            offered_pps=_times(2 * pps),
        )


@_limit
def _rss_mpls(clock: Clock) -> Iterable[Strength]:
    """Only labelled packets meet it; the workers carry more of the others."""
    every = many_flows()
    labelled = tuple(one for one in every if one.traffic.protocol == "mpls")
    unlabelled = {one.name for one in every if one not in labelled}
    for pps, loadtests in ((50_000, every), (100_000, labelled)):
        bed = _slow_workers(clock, 3, pps, handoff="off")
        card = bed.card.model_copy(
            update={
                "rx_queues": 3,
                "rss": bed.card.rss.model_copy(update={"mpls_inner": False}),
            }
        )
        yield Strength(
            "rss-mpls",
            f"1 of 3 workers, {pps / 1e6:g} Mpps",
            bed.model_copy(update={"card": card}),
            loadtests,
            expected=dict.fromkeys(unlabelled, "worker-cpu"),
            offered_pps=_times(3 * pps),
        )


@_limit
def _rss_imbalance(clock: Clock) -> Iterable[Strength]:
    """One worker is full with 1.2 times what it can do; the others have next to nothing."""
    for pps in (50_000, 200_000):
        yield Strength(
            "rss-imbalance",
            f"90 % on 1 of 3 workers, {pps / 1e6:g} Mpps",
            _slow_workers(clock, 3, pps),
            skewed_flows(),
            offered_pps=_times(pps),
        )


@_limit
def _cache_contention(clock: Clock) -> Iterable[Strength]:
    for workers in (2, 3):
        alone, beside = 100_000.0, 100_000.0
        burn = {
            "clocks": clock.each(alone),
            "contention_clocks": clock.each(beside),
            "how": "sleep",
        }
        dut = {"rx_mode": "interrupt", "burn": burn}
        yield Strength(
            "cache-contention",
            f"{workers} workers, {workers} × the clocks",
            make_testbed(dut=dut | {"workers": workers}),
            offered_pps=_times(alone),
            beside=make_testbed(dut=dut | {"workers": 1}),
        )


@_limit
def _syscall(clock: Clock) -> Iterable[Strength]:
    for pps in (100_000, 400_000):
        yield Strength(
            "syscall",
            f"{pps / 1e6:g} Mpps",
            make_testbed(dut={"burn": {"clocks": clock.each(pps), "how": "syscall"}}),
            offered_pps=_times(pps),
        )


@_limit
def _lock(clock: Clock) -> Iterable[Strength]:
    for pps in (100_000, 400_000):
        yield Strength(
            "lock",
            f"{pps / 1e6:g} Mpps",
            make_testbed(dut={"burn": {"clocks": clock.each(pps), "how": "lock"}}),
            offered_pps=_times(pps),
        )


@_limit
def _tx_ring(clock: Clock) -> Iterable[Strength]:
    """A batch of 100 packets a direction, of 200 with two, meets a shorter ring."""
    for slots in (32, 64):
        yield Strength(
            "tx-ring",
            f"{slots} slots",
            make_testbed(card={"tx_ring": slots}, dut={"burn": _batches_of(clock, 100)}),
            offered_pps=_batched,
        )


def _batches_of(clock: Clock, packets: float) -> dict[str, Any]:
    """Make a worker take this number of packets per call; with two ports, the calls of both."""
    return {"call_clocks": clock.during(packets / BATCHED_PPS * 1e6)}


@_limit
def _rx_ring(clock: Clock) -> Iterable[Strength]:
    """A ring that fills up while the worker pauses, or between two of its calls."""
    pause = {"pause_every_us": 12_000, "pause_for_us": 3000}
    yield Strength(
        "rx-ring",
        "1024 slots, pauses of 3 ms",
        make_testbed(card={"rx_ring": 1024}, dut={"burn": pause}),
        offered_pps=_batched,
    )
    yield Strength(
        "rx-ring",
        "32 slots, batches of 100",
        make_testbed(card={"rx_ring": 32}, dut={"burn": _batches_of(clock, 100)}),
        offered_pps=_batched,
    )


@_limit
def _handoff_ring(clock: Clock) -> Iterable[Strength]:
    """Half of each batch is for the other worker, and more than the ring between them holds."""
    for slots in (32, 64):
        dut = {
            "workers": 2,
            "handoff": "auto",
            "handoff_ring": slots,
            "rx_mode": "interrupt",
            "burn": _batches_of(clock, 200) | {"how": "sleep"},
        }
        yield Strength(
            "handoff-ring",
            f"{slots} slots",
            make_testbed(card={"rx_queues": 1}, dut=dut),
            many_flows(),
            # Two ports are called one after the other, so each waits twice as long.
            offered_pps=lambda loadtest: BATCHED_PPS,
        )


#: Traffics whose flows deserve rules, with the card's lookup on.
OF_FLOWS = tuple(one for one in SUITES["flowtable"].loadtests if one.offload and one.warmup_seconds)


@_limit
def _flow_offload(clock: Clock) -> Iterable[Strength]:
    """A card that has few places for rules, or takes them slowly; 0.3 Mpps is what is carried."""
    tables: tuple[tuple[str, Limit, dict[str, Any]], ...] = (
        ("64 rules", "flow-offload", {"capacity": 64, "guaranteed": 64}),
        ("11 ms a rule", "flow-offload", {"preset": "x710"}),
        ("22 us a rule, room for all", "worker-cpu", {"preset": "x710-patched"}),
    )
    pps = 300_000
    for text, limit, table in tables:
        few = tuple(one for one in OF_FLOWS if limit == "flow-offload" or one.name != "zipf-on")
        yield Strength(
            limit,
            text,
            make_testbed(
                card={"flow_table": table},
                dut={
                    "mode": "flowtable",
                    "flowtable": {"flows": 1 << 21, "offload": {}},
                    "burn": {"clocks": clock.each(pps)},
                },
            ),
            few,
            offered_pps=_times(pps),
        )


@_limit
def _tester(clock: Clock) -> Iterable[Strength]:
    for pps in (100_000, 500_000):
        yield Strength(
            "tester",
            f"{pps / 1e6:g} Mpps",
            make_testbed(tester={"burn": {"clocks": clock.each(pps)}}),
        )


@_limit
def _invalid(_clock: Clock) -> Iterable[Strength]:
    events: tuple[Event, ...] = ("starved", "cut short")
    for event in events:
        few = tuple(one for one in STANDARD if one.traffic.flows == "many")
        yield Strength("invalid", event, make_testbed(card={"link": "1G"}), few, event=event)


def one_trial_each(strengths: Iterable[Strength]) -> tuple[Strength, ...]:
    """Every strength with one loadtest: what each change is tested with.

    Loadtests take turns from strength to strength, so that all eight are met. A closed box is
    judged by comparing one direction with two, so it keeps both loadtests of one traffic.
    """
    return tuple(
        replace(strength, loadtests=_turn(strength, number))
        for number, strength in enumerate(strengths)
    )


def _turn(strength: Strength, number: int) -> tuple[Loadtest, ...]:
    shown = [one for one in strength.loadtests if strength.expects(one) == strength.injected]
    chosen = shown[number % len(shown)]
    if strength.closed_box is None:
        return (chosen,)
    return tuple(one for one in shown if one.traffic == chosen.traffic)
