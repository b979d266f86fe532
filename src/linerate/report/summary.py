"""Text that all reports share: the order of tests, the machine, the command."""

import shlex

from linerate.model.findings import faults
from linerate.model.testbed import Dut
from linerate.results.store import Result, Run


def most_limited(run: Run) -> list[Result]:
    """Valid results, the one that falls furthest short of the line first."""
    valid = [result for result in run.reported() if result.valid]
    return sorted(valid, key=lambda result: result.line_percent)


def at_line(result: Result) -> bool:
    """Whether nothing but the line keeps a rate from being higher."""
    return result.verdict.limit == "line" and not result.verdict.also


def _device(dut: Dut) -> str:
    """Its name; how it waits for packets, where that is known."""
    return f"{dut.name}, rx mode {dut.rx_mode}" if dut.built_in else dut.name


def about(run: Run) -> tuple[tuple[str, str], ...]:
    """Environment and command, what is unknown left out."""
    environment, testbed = run.environment, run.testbed
    nice = environment.autogroup_nice
    pairs = (
        ("command", shlex.join(("linerate", *run.command[1:]))),
        ("started", f"{run.started:%Y-%m-%d %H:%M:%S %Z}"),
        ("finished", f"{run.finished:%Y-%m-%d %H:%M:%S %Z}" if run.finished else ""),
        ("testbed", testbed.name),
        ("device under test", _device(testbed.dut)),
        ("its workers", str(testbed.dut.workers) if testbed.dut.built_in else ""),
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
        ("host", environment.hostname),
        ("linerate", environment.linerate),
        ("commit", environment.commit),
    )
    return tuple((name, value) for name, value in pairs if value)
