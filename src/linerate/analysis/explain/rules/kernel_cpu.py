"""A kernel's CPU, as mpstat, top, softnet_stat and interrupts show it."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import main_losses, quotes
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.words import symbols_text
from linerate.model.evidence import CpuCounters, CpuTime, Evidence, Quote

#: Softirq time, in per cent, from which a CPU has no more for packets.
FULL_PERCENT = 90.0
#: The kernel's threads that handle packets.
THREADS = ("ksoftirqd", "cpumap", "if_io_tqg_", "irq")
#: Other CPUs are idle for at least this.
OTHERS_IDLE_PERCENT = 50.0
#: One CPU has so much of all packets.
NEARLY_ALL = 0.9

SPREAD = (
    "spread the load: more rx queues (`ethtool -L`), RSS over the fields that differ, or RPS",
    "look at where its cycles go: `perf top -C CPU`",
)
#: The same in other systems, by a word of their outputs.
OTHERS = (
    (
        "FreeBSD",
        (
            "spread the load: more rx queues (dev.IF.N.iflib.override_nrxqs, at boot), or RSS",
            "look at where its cycles go: `pmcstat -TS cpu_clk_unhalted.thread`, or `top -HSP`",
        ),
    ),
    (
        "RouterOS",
        (
            "spread the load: more flows, or a queue and interrupt a CPU (`/system resource irq`)",
            "fewer rules and queues on the way, or FastTrack for established connections",
        ),
    ),
)


@rule(
    "worker-cpu",
    Stage.RESOURCE,
    reference="Linux: packets are received and forwarded in softirq context (NAPI)",
)
def softirq_is_full(evidence: Evidence) -> Finding | None:
    """A CPU that spends all its time in softirq."""
    full = [one for one in evidence.cpu_times if _is_full(one)]
    if not full or evidence.conditions is not None:
        return None
    if not evidence.losses and all(one.name.startswith("cpumap") for one in full):
        # A thread that never sleeps and loses nothing may just be polled as fast as packets come.
        return None
    worst = max(full, key=lambda one: one.softirq_percent or one.busy_percent)
    spare = [
        one
        for one in evidence.cpu_times
        if one.cpu is not None and not one.name and 100 - one.busy_percent >= OTHERS_IDLE_PERCENT
    ]
    lost = main_losses(evidence, "rx-ring") or main_losses(evidence, "handoff-ring")
    others = f", while {len(spare)} other CPUs are mostly idle" if spare else ""
    return Finding(
        limit="worker-cpu",
        confidence="high" if lost else "medium",
        sentence=f"{_name(worst)} spends {_share(worst):.0f} % of its time on packets{others}"
        f"{symbols_text(evidence.symbols)}",
        evidence=(*(one.quote for one in full[:4]), *quotes(*lost)),
        try_=_advice(evidence) if spare else _advice(evidence)[1:],
    )


def _advice(evidence: Evidence) -> tuple[str, ...]:
    """In commands of the system that the outputs are of."""
    names = " ".join(evidence.outputs)
    return next((advice for word, advice in OTHERS if word in names), SPREAD)


def _is_full(one: CpuTime) -> bool:
    if one.name:
        return one.name.startswith(THREADS) and one.busy_percent >= FULL_PERCENT
    return one.cpu is not None and (one.softirq_percent or 0.0) >= FULL_PERCENT


def _share(one: CpuTime) -> float:
    return one.busy_percent if one.name else one.softirq_percent or 0.0


def _name(one: CpuTime) -> str:
    return (
        f"{one.name} of CPU {one.cpu}"
        if one.name and one.cpu is not None
        else (one.name or f"CPU {one.cpu}")
    )


@rule(
    "rss-imbalance",
    Stage.RESOURCE,
    refines="rx-ring",
    reference="Linux: Documentation/networking/scaling; softnet_stat, time_squeeze and dropped",
)
def one_cpu_has_all(evidence: Evidence) -> Finding | None:
    """One CPU received nearly all packets, and it alone ran out of budget or dropped."""
    rows = [one for one in evidence.cpus if one.name == "softnet"]
    whole = sum(one.counters.get("processed", 0) for one in rows)
    if len(rows) < 2 or not whole or evidence.conditions is not None:
        return None
    most = max(rows, key=lambda one: one.counters.get("processed", 0))
    share = most.counters.get("processed", 0) / whole
    if share < NEARLY_ALL or not _alone(most, rows):
        return None
    irq = _one_irq(evidence, most.cpu)
    short = most.counters.get("dropped", 0), most.counters.get("time_squeeze", 0)
    return Finding(
        limit="single-rx-queue" if irq else "rss-imbalance",
        confidence="medium",
        sentence=(
            f"CPU {most.cpu} received {100 * share:.0f} % of the packets of {len(rows)} CPUs; it "
            f"dropped {short[0]:,} and ran out of its softirq budget {short[1]:,} times, the "
            "others hardly ever"
            + (f"; one interrupt brings them: {irq.text.split()[0]}" if irq else "")
        ),
        evidence=(most.quote, *((irq,) if irq else ())),
        try_=SPREAD,
    )


def _irq_text(irq: Quote | None) -> str:
    return f"; one interrupt brings them: {irq.text.split()[0]}" if irq else ""


def _alone(most: CpuCounters, rows: list[CpuCounters]) -> bool:
    """Whether that CPU has nearly all drops and squeezes, and some."""
    for name in ("dropped", "time_squeeze"):
        everyone = sum(one.counters.get(name, 0) for one in rows)
        if everyone and most.counters.get(name, 0) >= NEARLY_ALL * everyone:
            return True
    return False


def _one_irq(evidence: Evidence, cpu: int) -> Quote | None:
    """The interrupt that has nearly all on that CPU, if there is one."""
    rows = [one for one in evidence.cpus if "interrupts" in one.counters and ":" in one.name]
    cards = [one for one in rows if one.name.split(":")[0].isdigit()]
    whole = sum(one.counters["interrupts"] for one in cards)
    there = [one for one in cards if one.cpu == cpu]
    most = max(there, key=lambda one: one.counters["interrupts"], default=None)
    if most is None or most.counters["interrupts"] < NEARLY_ALL * whole:
        return None
    return most.quote
