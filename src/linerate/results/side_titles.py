"""Names of compared devices by what differs between them: `router` and `io`, two kernels."""

from collections.abc import Sequence

from linerate.base.line_rate import format_bps
from linerate.model.nic_presets import PRESETS
from linerate.results.store import Run

#: Differences that a title names at most; the table of conditions has all.
NAMED_MAX = 2


def titles(runs: Sequence[Run], names: Sequence[str]) -> list[str]:
    """A title for each run; its folder's name where nothing known differs."""
    found = [_traits(run) for run in runs]
    differing = [
        trait for trait in found[0] if len({traits[trait] for traits in found}) == len(found)
    ]
    # One trait that is another on each is enough.
    chosen = differing[:1] or _several(found)
    if not chosen:
        return list(names)
    return [", ".join(filter(None, (traits[trait] for trait in chosen))) for traits in found]


def _several(found: list[dict[str, str]]) -> list[str]:
    """The first traits that are another on each only together."""
    chosen = [name for name in found[0] if len({traits[name] for traits in found}) > 1][:NAMED_MAX]
    kinds = {tuple(traits[name] for name in chosen) for traits in found}
    return chosen if len(kinds) == len(found) else []


def _traits(run: Run) -> dict[str, str]:
    """By kind, in words that stand by themselves; what matters most first."""
    testbed, environment = run.testbed, run.environment
    dut = testbed.dut
    workers = f"{dut.workers} worker{'s' * (dut.workers > 1)}"
    return {
        "dut": dut.name,
        "workers": workers,
        "rx mode": f"rx mode {dut.rx_mode}",
        "threading": f"{dut.threading}",
        "wire": f"over {testbed.wire}",
        "card": _card(run),
        "kernel": f"kernel {environment.kernel}",
        "DPDK": environment.dpdk,
        "linerate": f"linerate {environment.linerate}",
        "commit": f"commit {environment.commit}" if environment.commit else "",
        "host": f"host {environment.hostname}" if environment.hostname else "",
        "CPU": environment.cpu_model,
        "testbed": f"testbed {testbed.name}",
    }


def _card(run: Run) -> str:
    testbed = run.testbed
    if testbed.wire != "card":
        return f"links of {format_bps(testbed.line_bps)}"
    known = [name for name, preset in PRESETS.items() if preset == testbed.card]
    return f"card {known[0] if known else format_bps(testbed.card.link_bps)}"
