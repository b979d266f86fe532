"""A simulated device that becomes dearer at a commit; its noise is that of recorded trials."""

import random
from collections.abc import Callable, Sequence

from tests.unit.trend_noise import recorded

from linerate.model.bisection import LeftOut, Round, Trial
from linerate.results.bisection.search import Asked, Bisection, Wanted

COMMITS = [f"{place:040x}" for place in range(1, 41)]
NEW_NODE_PERCENT = 4.0
#: Cycles of each node of a commit, the first being 1, in a trial of that draw.
Cost = Callable[[int, random.Random], dict[str, float]]


def as_recorded(first: int, node: str = "burn", percent: float = NEW_NODE_PERCENT) -> Cost:
    """Recorded trials, with a node that costs more from a commit on.

    The machine makes that dearer and cheaper as it does the other nodes.
    """
    pool = [one["nodes"] for one in recorded()]

    def cost(place: int, chance: random.Random) -> dict[str, float]:
        # Few were recorded: two of one draw are not the same to the last digit.
        drawn = chance.choice(pool)
        nodes = {name: cycles * chance.gauss(1, 0.001) for name, cycles in drawn.items()}
        if place >= first:
            more = percent / 100 * sum(nodes.values()) * chance.gauss(1, 0.05)
            nodes[node] = nodes.get(node, 0.0) + more
        return nodes

    return cost


def moved(at: int, first: int) -> Cost:
    """A node that another one replaces at a commit, and that becomes dearer at a later one."""

    def cost(place: int, chance: random.Random) -> dict[str, float]:
        name = "ip4-lookup" if place < at else "ip4-lookup-fast"
        cycles = 30.0 + 5.0 * (place >= first)
        return {"port-rx": 70 * chance.gauss(1, 0.05), name: cycles * chance.gauss(1, 0.01)}

    return cost


def normal(first: int, percent: float, noise_percent: float, cycles: float = 100.0) -> Cost:
    """One node, whose cycles are normally distributed."""

    def cost(place: int, chance: random.Random) -> dict[str, float]:
        more = percent / 100 * cycles * (place >= first)
        return {"forward": (cycles + more) * (1 + chance.gauss(0, noise_percent / 100))}

    return cost


class Device:
    """Measures rounds; commits at some places can't be built."""

    def __init__(self, cost: Cost, seed: int, unbuilt: Sequence[int] = ()) -> None:
        self._cost = cost
        self._chance = random.Random(seed)
        self._unbuilt = set(unbuilt)
        self.built: set[int] = set()
        self.trials = 0

    def event(self, wanted: Wanted) -> Round | LeftOut:
        """Measure what is wanted."""
        place = COMMITS.index(wanted.commit) + 1 if wanted.commit else 0
        self.built |= {1, len(COMMITS)} | ({place} if place else set())
        if place in self._unbuilt:
            return LeftOut(commit=wanted.commit, reason="no compiler")
        return Round(
            commit=wanted.commit,
            good=self._trial(1),
            middle=self._trial(place) if place else None,
            bad=self._trial(len(COMMITS)),
        )

    def _trial(self, place: int) -> Trial:
        self.trials += 1
        nodes = self._cost(place, self._chance)
        return Trial(nodes=nodes, packet_ns=70.0 + sum(nodes.values()) / 1000)


def bisected(device: Device, asked: Asked | None = None, rounds: int = 10_000) -> Bisection:
    """A bisection that is over, or after a number of rounds."""
    made = Bisection(COMMITS, asked or Asked())
    for _ in range(rounds):
        if (wanted := made.wanted) is None:
            break
        made.take(device.event(wanted))
    return made
