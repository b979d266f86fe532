"""Ceilings: rates that one resource can't exceed, each computed by one function.

All are over all directions that carry traffic, so that they compare with what a
trial received.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator

from linerate.analysis.explain.model import Ceiling
from linerate.model.evidence import Evidence

Compute = Callable[[Evidence], Iterator[Ceiling]]

_CEILINGS: list[Compute] = []


def ceiling(compute: Compute) -> Compute:
    """Register how a ceiling is computed; it yields nothing when a figure is missing."""
    _CEILINGS.append(compute)
    return compute


def ceilings(evidence: Evidence) -> tuple[Ceiling, ...]:
    """Compute every ceiling that can be known, the lowest first."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    found = [one for compute in _CEILINGS for one in compute(evidence)]
    return tuple(sorted(found, key=lambda one: one.mpps))
