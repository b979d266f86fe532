"""Reports for programs: the JSON that `--json` prints."""

from pathlib import Path
from typing import Any

from pydantic import Field

from linerate.analysis.explain import Verdict
from linerate.analysis.explain.model import Confidence, Limit
from linerate.base.line_rate import FrameRate, PcieLink
from linerate.base.published import Number, Output, published
from linerate.model.evidence import Quote
from linerate.model.ledger import Entry
from linerate.model.measurement.latency import LatencyFigures
from linerate.model.power import PowerFigures
from linerate.model.suites import Profiled
from linerate.report import flow_table, offered, repeats
from linerate.report.flow_table import FlowTableOutput
from linerate.report.marks import marks
from linerate.report.offered import StreamOutput
from linerate.report.repeats import RepeatedOutput
from linerate.results.store import Absent, Result, Run, Status


class CeilingOutput(Output):
    """A rate that one resource can't exceed, over all directions that carry traffic."""

    #: Resource: `link`, `tester`, `pcie`, `card-pps`, `worker forwarder-0`, …
    name: str
    #: The limit that it stands for when it is reached.
    limit: Limit
    pps: float
    #: The arithmetic, with its figures and where its formula comes from.
    derivation: str


class VerdictOutput(Output):
    """A verdict."""

    limit: Limit
    #: Other limits that hold as well, or are within the error of the first.
    also: tuple[Limit, ...]
    confidence: Confidence
    sentence: str
    evidence: tuple[Quote, ...]
    ceilings: tuple[CeilingOutput, ...]
    try_: tuple[str, ...] = Field(serialization_alias="try")
    #: Outputs that would make it surer, of pasted text alone.
    send_next: tuple[str, ...] = ()
    #: Where the rule comes from: a datasheet, a manual, a measurement.
    reference: str
    #: Packets by place: dropped by configuration or for damage, which is no limit.
    configured: dict[str, int]


class PacketsOutput(Output):
    """A packet ledger summed up: sent + originated + added = all that follows."""

    sent: int
    originated: int
    added: int
    received: int
    duplicated: int
    corrupted: int
    other: int
    consumed: int
    held: int
    #: Packets by place.
    losses: dict[str, int]
    unexplained: int


class NodeOutput(Output):
    """Counters of one worker in one node."""

    calls: int
    vectors: int
    #: None where another node has its cycles.
    cycles_per_packet: float | None = Field(validation_alias="clocks_per_packet")
    idle_calls: int


class WorkerOutput(Output):
    """Use of a worker's cycles."""

    name: str = Field(validation_alias="worker")
    role: str
    #: 100 when every cycle is accounted for.
    cycles_closed_percent: float = Field(validation_alias="closed_percent")
    idle_percent: float
    overhead_percent: float
    #: Descheduled.
    descheduled_percent: float = Field(validation_alias="away_percent")
    sleep_percent: float
    nodes: dict[str, NodeOutput]


class TrialOutput(Output):
    """One trial; an invalid one has no figures that could pass for a result."""

    test: str
    valid: bool
    offered_pps: float | None
    received_pps: float | None
    line_percent: float | None
    loss_percent: float | None
    l1_bps: float | None
    #: FCS counted.
    l2_bps: float | None
    l2_bps_no_fcs: float | None
    #: Packets lost that count as the host's.
    left_out: int | None
    limit: Limit
    verdict: VerdictOutput
    #: Why it has no result.
    invalid: tuple[str, ...]
    #: Why its figures are doubtful.
    suspect: tuple[str, ...]
    #: It would be invalid, had suspect figures not been asked for.
    provisional: bool
    #: As beside the name in tables.
    marks: str
    attempt: int
    #: Timed streams, if any; of an invalid trial too, as evidence.
    latency: tuple[LatencyFigures, ...] = ()
    #: Over the bare link.
    own_latency: tuple[LatencyFigures, ...] = ()
    ledger: PacketsOutput
    workers: tuple[WorkerOutput, ...]
    #: Power of the device, where a meter was read; of an invalid trial too, as evidence.
    power: PowerFigures | None = None


class RunOutput(Output):
    """First fields of a run's JSON."""

    #: Its folder.
    run: str
    status: Status
    #: Why it ended early.
    problem: str
    #: Given by `--label`.
    labels: dict[str, str] = {}


class UnmeasuredOutput(Output):
    """A test without any trial."""

    configuration: str
    reason: str


class BenchTrial(TrialOutput):
    """One trial, and its traffic profile."""

    profile: Profiled | None = None
    streams: tuple[StreamOutput, ...] = ()


@published("bench", "JSON of `linerate bench --json`")
class BenchOutput(RunOutput):
    """A bench: one trial for each test, the last attempt."""

    absent: tuple[UnmeasuredOutput, ...]
    trials: tuple[BenchTrial, ...]
    #: By test, where trials were repeated.
    repeats: dict[str, RepeatedOutput] = {}
    #: By traffic, where the device has a flow table; valid trials alone.
    flow_table: tuple[FlowTableOutput, ...] = ()


