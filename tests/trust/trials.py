"""Do the books balance? Trials of our own engine: any wire, mode, frames, card and load, at random."""

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.trust.measure import BrokenError

from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.analysis.validity import caused_by_host, reasons
from linerate.base.errors import SetupError
from linerate.engine.engine_process import EngineError
from linerate.engine.telemetry import TelemetryError
from linerate.experiments.asked_load import FULL_SCALE_PPM
from linerate.experiments.bench import Interrupted
from linerate.host.machine import allowed_cpus
from linerate.lab.rig import Rig, can_run
from linerate.lab.trial import TrialError, run_trial
from linerate.model.counting import counted, takes_turns
from linerate.model.measurement import Load, Measurement
from linerate.model.suites import Loadtest, Traffic
from linerate.model.testbed import ENGINE_MODES, Testbed

#: Wires, and how often each is drawn.
WIRES = {"card": 6, "veth": 2, "memif": 2}
RINGS = (64, 128, 256, 512, 1024, 2048, 4096)
LINKS = (1_000_000_000, 2_500_000_000, 10_000_000_000, 25_000_000_000)
#: One engine has as many trials, at other loads.
TRIALS_A_RIG = 10
SHORTEST_S, LONGEST_S = 0.1, 0.5
#: A worker's cycles, in per cent of the elapsed ones.
CYCLES_WITHIN = 1.0
#: Bound of all rates, but for the counting of one frame.
LINE_PERCENT = 100.0001
EVERY = 50


@dataclass(frozen=True, slots=True)
class Drawn:
    """One testbed and what is sent through it."""

    testbed: Testbed
    loadtest: Loadtest

    @property
    def name(self) -> str:
        """In words, to be measured again."""
        testbed = self.testbed
        return f"{testbed.wire} {testbed.dut.mode}, {self.loadtest.text}, {testbed.card}"


@dataclass(slots=True)
class Sums:
    """Results of trials of one wire and mode."""

    trials: int = 0
    valid: int = 0
    #: Invalid for what the machine did.
    host: int = 0
    #: Packets, in valid trials.
    unexplained: int = 0
    worst_cycles_percent: float = 0.0
    broken: list[str] = field(default_factory=list)


def drawn(draw: random.Random) -> Drawn:
    """A testbed of our own engine that can carry what is sent."""
    while True:
        wire = draw.choices(list(WIRES), list(WIRES.values()))[0]
        card: dict[str, object] = {
            "link": draw.choice(LINKS),
            "rx_ring": draw.choice(RINGS),
            "tx_ring": draw.choice(RINGS),
            "pps_ceiling": draw.choice((0, 0, 0, round(10 ** draw.uniform(4, 7)))),
        }
        document: dict[str, object] = {"wire": wire, "dut": {"mode": draw.choice(ENGINE_MODES)}}
        document |= {"card": card} if wire == "card" else {"link": draw.choice(LINKS)}
        testbed = Testbed.model_validate(document)
        traffic = Traffic(
            draw.choice((64, 64, draw.randint(64, 1514), 1514)),
            draw.choice(("many", "one", "skewed")),
            draw.choice(("ipv4", "ipv4", "ipv4", "mpls")),
        )
        loadtest = Loadtest("T", traffic, draw.choice((1, 2)))
        if can_run(testbed, loadtest):
            return Drawn(testbed, loadtest)


def impossible(measurement: Measurement) -> list[str]:
    """Figures that can't be, whatever the machine did."""
    packets, line = measurement.packets, measurement.line_percent
    figures = {
        f"{line:.4f} % of the line": line > LINE_PERCENT,
        f"{measurement.loss_percent:.4f} % lost": not 0 <= measurement.loss_percent <= 100,
        f"{measurement.left_out:,} left out": not 0
        <= measurement.left_out
        <= max(0, measurement.lost),
        "more received than sent": packets.received > packets.sent,
        "a counter below 0": bool(packets.backwards),
    }
    return [text for text, is_so in figures.items() if is_so]


