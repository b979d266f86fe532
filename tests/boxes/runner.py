"""Runs the places of loss of a box, one trial each."""

from collections.abc import Callable, Iterator
from pathlib import Path

from tests.boxes.matrix import Box, Located, Place, begun, located

from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.analysis.validity import reasons
from linerate.lab.rig import Rig
from linerate.lab.tester import Tester
from linerate.lab.trial import run_trial
from linerate.model.measurement import Load
from linerate.model.suites import Loadtest, Traffic
from linerate.model.testbed import Testbed

#: An invalid trial is repeated.
ATTEMPTS = 3


def load_of(testbed: Testbed, loadtest: Loadtest, share: float, seconds: float) -> Load:
    """A share of the line."""
    return Load(
        frame_bytes=loadtest.traffic.frame_bytes,
        directions=loadtest.directions,
        link_bps=testbed.line_bps,
        scale_ppm=round(share * 1e6),
        duration_us=round(seconds * 1e6),
        flows=loadtest.traffic.flows,
        protocol=loadtest.traffic.protocol,
        pushes_back=True,
    )


def traffic_of(place: Place) -> Traffic:
    """Frames that meet a place."""
    return Traffic(place.frame_bytes, "many", "mpls" if place.labels else "ipv4")


def run_places(
    box: Box, folder: Path, seconds: float, say: Callable[[str], None], only: str = ""
) -> Iterator[Located]:
    """One trial for each place, with the tester and the way to the box open all the time."""
    rig = Rig(box.testbed, lambda name: folder / name)
    chosen = [place for place in box.places if only in place.name]
    with rig.with_box():
        for traffic in dict.fromkeys(traffic_of(place) for place in chosen):
            loadtest = Loadtest("U2", traffic, 1)
            label = f"{box.kind}-{traffic.protocol}-{traffic.frame_bytes}"
            with rig.under_test(loadtest, label) as trials:
                for place in chosen:
                    if traffic_of(place) != traffic:
                        continue
                    say(f"{box.kind}: {place.name}")
                    load = load_of(box.testbed, loadtest, place.load, seconds)
                    with begun(box, place):
                        yield _judged(box, place, trials.tester, load)


def _judged(box: Box, place: Place, tester: Tester, load: Load) -> Located:
    for _ in range(ATTEMPTS):
        measurement = run_trial(tester, load, lambda _progress: None)
        invalid = reasons(measurement)
        if not invalid:
            break
    evidence = evidence_of(measurement, place.name, "measured")
    return located(box.kind, place, measurement, explain(evidence), invalid)
