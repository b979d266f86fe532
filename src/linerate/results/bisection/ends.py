"""Good and bad, measured in turn: what became dearer, and by which account it shows best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median
from typing import TypeVar

from linerate.model.bisection import Round
from linerate.results.bisection.accounts import (
    TIME,
    WHOLE,
    Account,
    node_accounts,
    of_nodes,
)
from linerate.results.statistics import signed_rank_p

#: Factor from a median absolute deviation to a normal distribution's standard deviation.
DEVIATIONS = 1.4826
Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Followed:
    """The account by which commits are placed between good and bad."""

    account: Account
    #: Growth from good to bad, in the account's unit.
    size: float
    #: The same in per cent of all nodes' cycles of good; of the time a packet, of that.
    percent: float
    #: Growth over the standard deviation of it in one round.
    clearness: float


def followed(rounds: Sequence[Round], error: float, least_percent: float) -> Followed | None:
    """The clearest account that became dearer by enough; None where none can be distinguished.

    Holm's method over all accounts: nodes both ways, since what one node lost another may have.
    """
    nodes = node_accounts(rounds)
    dearer = {("dearer", one): _dearer_p(one, rounds) for one in (*nodes, WHOLE, TIME)}
    cheaper = {("cheaper", one): _cheaper_p(one, rounds) for one in nodes}
    family = len(dearer) + len(cheaper) + 1  # nodes together
    sure = _beyond_noise({**dearer, **cheaper}, error, family)
    grown = [one for one in nodes if ("dearer", one) in sure]
    shrunk = [one for one in nodes if ("cheaper", one) in sure]
    candidates = [one for one in (WHOLE, TIME) if ("dearer", one) in sure]
    if not shrunk:
        candidates = [*grown, *candidates]
    if grown and len(grown) + len(shrunk) > 1:
        together = of_nodes([one.name for one in (*grown, *shrunk)])
        if _dearer_p(together, rounds) <= error / family:
            candidates.append(together)
    found = [_followed(account, rounds) for account in candidates]
    large = [one for one in found if one.percent >= least_percent]
    return max(large, key=lambda one: one.clearness, default=None)


def growth(account: Account, rounds: Sequence[Round]) -> list[float]:
    """From good to bad in each round that has both."""
    good, bad = _both(account, rounds)
    return [late - early for early, late in zip(good, bad, strict=True)]


def spread(values: Sequence[float]) -> float:
    """Standard deviation, by the median of the deviations: outliers don't count."""
    middle = median(values)
    return DEVIATIONS * median(abs(one - middle) for one in values)


def _followed(account: Account, rounds: Sequence[Round]) -> Followed:
    grown = growth(account, rounds)
    size, noise = median(grown), spread(grown)
    base = TIME if account == TIME else WHOLE
    whole = median(base.of(one.good) for one in rounds)
    return Followed(
        account=account,
        size=size,
        percent=100 * size / whole if whole else 0.0,
        clearness=size / noise if noise else inf,
    )


def _dearer_p(account: Account, rounds: Sequence[Round]) -> float:
    return signed_rank_p(*_both(account, rounds))


def _cheaper_p(account: Account, rounds: Sequence[Round]) -> float:
    good, bad = _both(account, rounds)
    return signed_rank_p(bad, good)


def _both(account: Account, rounds: Sequence[Round]) -> tuple[list[float], list[float]]:
    """Figures of good and of bad, round by round."""
    return [account.of(one.good) for one in rounds], [account.of(one.bad) for one in rounds]


def _beyond_noise(found: Mapping[Key, float], error: float, family: int) -> set[Key]:
    """Holm's method over a family, of which some tests may be missing here."""
    sure: set[Key] = set()
    for rank, (key, p) in enumerate(sorted(found.items(), key=lambda one: one[1])):
        if p > error / (family - rank):
            break
        sure.add(key)
    return sure