def bench(run: Run, folder: Path) -> BenchOutput:
    """Say what a run measured."""
    results = run.reported()
    with_table = any(result.flow_table is not None for result in results)
    return BenchOutput(
        **run_fields(run, folder),
        absent=tuple(map(_unmeasured, run.absent)),
        trials=tuple(
            BenchTrial(**trial_fields(result), **offered.fields(result, folder))
            for result in results
        ),
        **repeats.fields(run),
        **({"flow_table": flow_table.outputs(results)} if with_table else {}),
    )


def _unmeasured(one: Absent) -> UnmeasuredOutput:
    return UnmeasuredOutput.model_validate(one)


def run_fields(run: Run, folder: Path) -> dict[str, Any]:
    """Fields of RunOutput."""
    about = {"run": str(folder), "status": run.status, "problem": run.problem}
    return about | ({"labels": run.labels} if run.labels else {})


def trial(result: Result) -> TrialOutput:
    """Sum up one trial."""
    return TrialOutput(**trial_fields(result))


#: Figures that an invalid trial has not.
FIGURES = (
    "offered_pps",
    "received_pps",
    "line_percent",
    "loss_percent",
    "l1_bps",
    "l2_bps",
    "l2_bps_no_fcs",
    "left_out",
)
AS_STORED = ("test", "valid", "invalid", "suspect", "provisional", "attempt")


def trial_fields(result: Result) -> dict[str, Any]:
    """Fields of TrialOutput."""
    timed = ("latency", "own_latency") if result.latency else ()
    return {
        **{name: getattr(result, name) for name in AS_STORED},
        **{name: getattr(result, name) if result.valid else None for name in FIGURES},
        **{name: found for name in timed if (found := getattr(result, name))},
        "limit": result.verdict.limit,
        "verdict": verdict(result.verdict),
        "marks": marks(result),
        "ledger": result.packets,
        "workers": result.time,
        **({"power": result.power} if result.power is not None else {}),
    }


def verdict(found: Verdict) -> VerdictOutput:
    """Spell out a verdict."""
    known = {name: getattr(found, name) for name in Verdict.model_fields if name != "ceilings"}
    ceilings = tuple(
        CeilingOutput(name=one.name, limit=one.limit, pps=1e6 * one.mpps, derivation=one.derivation)
        for one in found.ceilings
    )
    return VerdictOutput(**known, ceilings=ceilings)


class _Entries(Output):
    entries: tuple[Entry, ...]


class PacketLedgerOutput(PacketsOutput, _Entries):
    """A packet ledger with all its places."""


class NodeCyclesOutput(Output):
    """Counters of one worker in one node, as counted."""

    calls: int
    vectors: int
    cycles: int = Field(validation_alias="clocks")
    idle_calls: int
    idle_cycles: int = Field(validation_alias="idle_clocks")


class CyclesOutput(Output):
    """A worker's cycles, as counted."""

    tsc_hz: int
    elapsed_cycles: int = Field(validation_alias="elapsed_clocks")
    overhead_cycles: int = Field(validation_alias="overhead_clocks")
    descheduled_cycles: int = Field(validation_alias="away_clocks")
    sleep_cycles: int = Field(validation_alias="sleep_clocks")
    loops: int
    nodes: dict[str, NodeCyclesOutput]


class TimeLedgerOutput(WorkerOutput):
    """A time ledger, in per cent and as counted."""

    cycles: CyclesOutput


class LedgersOutput(Output):
    """Both ledgers of a trial."""

    test: str
    valid: bool
    packets: PacketLedgerOutput
    workers: tuple[TimeLedgerOutput, ...]


published("show-ledger", "JSON of `linerate show ledger --json`")(list[LedgersOutput])


def ledgers(result: Result) -> LedgersOutput:
    """Spell out both ledgers of a trial."""
    return LedgersOutput(
        test=result.test,
        valid=result.valid,
        packets=PacketLedgerOutput.model_validate(result.packets),
        workers=tuple(
            TimeLedgerOutput(
                **dict(WorkerOutput.model_validate(ledger)),
                cycles=CyclesOutput.model_validate(ledger),
            )
            for ledger in result.time
        ),
    )


class PcieOutput(Output):
    """Rates that a slot carries."""

    data_bps: Number
    pps: Number
    l1_bps: Number


@published("line", "JSON of `linerate line --json`")
class LineOutput(Output):
    """Line-rate arithmetic."""

    link_bps: Number
    #: FCS counted.
    frame_bytes: Number
    pps: Number
    l1_bps: Number
    l2_bps: Number
    l2_bps_no_fcs: Number
    line_percent: Number
    ns_per_packet: Number
    #: By slot.
    pcie: dict[str, PcieOutput]


def line(rate: FrameRate, link_bps: float, slots: dict[str, PcieLink]) -> LineOutput:
    """Spell out line-rate arithmetic."""
    return LineOutput(
        link_bps=link_bps,
        frame_bytes=rate.frame_bytes,
        pps=rate.packets_per_second,
        l1_bps=rate.l1_bps,
        l2_bps=rate.l2_bps,
        l2_bps_no_fcs=rate.l2_bps_no_fcs,
        line_percent=rate.percent_of(link_bps),
        ns_per_packet=1e9 / rate.packets_per_second,
        pcie={
            name: PcieOutput(
                data_bps=slot.data_bps,
                pps=slot.usable(rate.frame_bytes).packets_per_second,
                l1_bps=slot.usable(rate.frame_bytes).l1_bps,
            )
            for name, slot in slots.items()
        },
    )
