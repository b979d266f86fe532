"""Share of each worker's time: stacked to all of it, a panel for each worker."""

from linerate.model.ledger import ENTRANCES, TimeLedger
from linerate.report.document import Figure, Style, Table, table
from linerate.report.figures.facets import stacked
from linerate.report.figures.picture import (
    BLUE,
    EXITS,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    YELLOW,
)
from linerate.results.store import Result

NAME = "time-shares"
TITLE = "What each worker's time went into"
STYLES = {
    "input": Style(BLUE),
    "forwarding": Style(GREEN),
    "output": Style(ORANGE),
    "idle polls": Style(SKY),
    "loop overhead": Style(YELLOW),
    "descheduled": Style(PURPLE),
    "asleep": Style(GREY),
}


def shares(ledger: TimeLedger) -> dict[str, float]:
    """Per cent of a worker's elapsed cycles; they add up to the total of its ledger."""
    kinds = dict.fromkeys(STYLES, 0)
    for name, node in ledger.nodes.items():
        kinds[_kind(name)] += node.clocks
    kinds["idle polls"] = ledger.idle_clocks
    kinds["loop overhead"] = ledger.overhead_clocks
    kinds["descheduled"] = ledger.away_clocks
    kinds["asleep"] = ledger.sleep_clocks
    return {kind: ledger.percent(spent) for kind, spent in kinds.items()}


def _kind(node: str) -> str:
    if node.startswith(ENTRANCES):
        return "input"
    return "output" if node.startswith(EXITS) else "forwarding"


def picture(results: list[Result]) -> Figure:
    """Valid results, all workers: forwarders first, the tester last."""
    ledgers = {
        (ledger.worker, result.test): ledger for result in results for ledger in result.time_at_load
    }
    if not ledgers:
        return Figure(NAME, TITLE, "", None, "No worker of ours ran: its time is not known.")
    roles = {ledger.worker: ledger.role for ledger in ledgers.values()}
    workers = sorted(roles, key=lambda worker: roles[worker] == "tester")
    tests = [result.test for result in results]
    found = {key: shares(ledger) for key, ledger in ledgers.items()}
    traces = [
        {
            "panel": panel,
            "name": kind,
            "x": tests,
            "y": [found.get((worker, test), {}).get(kind) for test in tests],
            "hovertemplate": f"%{{x}}: {kind} %{{y:.1f}} %<extra></extra>",
            "marker": style.bar,
        }
        for panel, worker in enumerate(workers)
        for kind, style in STYLES.items()
        if any(found.get((worker, test), {}).get(kind) for test in tests)
    ]
    axis = {"title": {"text": "% of the time"}, "range": [0, 100.5]}
    return Figure(
        name=NAME,
        title=TITLE,
        alt=_in_words(workers, tests, found),
        plot=stacked([_named(worker, roles) for worker in workers], traces, axis, tests),
        note=(
            "While packets were sent. Forwarding is every node between input and output; of a "
            "tester, making and checking packets."
        ),
        table=_table(workers, tests, found),
        legend=tuple(item for item in STYLES.items() if _used(item[0], found)),
    )


def _used(kind: str, found: dict[tuple[str, str], dict[str, float]]) -> bool:
    return any(kinds[kind] for kinds in found.values())


def _named(worker: str, roles: dict[str, str]) -> str:
    return worker if roles[worker] == worker else f"{worker} ({roles[worker]})"


def _in_words(
    workers: list[str], tests: list[str], found: dict[tuple[str, str], dict[str, float]]
) -> str:
    parts = []
    for worker in workers:
        idle = [found[worker, test]["idle polls"] for test in tests if (worker, test) in found]
        parts.append(f"{worker} polled idly for {min(idle):.0f} to {max(idle):.0f} % of it")
    return "Share of each worker's time: " + ", ".join(parts) + "."


def _table(
    workers: list[str], tests: list[str], found: dict[tuple[str, str], dict[str, float]]
) -> Table:
    rows = [
        (worker, test, *(f"{found[worker, test][kind]:.1f}" for kind in STYLES))
        for worker in workers
        for test in tests
        if (worker, test) in found
    ]
    return table(
        "Share of each worker's time, per cent",
        ("worker", "test", *STYLES),
        tuple(rows),
        frozenset({0, 1}),
    )