def measured(case: Drawn, draw: random.Random, runs: Path, trials: int) -> Iterator[Measurement]:
    """Trials of one case, each at a load and of a length of its own."""
    runs.mkdir(parents=True, exist_ok=True)
    testbed, loadtest = case.testbed, case.loadtest
    rig = Rig(testbed, lambda name: runs / name)
    with rig.under_test(loadtest, "T") as ready:
        for _ in range(trials):
            load = Load(
                frame_bytes=loadtest.traffic.frame_bytes,
                directions=loadtest.links,
                link_bps=testbed.line_bps,
                scale_ppm=max(1, round(FULL_SCALE_PPM * 10 ** draw.uniform(-3, 0))),
                duration_us=round(1e6 * draw.uniform(SHORTEST_S, LONGEST_S)),
                flows=loadtest.traffic.flows,
                protocol=loadtest.traffic.protocol,
                counted=counted(testbed),
                takes_turns=takes_turns(testbed, allowed_cpus()),
                pushes_back=rig.pushes_back,
            )
            card = testbed.card if testbed.wire == "card" else None
            yield run_trial(ready.tester, load, lambda _progress: None, card)


def judge(sums: Sums, case: Drawn, measurement: Measurement) -> None:
    """Add one trial."""
    invalid = reasons(measurement)
    sums.trials += 1
    sums.valid += not invalid
    sums.host += bool(invalid) and caused_by_host(measurement)
    wrong = [one for one in invalid if "violated" in one]
    gap = max((abs(100 - one.closed_percent) for one in measurement.time), default=0.0)
    sums.worst_cycles_percent = max(sums.worst_cycles_percent, gap)
    if gap > CYCLES_WITHIN:
        wrong.append(f"{gap:.2f} % of the cycles open")
    if not invalid:
        sums.unexplained += abs(measurement.packets.unexplained)
    found = explain(evidence_of(measurement, "T", "T.json", invalid))
    if invalid and found.limit != "invalid":
        wrong.append(f"invalid, and reported as limited by {found.limit}")
    sums.broken += [f"{case.name}: {one}" for one in (*wrong, *impossible(measurement))]


def table(runs: Path, cases: int, seed: int) -> str:
    """`count` trials, a row for each wire and mode. Raises BrokenError when a law was broken."""
    draw, sums, done, lost = random.Random(seed), dict[tuple[str, str], Sums](), 0, 0
    try:
        while done < cases:
            case = drawn(draw)
            mode = case.testbed.dut.mode or "router"
            into = sums.setdefault((case.testbed.wire, mode), Sums())
            try:
                for measurement in measured(case, draw, runs, min(TRIALS_A_RIG, cases - done)):
                    judge(into, case, measurement)
                    done += 1
                    if done % EVERY == 0:
                        print(f"{done} of {cases} trials", file=sys.stderr, flush=True)
            except (EngineError, SetupError, TelemetryError, TrialError) as error:
                lost += 1
                print(f"{case.name}: {error}", file=sys.stderr, flush=True)
                if lost > cases:
                    break
    except (KeyboardInterrupt, Interrupted):
        print(f"interrupted after {done} trials", file=sys.stderr)
    text = "\n".join([*_rows(sums), *_last(sums, lost, seed)])
    if any(one.broken for one in sums.values()):
        raise BrokenError(text)
    return text


def _rows(sums: dict[tuple[str, str], Sums]) -> Iterator[str]:
    yield "wire   mode       trials  valid  by the host  unexplained  cycles open, at most"
    for (wire, mode), one in sorted(sums.items()):
        yield (
            f"{wire:<6} {mode:<9} {one.trials:>7} {one.valid:>6} {one.host:>12} "
            f"{one.unexplained:>12} {one.worst_cycles_percent:>19.2f} %"
        )


def _last(sums: dict[tuple[str, str], Sums], lost: int, seed: int) -> Iterator[str]:
    every = sums.values()
    broken = [line for one in every for line in one.broken]
    yield (
        f"\n{sum(one.trials for one in every):,} trials, {sum(one.valid for one in every):,} valid, "
        f"{sum(one.host for one in every):,} invalid by what the host did; in valid ones "
        f"{sum(one.unexplained for one in every):,} packets unexplained"
    )
    yield (
        f"cycles open by {max((one.worst_cycles_percent for one in every), default=0.0):.2f} % at "
        f"most; {len(broken)} broken laws; {lost} engines lost; seed {seed}"
    )
    yield from broken[:20]
