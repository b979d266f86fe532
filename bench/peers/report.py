"""Report of the peers: one table, 80 columns, and a line for what has no figure."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from bench.peers.model import Place, Result
from bench.peers.testpmd import FASTEST, WITHOUT_HUGEPAGES
from linerate.model.environment import Environment
from linerate.report.framed import environment_line
from linerate.report.plain_table import plain_table

EXPLAINED = (
    "the second cycles and Mpps are the peer's; ratio: ours over the peer's, in Mpps;\n"
    "median of the repeats; spread: largest less smallest, of the median"
)


def figure(value: float | None, digits: int = 1) -> str:
    """Write a figure, or that there is none; large ones in thousands or millions."""
    if value is None:
        return "–"
    if value >= 1e6:
        return f"{value / 1e6:.1f}M"
    if value >= 1e4:
        return f"{value / 1e3:.1f}k"
    return f"{value:.{digits}f}"


def _rate(mpps: float | None) -> str:
    """Kernel interfaces do less than a million packets a second."""
    return figure(mpps, 1 if mpps is None or mpps >= 10 else 3)


def print_report(
    console: Console, results: Sequence[Result], environment: Environment, place: Place
) -> None:
    """Print the machine, the table, what is behind a figure, and what is missing."""
    console.print(Text(environment_line(environment), "dim"), soft_wrap=True)
    console.print()
    names = (("name", "left"), ("cycles", "right"), ("Mpps", "right"), ("peer", "left"))
    theirs = ("cycles", "Mpps", "ratio", "spread")
    table = plain_table(*names, *((name, "right") for name in theirs))
    for result in results:
        spread = result.spread_percent
        table.add_row(
            result.name,
            figure(result.clocks_per_packet),
            _rate(result.mpps),
            result.peer or "–",
            figure(result.peer_clocks_per_packet),
            _rate(result.peer_mpps),
            figure(result.ratio, 2),
            "–" if spread is None else f"{spread:.1f} %",
        )
    console.print(table)
    console.print(Text(EXPLAINED, "dim"))
    _notes(console, results, place)


def _notes(console: Console, results: Sequence[Result], place: Place) -> None:
    lines = [line for result in results for line in _behind(result)]
    if any(result.peer == "testpmd" for result in results):
        options = [*FASTEST] if place.hugepages else [*WITHOUT_HUGEPAGES, *FASTEST]
        lines.append(f"testpmd on net_null: {' '.join(options)}")
    # Benchmarks that lack the same prerequisite share a line.
    problems: dict[str, list[str]] = {}
    for result in results:
        if result.problem:
            problems.setdefault(result.problem, []).append(result.name)
    if lines:
        console.print()
        for line in lines:
            console.print(Text(line, "dim"), soft_wrap=True)
    if problems:
        console.print()
        for problem, names in problems.items():
            console.print(Text(f"{', '.join(names)}: {problem}", "yellow"), soft_wrap=True)


def _behind(result: Result) -> list[str]:
    """Say what a figure is made of, in one line."""
    parts = [
        f"{key.removesuffix(' clocks')} {figure(value)}"
        for key, value in result.details.items()
        if key.endswith(" clocks") and not isinstance(value, str) and value
    ]
    if "peer_burst" in result.details and result.peer:
        parts.append(f"peer's best burst {result.details['peer_burst']:g}")
    if "handover_mpps" in result.details:
        parts += [
            f"round trip {result.details['roundtrip_ns']:.0f} ns",
            f"bare hand-over {result.details['handover_mpps']:.1f} Mpps",
        ]
        # Where the kernel is in the way, the cores' hand-over is no measure of it.
        of_handover = result.details["of_handover"]
        if not isinstance(of_handover, str) and of_handover >= 0.05:
            parts.append(f"ours is {of_handover:.2f} of it")
    if "ping_median_us" in result.details:
        parts += [
            f"{result.details['idle_cpu_percent']:.1f} % of a CPU while nothing comes",
            f"ping {result.details['ping_median_us']:.0f} us",
            f"95 % within {result.details['ping_p95_us']:.0f} us",
        ]
    return [f"{result.name}: {', '.join(parts)}"] if parts else []
