"""Losses at ports that can't carry packets, and of threads that had no CPU."""

import pytest

from linerate.analysis.explain import explain
from linerate.model.evidence import Conditions, Evidence, Loss, Quote, Worker
from linerate.model.loss_causes import cause_of

QUOTE = Quote(source="ports", line=1, text="")


def evidence(place: str, lost: int, **more: object) -> Evidence:
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
    return Evidence(conditions=conditions, losses=tuple(losses)).model_copy(update=more)


DOWN = (Quote(source="ports", line=1, text="e1 (eth2): link down"),)
SHORT = (Quote(source="ports", line=1, text="e1 (eth2): MTU 1000, packets of 1500 bytes"),)


@pytest.mark.parametrize("place", ["e1: tx errors: refused by the driver", "ip: no route", ""])
def test_losses_at_a_port_without_a_link(place):
    verdict = explain(evidence(place, 900, unplugged=DOWN))
    assert verdict.limit == "link"
    assert "90.00 % of the packets sent were lost in the device" in verdict.sentence
    assert "e1 (eth2): link down" in verdict.sentence


@pytest.mark.parametrize("place", ["e1: not sent by the kernel, but left in the packet socket", ""])
def test_losses_at_a_port_with_a_short_mtu(place):
    verdict = explain(evidence(place, 900, short_mtus=SHORT))
    assert verdict.limit == "configuration"
    assert "e1 (eth2): MTU 1000, packets of 1500 bytes" in verdict.sentence


@pytest.mark.parametrize("ports", ["unplugged", "short_mtus"])
def test_losses_elsewhere_have_their_own_reason(ports):
    found = explain(evidence("e10: rx missed", 900, **{ports: DOWN}))
    assert found.limit == "rx-ring"
    assert explain(evidence("", 0, **{ports: DOWN})).limit == "none"


def waiting(percent: float, place: str = "e0: packet socket full, or not polled") -> Evidence:
    worker = Worker(name="rte-worker-1", waited_percent=percent, quote=QUOTE)
    return evidence(place, 900, workers=(worker,))


def test_a_thread_without_its_cpu_is_why_a_ring_was_full():
    verdict = explain(waiting(60))
    assert verdict.limit == "descheduled"
    assert "60 % of the time" in verdict.sentence
    assert explain(waiting(2)).limit == "rx-ring"
    # 90 % are lost: not since it was away for 30 %.
    assert explain(waiting(30)).limit == "rx-ring"
    assert explain(waiting(60, "ip: no route")).limit == "configuration"


def test_a_full_table_of_connections_is_a_setting():
    verdict = explain(evidence("conntrack: no room for a new connection", 900))
    assert verdict.limit == "configuration"
    assert "900 at conntrack: no room for a new connection" in verdict.sentence
    assert "nf_conntrack_max" in verdict.try_[0]
