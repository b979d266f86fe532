"""Loadtests and suites: what to offer, and the streams that offer it. A suite is a file."""

from linerate.model.suites import flowtable, standard
from linerate.model.suites.loadtest import (
    DUT_MACS,
    DUT_PORTS,
    MPLS_LABELS,
    NETWORKS,
    SECOND_DUT_PORTS,
    SECOND_TESTER_PORTS,
    TESTER_MACS,
    TESTER_PORTS,
    Loadtest,
    Protocol,
    Suite,
    Traffic,
    on_one_port,
    streams,
    tester_ports,
)
from linerate.model.suites.offered import Offered, Profiled, StreamRate

__all__ = [
    "DUT_MACS",
    "DUT_PORTS",
    "MPLS_LABELS",
    "NETWORKS",
    "SECOND_DUT_PORTS",
    "SECOND_TESTER_PORTS",
    "SUITES",
    "TESTER_MACS",
    "TESTER_PORTS",
    "Loadtest",
    "Offered",
    "Profiled",
    "Protocol",
    "StreamRate",
    "Suite",
    "Traffic",
    "find",
    "on_one_port",
    "select",
    "streams",
    "tester_ports",
]

SUITES = {suite.name: suite for suite in (standard.SUITE, flowtable.SUITE)}


def find(name: str) -> Suite:
    """Return the suite of that name; raises ValueError."""
    if name not in SUITES:
        raise ValueError(f"no suite '{name}'; expected one of {', '.join(SUITES)}")
    return SUITES[name]


def select(suite: str, only: str | None = None) -> tuple[Loadtest, ...]:
    """Return the suite's loadtests, or those named in `only` (`U1,B2`); raises ValueError.

    Of names with a hyphen the part before it names all that begin so: `imix`.
    """
    loadtests = find(suite).loadtests
    if only is None:
        return loadtests
    wanted = [name.strip() for name in only.split(",") if name.strip()]
    names = [loadtest.name for loadtest in loadtests]
    known = {word for name in names for word in _words(name)}
    if unknown := [name for name in wanted if name.lower() not in known]:
        raise ValueError(f"no loadtest '{unknown[0]}'; expected some of {','.join(names)}")
    if not wanted:
        raise ValueError(f"no loadtest named; expected some of {','.join(names)}")
    chosen = {name.lower() for name in wanted}
    return tuple(one for one in loadtests if not _words(one.name).isdisjoint(chosen))


def _words(name: str) -> set[str]:
    return {name.lower(), name.lower().partition("-")[0]}
