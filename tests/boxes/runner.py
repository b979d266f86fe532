"""Runs the places of loss of a box, one trial each."""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from tests.boxes.matrix import Box, Located, Place, begun, located

from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.analysis.validity import reasons
from linerate.lab.rig import Rig
from linerate.lab.tester import Tester
from linerate.lab.trial import run_trial
from linerate.model.evidence import Evidence
from linerate.model.measurement import Load
from linerate.model.suites import NETWORKS, TESTER_MACS, Loadtest, Traffic
from linerate.model.suites.loadtest import Streams, Way
from linerate.model.testbed import Testbed

DEFAULT_TTL = 64
#: An invalid trial is repeated, and one in which others had the box's CPU for so long.
ATTEMPTS = 5
WAITED_PERCENT = 5.0


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


@dataclass(frozen=True, slots=True)
class HeaderTraffic(Traffic):
    """One flow whose IPv4 header is no loadtest's."""

    ttl: int = 64
    #: Don't fragment.
    fixed: bool = False

    def streams(self, way: Way) -> Streams:
        """The frame byte by byte."""
        header_bytes, fcs_bytes = 14, 4
        length = int(self.frame_bytes) - header_bytes - fcs_bytes
        src, dst = (ip_address(f"{NETWORKS[end]}.1").packed for end in (way.here, way.there))
        flags = 0x4000 if self.fixed else 0
        ip4 = struct.pack("!BBHHHBBH4s4s", 0x45, 0, length, 0, flags, self.ttl, 17, 0, src, dst)
        udp = struct.pack("!HHHH", 1025, 12, length - len(ip4), 0)
        macs = (way.dut_mac + TESTER_MACS[way.here]).replace(":", "")
        frame = bytes.fromhex(f"{macs}0800") + ip4 + udp
        stream = way.stream(
            template=frame.ljust(length + header_bytes, b"\0").hex(),
            program={"steps": [{"fix_ipv4_checksum": {"offset": header_bytes}}]},
        )
        return [stream]


def traffic_of(place: Place) -> Traffic:
    """Frames that meet a place."""
    if place.ttl != DEFAULT_TTL or place.dont_fragment:
        return HeaderTraffic(place.frame_bytes, "one", ttl=place.ttl, fixed=place.dont_fragment)
    return Traffic(place.frame_bytes, "many", "mpls" if place.labels else "ipv4")


def run_places(
    box: Box, folder: Path, seconds: float, say: Callable[[str], None], only: str = ""
) -> Iterator[Located]:
    """One trial for each place, with the tester and the way to the box open all the time."""
    rig = Rig(box.testbed, lambda name: folder / name)
    words = only.split("|")
    chosen = [place for place in box.places if any(word in place.name for word in words)]
    with rig.with_box():
        for traffic in dict.fromkeys(traffic_of(place) for place in chosen):
            loadtest = Loadtest("U2", traffic, 1)
            label = f"{box.kind}-{traffic.protocol}-{traffic.frame_bytes}"
            with rig.under_test(loadtest, label) as trials:
                for place in chosen:
                    if traffic_of(place) != traffic:
                        continue
                    say(f"{box.kind}: {place.name}")
                    load = load_of(
                        box.testbed, loadtest, place.load, max(seconds, place.seconds_min)
                    )
                    with begun(box, place):
                        yield _judged(box, place, trials.tester, load)


def _is_disturbed(evidence: Evidence, place: Place) -> bool:
    """Whether a box on this host had no CPU, where that is not what was put in."""
    waited = max((worker.waited_percent or 0.0 for worker in evidence.workers), default=0.0)
    return waited >= WAITED_PERCENT and place.limit != "descheduled"


def _judged(box: Box, place: Place, tester: Tester, load: Load) -> Located:
    for _ in range(ATTEMPTS):
        measurement = run_trial(tester, load, lambda _progress: None)
        invalid = reasons(measurement)
        evidence = evidence_of(measurement, place.name, "measured")
        if place.invalid or not (invalid or _is_disturbed(evidence, place)):
            break
    return located(box.kind, place, measurement, explain(evidence), invalid)
