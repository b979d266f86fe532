"""A commit between good and bad: above or below the middle of the two."""

from collections.abc import Sequence
from typing import Literal

from linerate.model.bisection import Round
from linerate.results.bisection.ends import Followed
from linerate.results.statistics import signed_rank_p

Side = Literal["above", "below"]


def side_of(rounds: Sequence[Round], by: Followed, error: float) -> Side | None:
    """The side of the rounds' commit; None where it can't be distinguished yet.

    Only one of the two can be an error, so each is tested with all of it.
    """
    halfway, measured = placed(rounds, by)
    if signed_rank_p(halfway, measured) <= error:
        return "above"
    if signed_rank_p(measured, halfway) <= error:
        return "below"
    return None


def placed(rounds: Sequence[Round], by: Followed) -> tuple[list[float], list[float]]:
    """By round: the figure halfway from good to bad, and that of the commit between."""
    whole = [(one, one.middle) for one in rounds if one.middle is not None]
    return [_halfway(one, by) for one, _ in whole], [by.account.of(middle) for _, middle in whole]


def _halfway(one: Round, by: Followed) -> float:
    return (by.account.of(one.good) + by.account.of(one.bad)) / 2
