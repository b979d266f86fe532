"""Series of equal commits, resampled from trials of one engine on one machine; changes planted.

`python -m tests.unit.trend_noise` prints the table of docs/trend.md.
"""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import jumpavg

from linerate.results.dataset.row import TrialRow
from linerate.results.trend.changes import Trend, trends
from linerate.results.trend.series import series_of

DATA = Path(__file__).parents[1] / "data" / "trend"
BEGAN = datetime(2026, 11, 1, tzinfo=UTC)
Row = dict[str, Any]
#: Trials of a commit, out of all that were recorded.
Draw = Callable[[random.Random, list[Row], int], list[Row]]


def recorded(name: str = "noise.json") -> list[Row]:
    """Valid trials, in the order in which they were measured."""
    found = json.loads((DATA / name).read_text())["trials"]
    return [one for one in found if one["valid"]]


def in_turn(chance: random.Random, pool: list[Row], trials: int) -> list[Row]:
    """As a campaign measures: trials of one commit lie far from each other."""
    return chance.choices(pool, k=trials)


def in_a_row(chance: random.Random, pool: list[Row], trials: int) -> list[Row]:
    """As a nightly run measures: trials of one commit share what the machine did."""
    start = chance.randrange(len(pool) - trials + 1)
    return pool[start : start + trials]


def commits(
    seed: int,
    number: int = 40,
    trials: int = 5,
    draw: Draw = in_turn,
    pool: list[Row] | None = None,
) -> list[list[Row]]:
    """Equal commits."""
    chance = random.Random(seed)
    known = recorded() if pool is None else pool
    return [draw(chance, known, trials) for _ in range(number)]


def planted(found: list[list[Row]], first: int, node: str, percent: float) -> list[list[Row]]:
    """The same with a node that costs more from a commit (the first is 1) on: so much of all nodes."""
    whole = median(sum(one["nodes"].values()) for trials in found for one in trials)
    more = percent / 100 * whole
    return [
        [_dearer(one, node, more) if at >= first else one for one in trials]
        for at, trials in enumerate(found, start=1)
    ]


def _dearer(trial: Row, node: str, cycles: float) -> Row:
    nodes = trial["nodes"]
    return {**trial, "nodes": {**nodes, node: nodes.get(node, 0.0) + cycles}}


def rows(found: list[list[Row]], **same: Any) -> list[TrialRow]:
    """As a dataset has them; commits are named c01, c02, …"""
    return [
        row(trial, at, number, **same)
        for at, trials in enumerate(found, start=1)
        for number, trial in enumerate(trials, start=1)
    ]


def row(trial: Mapping[str, Any], place: int, repeat: int, /, **same: Any) -> TrialRow:
    """One trial of a commit, a day after the commit before."""
    about: Row = {
        "unit_key": f"{place}-{repeat}",
        "trial": "U2",
        "run": f"run-{place}-{repeat}",
        "started": BEGAN + timedelta(days=place, minutes=repeat),
        "command": "bench",
        "device": "router",
        "commit": f"c{place:02}",
        "scenario": "ip4-route",
        "loadtest": "U2",
        "frame_bytes": 64.0,
        "testbed": "lab-a",
        "cpu": "EPYC",
        "kernel": "6.1",
        "repeat": repeat,
        "cycles_per_packet": sum(trial["nodes"].values()),
        **{
            name: trial[name]
            for name in (
                "valid",
                "offered_pps",
                "received_pps",
                "duration_s",
                "losses",
                "limit",
                "nodes",
            )
        },
    }
    return TrialRow(**(about | same))


def table(seeds: int = 20, first: int = 23) -> Iterator[str]:
    """By trials a commit: alarms over equal commits, and what is found of a planted change."""
    yield "| measured | trials | jumpavg alone | alarms | new node 4 % | ip4-lookup 4 % | 10 % |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for how, draw in (("in turn", in_turn), ("in a row", in_a_row)):
        for trials in (1, 3, 5, 8):
            equal = [commits(seed, trials=trials, draw=draw) for seed in range(seeds)]
            alone = sum(len(jumpavg.classify(middles(one))) > 1 for one in equal)
            alarms = sum(bool(judged(one).changes) for one in equal)
            found = [
                sum(
                    is_found(judged(planted(one, first, node, percent)), first, node)
                    for one in equal
                )
                for node, percent in (("burn", 4.0), ("ip4-lookup", 4.0), ("ip4-lookup", 10.0))
            ]
            yield f"| {how} | {trials} | {alone} | {alarms} | {' | '.join(map(str, found))} |"


def middles(found: list[list[Row]]) -> list[float]:
    """Median of each commit's cycles a packet."""
    return [median(sum(one["nodes"].values()) for one in trials) for trials in found]


def judged(found: list[list[Row]]) -> Trend:
    (made,) = trends(series_of(rows(found)))
    return made


def is_found(made: Trend, first: int, node: str) -> bool:
    """Whether a change is within one commit, and names the node first."""
    near = [one for one in made.changes if abs(one.at + 1 - first) <= 1]
    return any(one.inside.nodes and one.inside.nodes[0].name == node for one in near)


if __name__ == "__main__":
    for line in table():
        print(line, flush=True)
