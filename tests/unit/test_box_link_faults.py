"""A Linux box whose port has no link, or another MAC address than frames are sent to."""

import json
from typing import Any

import pytest

from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.model.box import Answer, BoxAnswers
from linerate.parsers.boxes import box_evidence

MAC = "02:00:00:00:0e:00"
OTHER = "02:00:00:00:00:99"


def link(name: str, changes: int = 1, flags: tuple[str, ...] = ("UP",), **more: Any) -> Any:
    """As iproute2 6.1 prints it."""
    stats = {"rx": {"packets": 0}, "tx": {"packets": 0, "carrier_changes": changes}}
    return {"ifname": name, "flags": list(flags), "address": MAC, "stats64": stats, **more}


def box(before: Any, after: Any, **changes: Any) -> BoxAnswers:
    texts = {"before": json.dumps(before), "after": json.dumps(after)}
    answers = tuple(
        Answer(moment=moment, question="ip -s link", command="", asked_us=at, took_us=1, text=text)
        for at, (moment, text) in enumerate(texts.items())
    )
    ports = {"e0": "eth1", "e1": "eth2"}
    return BoxAnswers(kind="linux", at="local", ports=ports, answers=answers, **changes)


def named(given: BoxAnswers) -> list[str]:
    found = box_evidence(given)
    return [quote.text for quote in (*found.unplugged, *found.misaddressed)]


UP = [link("eth1"), link("eth2")]
PULLED = [link("eth1"), link("eth2", 2, ("NO-CARRIER", "UP"))]


def test_a_port_without_a_link_is_named():
    assert named(box(UP, UP)) == []
    assert named(box(PULLED, PULLED)) == ["e1 (eth2): NO-CARRIER"]
    assert named(box(UP, PULLED)) == ["e1 (eth2): NO-CARRIER"]


def test_a_link_that_changed_within_the_trial_is_named():
    back = [link("eth1"), link("eth2", 3)]
    assert named(box(UP, back)) == ["e1 (eth2): its link went up or down 2 times"]


@pytest.mark.parametrize(("sent_to", "promiscuity", "found"), [
    (MAC, 0, []),
    (MAC.upper(), 0, []),
    (OTHER, 0, [f"e0 has the MAC address {MAC}, and frames are sent to {OTHER}"]),
    # It takes all frames: then the kernel counts those of others.
    (OTHER, 1, []),
])  # fmt: skip
def test_an_address_that_frames_are_not_sent_to_is_named(sent_to, promiscuity, found):
    links = [link("eth1", promiscuity=promiscuity), link("eth2")]
    assert named(box(links, links, macs={"e0": sent_to})) == found


@pytest.mark.parametrize("text", ["", "[", "[1, {}]", '[{"ifname": "eth1", "flags": 3}]',
                                  '[{"ifname": "eth1", "stats64": [1]}]'])  # fmt: skip
def test_other_answers_say_nothing(text):
    answers = tuple(
        Answer(moment=moment, question="ip -s link", command="", asked_us=at, took_us=1, text=text)
        for at, moment in enumerate(("before", "after"))
    )
    given = BoxAnswers(kind="linux", at="local", ports={"e0": "eth1"}, macs={"e0": OTHER},
                       answers=answers)  # fmt: skip
    assert named(given) == []


def test_packets_that_vanish_at_a_port_without_a_link_are_its_links(evidence):
    measured = evidence(foreign=True, sent=1000, unexplained=1000)
    assert judged(measured).limit == "unexplained"
    found = judged(measured.model_copy(update={"box": box(PULLED, PULLED)}))
    assert found.limit == "link"
    assert "e1 (eth2): NO-CARRIER" in found.sentence


def test_a_counter_that_has_them_goes_before_a_port_without_a_link(evidence):
    measured = evidence(foreign=True, sent=1000, losses={"nft t f: rule 2 drops": 900})
    found = judged(measured.model_copy(update={"box": box(PULLED, PULLED)}))
    assert found.limit == "configuration"
    assert "NO-CARRIER" not in found.sentence


def test_frames_that_a_card_filters_are_sent_to_a_wrong_address(evidence):
    place = "between t0 and e0: cable, link or pause frames"
    measured = evidence(foreign=True, sent=1000, losses={place: 1000})
    assert judged(measured.model_copy(update={"box": box(UP, UP)})).limit == "link"
    sent_to = {"e0": OTHER, "e1": MAC}
    found = judged(measured.model_copy(update={"box": box(UP, UP, macs=sent_to)}))
    assert found.limit == "configuration"
    assert f"e0 has the MAC address {MAC}, and frames are sent to {OTHER}" in found.sentence
    assert any("dut.macs" in line for line in found.try_)


def judged(measured):
    return explain(evidence_of(measured, "U2", "evidence/U2.json"))
