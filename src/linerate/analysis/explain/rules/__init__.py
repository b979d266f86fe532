"""Rules: each names one limit from counters, in a file of its own, registered where it stands.

A rule reads evidence and says nothing when the counters don't.
"""

import importlib
import pkgutil
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

from linerate.analysis.explain.model import Finding, Limit
from linerate.model.evidence import Evidence

Judge = Callable[[Evidence], Finding | None]


class Stage(IntEnum):
    """Precedence of findings."""

    #: The trial has no result.
    VALIDITY = 0
    #: All that was offered, or all that the line carries, came through.
    WHOLE = 1
    #: Most of what is missing was lost at no exhausted resource, or nothing says where.
    MISSING = 2
    #: A resource ran out, by packets lost for it.
    RESOURCE = 3
    #: Signs without losses to go with them.
    SIGN = 4
    #: Findings that count only without any other.
    LAST = 5


class Rule(NamedTuple):
    """One rule."""

    limit: Limit
    stage: Stage
    #: The limit that it is a more precise word for: it counts before that one.
    refines: Limit | None
    #: Where it comes from: a manual, a datasheet, a measurement.
    reference: str
    judge: Judge


_RULES: list[Rule] = []


def rule(
    limit: Limit, stage: Stage, reference: str, refines: Limit | None = None
) -> Callable[[Judge], Judge]:
    """Register a rule."""

    def register(judge: Judge) -> Judge:
        _RULES.append(Rule(limit, stage, refines, reference, judge))
        return judge

    return register


def rules() -> tuple[Rule, ...]:
    """Return all rules, the decisive ones first."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return tuple(sorted(_RULES, key=lambda one: (one.stage, one.limit)))


def precision(one: Rule) -> int:
    """Say how many limits it is a more precise word for, each for the next."""
    refined = {other.limit: other.refines for other in _RULES if other.refines}
    words, limit = 0, one.refines
    while limit is not None:
        words, limit = words + 1, refined.get(limit)
    return words
