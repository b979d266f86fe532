"""A trial of clients' traffic: from the first start of a profile until none sends."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from linerate.base.line_rate import FRAME_BYTES_MIN
from linerate.engine.telemetry import Telemetry
from linerate.lab.driven import Driven
from linerate.lab.recorder import Watched
from linerate.lab.tester import Tester
from linerate.lab.trial import Held
from linerate.model.counting import counted
from linerate.model.measurement import Load, Measurement, Progress
from linerate.model.measurement.latency import latency_since
from linerate.model.suites.offered import Offered, StreamRate
from linerate.model.testbed import Testbed
from linerate.results.journal import Journal
from linerate.trex_server.port import Port
from linerate.trex_server.profiles import Profile
from linerate.trex_server.traffic_engine import PortInfo

FULL_SCALE_PPM = 1_000_000
#: Packets that were not received by then are lost.
DRAIN_SECONDS = 1.0
#: Profiles start and end a little beside the clock that they are asked by.
CLOCK_US = 2000
OFFERED_WITHIN = 0.001


@dataclass(frozen=True, slots=True)
class SentStream:
    """A stream of a trial, as far as its result names it."""

    side: int
    frame_bytes: int
    signed: bool


@dataclass(slots=True)
class _Started:
    """A profile that was started in the trial."""

    #: Since the trial began.
    at_us: int
    #: Packets a second; None: not the same all the time.
    pps: float | None


class SessionTrial:
    """One, from its first reading on."""

    def __init__(self, tester: Tester, journal: Journal, label: str, text: str) -> None:
        """Read all counters; nothing sends yet."""
        self._driven = Driven(tester)
        about: dict[str, str | int] = {"label": label, "loadtest": label, "text": text}
        self._watched = Watched(self._driven, journal, about)
        self._started: dict[tuple[str, str], _Started] = {}
        self._streams: dict[str, SentStream] = {}
        self._links: dict[int, int] = {}
        self._changed = False
        self._silent_since: float | None = None
        self._before, self._left = Held.read(self._watched), tester.ledger()
        # Reading took its time, in which nothing was sent.
        self._began = time.monotonic()
        self._watched.start(0, FULL_SCALE_PPM)
        self._set("running")

    def add(self, port: Port, profile: Profile, scale: float) -> None:
        """Another profile starts."""
        key = (port.info.name, profile.name)
        again = key in self._started
        pps = None if again or not profile.is_even else _pps(profile, port.info, scale)
        self._started[key] = _Started(self._elapsed_us(), pps)
        self._links[port.number] = port.info.link_bps
        for stream in profile.streams.values():
            self._streams[stream.name] = SentStream(
                port.number, stream.document.frame_bytes, stream.name not in profile.unsigned
            )
        self._silent_since = None
        self._set("running")

    def change(self) -> None:
        """Rates change."""
        self._changed = True

    @property
    def is_sending(self) -> bool:
        """Whether something was sending at the last look."""
        return self._silent_since is None

    def look(self, is_sending: bool) -> bool:
        """Take a sample; returns whether the trial is over, and all is drained."""
        if is_sending:
            self._set("running")
            self._watched.progress()
            self._watched.workers()
            return False
        if self._silent_since is None:
            self._silent_since = time.monotonic()
            self._set("draining")
            self._watched.progress()
        late = time.monotonic() - self._silent_since > DRAIN_SECONDS
        return late or self._is_drained()

    def so_far(self, testbed: Testbed) -> Measurement:
        """The measurement while it goes on; no line is written for it."""
        return self._measured(Held.read(self._driven), testbed)

    def ended(self, telemetry: Telemetry, testbed: Testbed) -> Measurement:
        """Read all counters again; the trial is closed."""
        elapsed_us, asked = self._asked(telemetry)
        self._driven.state = Progress(
            trial=1,
            state="done",
            elapsed_us=max(1, elapsed_us),
            asked_packets=asked,
            drained=True,
        )
        self._watched.progress()
        return self._measured(Held.read(self._watched), testbed)

    def _elapsed_us(self) -> int:
        return round((time.monotonic() - self._began) * 1e6)

    def _set(self, state: str) -> None:
        self._driven.state = Progress.model_validate(
            {"trial": 1, "state": state, "elapsed_us": self._elapsed_us()}
        )

    def _is_drained(self) -> bool:
        return not self._driven.ledger().minus(self._left).unexplained

    def _asked(self, telemetry: Telemetry) -> tuple[int, int]:
        """Duration of the sending, and packets asked for; 0: that is not known."""
        ran = {
            (str(row["port"]), str(row["profile"])): int(row["elapsed_us"])
            for row in telemetry.table("/linerate/profiles")
        }
        ends, asked = [0], 0.0
        is_known = not self._changed
        for key, one in self._started.items():
            took = ran.get(key)
            if took is None:
                is_known = False
                continue
            ends.append(one.at_us + took)
            asked += (one.pps or 0.0) * took / 1e6
            is_known = is_known and one.pps is not None
        if max(ends) == 0:
            silent = self._silent_since or time.monotonic()
            ends.append(round((silent - self._began) * 1e6))
        return max(ends), round(asked) if is_known else 0

    def _measured(self, end: Held, testbed: Testbed) -> Measurement:
        seconds = max(1, end.progress.elapsed_us) / 1e6
        grown = {
            name: counters.get("sent", 0)
            - self._before.reading.streams.get(name, {}).get("sent", 0)
            for name, counters in end.reading.streams.items()
        }
        load = self._load(testbed, seconds, grown, end.progress)
        card = testbed.card if testbed.wire == "card" else None
        measured = end.since(self._before, load, card, None)
        # Streams count on from one start to the next.
        latency = latency_since(end.reading.latency, self._before.reading.latency)
        return measured.model_copy(update={"latency": latency})

    def _load(
        self, testbed: Testbed, seconds: float, sent: Mapping[str, int], progress: Progress
    ) -> Load:
        rates = tuple(
            StreamRate(
                name=name,
                side=one.side,
                frame_bytes=one.frame_bytes,
                pps=max(0, sent.get(name, 0)) / seconds,
                signed=one.signed,
            )
            for name, one in self._streams.items()
        )
        offered = Offered(
            profile="trex", text="streams of a TRex client", rate="1x", streams=rates, uneven=True
        )
        return Load(
            frame_bytes=offered.frame_bytes or FRAME_BYTES_MIN,
            directions=max(1, len(self._links)),
            link_bps=max((*self._links.values(), 0)) or testbed.line_bps,
            scale_ppm=FULL_SCALE_PPM,
            duration_us=max(1, progress.elapsed_us),
            counted=counted(testbed),
            offered=offered,
            offered_within=OFFERED_WITHIN + CLOCK_US / 1e6 / seconds,
        )


def _pps(profile: Profile, port: PortInfo, scale: float) -> float:
    scaled, fixed = profile.rates(port.link_bps)
    return (scaled * scale + fixed).pps


def text_of(streams: int) -> str:
    """A trial in words."""
    return f"TRex client: {streams} stream{'s' * (streams != 1)}"
