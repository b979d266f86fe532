"""Losses at a port that can't carry packets, and of threads that had no CPU."""

import pytest

from linerate.analysis.explain import explain
from linerate.model.evidence import Conditions, Evidence, Loss, PortState, Quote, Worker
from linerate.model.loss_causes import cause_of

QUOTE = Quote(source="ports", line=1, text="")


def evidence(place: str, lost: int, limit: str = "link", **more: object) -> Evidence:
    conditions = Conditions(
        frame_bytes=64,
        directions=1,
        link_bps=10**9,
        flows="many",
        protocol="ipv4",
        asked_pps=1e5,
        offered_pps=1e5,
        received_pps=1e5 * (1 - lost / 1000),
        sent_packets=1000,
        received_packets=1000 - lost,
        quote=QUOTE,
    )
    losses = [Loss(place=place, cause=cause_of(place), packets=lost, quote=QUOTE)] if place else []
    states = (PortState(port="e1", limit=limit, text="whose link is down", quote=QUOTE),)
    return Evidence(conditions=conditions, losses=losses, port_states=states).model_copy(
        update=more
    )


@pytest.mark.parametrize(
    "place",
    ["e1: tx errors: refused by the driver", "between e1 and t1: cable, link or pause frames", ""],
)
@pytest.mark.parametrize("limit", ["link", "configuration"])
def test_what_is_lost_at_that_port_is_lost_for_its_state(place, limit):
    verdict = explain(evidence(place, 900, limit))
    assert verdict.limit == limit
    assert "at e1, whose link is down" in verdict.sentence


def test_what_is_lost_elsewhere_has_its_own_reason():
    assert explain(evidence("ip: no route", 900)).limit == "configuration"
    assert "no route" in explain(evidence("e10: nft x drops ip: no route", 900)).sentence


def test_nothing_lost_is_no_ones_fault():
    assert explain(evidence("", 0)).limit == "none"


def waiting(percent: float, place: str = "e0: packet socket full, or not polled") -> Evidence:
    worker = Worker(name="rte-worker-1", waited_percent=percent, quote=QUOTE)
    return evidence(place, 900, port_states=(), workers=(worker,))


def test_a_thread_without_its_cpu_is_why_a_ring_was_full():
    verdict = explain(waiting(60))
    assert verdict.limit == "descheduled"
    assert "60 % of the time" in verdict.sentence
    assert explain(waiting(2)).limit == "rx-ring"
    # 90 % are lost: not since it was away for 30 %.
    assert explain(waiting(30)).limit == "rx-ring"
    assert explain(waiting(60, "ip: no route")).limit == "configuration"
