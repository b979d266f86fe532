"""Text that all reports share: the one sentence, the machine, the command."""

import shlex

from linerate.model.findings import faults
from linerate.results.store import Result, Run


def most_limited(run: Run) -> list[Result]:
    """Valid results, the one that falls furthest short of the line first."""
    valid = [result for result in run.reported() if result.valid]
    return sorted(valid, key=lambda result: result.line_percent)


def headline(run: Run) -> str:
    """The verdict of a run in one sentence."""
    ordered = most_limited(run)
    if not ordered:
        return "No trial has a valid result."
    if len(ordered) > 1 and all(_at_line(result) for result in ordered):
        invalid = len(run.reported()) - len(ordered)
        which = f"All {len(ordered)} tests" if not invalid else f"All {len(ordered)} valid tests"
        return f"{which} are limited by the line alone."
    worst = next((result for result in ordered if not _at_line(result)), ordered[0])
    text = worst.verdict.sentence.rstrip(".")
    return f"{worst.test} ({worst.text}), limited by {worst.verdict.limit}: {text}."


def _at_line(result: Result) -> bool:
    return result.verdict.limit == "line" and not result.verdict.also


def about(run: Run) -> tuple[tuple[str, str], ...]:
    """Environment and command, what is unknown left out."""
    environment, testbed = run.environment, run.testbed
    nice = environment.autogroup_nice
    pairs = (
        ("command", shlex.join(run.command)),
        ("started", f"{run.started:%Y-%m-%d %H:%M:%S %Z}"),
        ("finished", f"{run.finished:%Y-%m-%d %H:%M:%S %Z}" if run.finished else ""),
        ("testbed", testbed.name),
        ("device under test", f"{testbed.dut.mode}, rx mode {testbed.dut.rx_mode}"),
        ("its workers", str(testbed.dut.workers)),
        ("CPU", environment.cpu_model + ", a virtual machine's" * environment.hypervisor),
        ("CPUs used", ", ".join(map(str, environment.cpus))),
        ("layout", environment.layout),
        ("microcode", environment.microcode),
        ("governor", environment.governor),
        ("autogroup nice", "" if nice is None else str(nice)),
        ("kernel", environment.kernel),
        ("system", environment.system),
        ("DPDK", environment.dpdk),
        ("packet memory", environment.memory),
        ("transparent hugepages", environment.transparent_hugepages),
        ("faults of the host", ", ".join(found.name for found in faults(run.host))),
        ("linerate", environment.linerate),
    )
    return tuple((name, value) for name, value in pairs if value)
