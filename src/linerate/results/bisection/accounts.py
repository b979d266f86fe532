"""Accounts of a trial, by which commits are compared: one node, several, all of them, or time."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from linerate.model.bisection import Round, Trial

#: Cycles of a node that is an account of its own, as a share of all nodes' at its most.
NODE_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Account:
    """One figure of each trial; more of it is dearer."""

    name: str
    #: Nodes whose cycles are summed; none: all.
    nodes: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """Unit of its figures."""
        return "ns" if self == TIME else "cycles"

    def of(self, trial: Trial) -> float:
        """Its figure; a node that a trial has not costs nothing."""
        if self == TIME:
            return trial.packet_ns
        return sum(trial.nodes.get(name, 0.0) for name in self.nodes or trial.nodes)


WHOLE = Account("all nodes")
TIME = Account("time a packet")


def of_nodes(names: Sequence[str]) -> Account:
    """The account of some nodes together."""
    return Account(" + ".join(names), tuple(names))


def node_accounts(rounds: Sequence[Round]) -> list[Account]:
    """Nodes that are worth an account, those of either end."""
    trials = [one for each in rounds for one in (each.good, each.bad)]
    names = dict.fromkeys(name for one in trials for name in one.nodes)
    whole = median(map(WHOLE.of, trials))
    found = []
    for name in names:
        account = of_nodes([name])
        most = max(
            median(account.of(one.good) for one in rounds),
            median(account.of(one.bad) for one in rounds),
        )
        if most > NODE_SHARE * whole:
            found.append(account)
    return found
