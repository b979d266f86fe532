"""Meaning of each drop reason of the engine: read from its sources, so that none is missed."""

import re
from pathlib import Path

import pytest

from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.model.loss_causes import cause_of

NODES = Path(__file__).parents[2] / "engine" / "node"
#: Counted beside packets that go on, and a sink that is what was measured.
NO_LOSS = ("ip4-frag: fragmented", "rxonly: received")
#: Something was lacking: no configuration helps.
FOR_WANT = (
    "no free tx slots",
    "handoff ring full",
    "no room to delay",
    "no buffer",
    "no headroom",
)


def drop_reasons():
    """Places as the ledger names them: `ip4-lookup: no route`."""
    for path in sorted(NODES.rglob("*.c")):
        for listed in re.findall(r"\.reasons = \{(.*?)\}", path.read_text(), re.DOTALL):
            for reason in re.findall(r'"([^"]*)"', listed):
                yield f"{path.stem.replace('_', '-')}: {reason}"


def test_the_sources_are_read():
    assert "ip4-lookup: no route" in list(drop_reasons())


@pytest.mark.parametrize("place", [place for place in drop_reasons() if place not in NO_LOSS])
def test_each_reason_is_configured_damaged_or_a_want(place):
    for_want = any(words in place for words in FOR_WANT)
    assert (cause_of(place) not in ("configuration", "damaged", "other")) == for_want
    assert cause_of(place) != "other"


@pytest.mark.parametrize(
    "place",
    [
        "vlan-input: unknown vlan",
        "ethernet-input: ip6 disabled on the interface",
        "ethernet-input: l3 mac mismatch",
        "ip4-lookup: no route",
        "ip4-lookup: multicast destination",
        "l2switch: port is not in the vlan",
        "card0 port 0: oversize frame",
        "e0: rx longer than max_frame_bytes",
    ],
)
def test_all_lost_by_configuration_is_configuration(evidence, place):
    measurement = evidence(losses={place: 74_404_762})
    verdict = explain(evidence_of(measurement, "U2", "evidence/U2.json", ()))
    assert verdict.limit == "configuration"
    assert place in verdict.sentence
