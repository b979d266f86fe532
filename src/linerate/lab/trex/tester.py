"""The tester on a TRex server: its counters in the words of ours.

TRex counts packets of a group of streams where they are sent and where they are received: what was
damaged, came twice or came late is known of timed streams alone. It knows nothing of disturbed
time, and its cycles are its own.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import Field, ValidationError

from linerate.base import histogram
from linerate.base.errors import SetupError
from linerate.base.frozen_model import FrozenModel
from linerate.host import machine
from linerate.host.cpu_counters import Moment
from linerate.host.machine import Switches
from linerate.lab.trex.client import Client
from linerate.lab.trex.streams import trex_streams
from linerate.model.ledger import Entry, PacketLedger
from linerate.model.measurement import Progress, Reading, Slices, WorkerReading
from linerate.model.measurement.latency import StreamLatency
from linerate.model.measurement.trial import RoundTrip
from linerate.model.suites import TESTER_PORTS

#: Counters are read no more often while it sends: each reading is several of the server's replies.
POLL_SECONDS = 1.0
#: Frames in flight when the server stops have arrived by then.
DRAIN_SECONDS = 0.5


#: A counter of 64 bits, of which a trial fills no eighth.
Count = Annotated[int, Field(ge=0, lt=1 << 61)]
#: A latency, up to days.
Us = Annotated[float, Field(ge=0, lt=1e12, allow_inf_nan=False)]
#: A sender's own first number, and its most streams.
GroupNumber = Annotated[int, Field(ge=1, lt=1 << 32)]
Text = Annotated[str, Field(max_length=80)]


class _About(FrozenModel):
    """Facts of the server and the ports that are taken."""

    version: Text = ""
    drivers: Annotated[tuple[Text, ...], Field(max_length=2)] = ()


class _Active(FrozenModel):
    active: bool


class _Port(FrozenModel):
    opackets: Count
    ipackets: Count
    obytes: Count
    ibytes: Count
    oerrors: Count
    ierrors: Count


class _Group(FrozenModel):
    sent: Count = 0
    received: Count = 0


class _Times(FrozenModel):
    average_us: Us
    min_us: Us
    max_us: Us
    jitter_us: Us
    histogram: tuple[tuple[Count, Count], ...]
    dropped: Count
    out_of_order: Count
    duplicated: Count


class Counted(FrozenModel):
    """Counters of ports, and of groups by their number, since a start."""

    ports: tuple[_Port, _Port]
    groups: dict[GroupNumber, _Group] = {}
    latency: dict[GroupNumber, _Times] = {}


Reply = TypeVar("Reply", bound=FrozenModel)


def checked(kind: type[Reply], reply: Mapping[str, object], what: str) -> Reply:
    """Check a reply; raises SetupError that names `what` it is."""
    try:
        return kind.model_validate(reply)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))[:80]
        raise SetupError(f"TRex's client: unexpected {what}: {where}") from error


def counted(reply: Mapping[str, object]) -> Counted:
    """Counters in a reply; raises SetupError."""
    return checked(Counted, reply, "counters")


class TrexTester:
    """Ports of a server that are ours."""

    def __init__(
        self, client: Client, streams: Sequence[Mapping[str, Any]], link_bps: int,
        ports: tuple[int, int],
    ) -> None:  # fmt: skip
        """Take the ports. `streams` are the engine's; raises SetupError."""
        self._client = client
        self._streams = streams
        self._link_bps = link_bps
        self._ports = ports
        about = checked(_About, client.ask("connect", ports=list(ports)), "server")
        self.tsc_hz = machine.tsc_hz()
        self.info: dict[str, Any] = {
            "layout": f"TRex {about.version} on {', '.join(about.drivers)}; "
            "duplicated and late frames are known of timed streams alone, disturbed time is not",
        }
        self._trial = 0
        self._state = "idle"
        self._began = self._ended = self._read_at = 0.0
        self._duration = 0.0
        self._base: dict[tuple[str, str], int] = {}
        self._now = counted(client.ask("counters"))

    def await_links(self) -> None:
        """Links are the server's; what does not arrive is counted."""

    def readings(self) -> Reading:
        """All counters that it has, as they are now."""
        self._read()
        return Reading(
            ports={
                name: {
                    "rx_packets": port.ipackets,
                    "rx_errors": port.ierrors,
                    "tx_packets": port.opackets,
                    "tx_errors": port.oerrors,
                }
                for name, port in self._by_port(self._total_ports()).items()
            },
            latency=tuple(self._latency()),
            ledger=self._ledger(),
            workers=(),
        )

    def _total_ports(self) -> tuple[_Port, _Port]:
        first, second = (
            _Port(
                **{
                    key: value + self._base.get((name, key), 0)
                    for key, value in port.model_dump().items()
                }
            )
            for name, port in self._by_port(self._now.ports).items()
        )
        return first, second

    def _by_port(self, ports: tuple[_Port, _Port]) -> dict[str, _Port]:
        return dict(zip(TESTER_PORTS, ports, strict=True))

    def ledger(self) -> PacketLedger:
        """Sent and received by port."""
        self._read_if_due()
        return self._ledger()

    def _ledger(self) -> PacketLedger:
        entries = []
        for kind in ("sent", "received", "other"):
            entries += [
                Entry(place=f"trex {name}", kind=kind, packets=self._packets(name, kind))
                for name in TESTER_PORTS
            ]
        return PacketLedger(entries=tuple(entries))

    def _packets(self, port: str, kind: str) -> int:
        return self._base.get((port, kind), 0) + self._since_start(port, kind)

    def _since_start(self, port: str, kind: str) -> int:
        groups = self._now.groups
        sent = received = 0
        for number, stream in enumerate(self._streams, 1):
            group = groups.get(number, _Group())
            sent += group.sent * (stream["port"] == port)
            received += group.received * (stream.get("rx_port", _other(stream)) == port)
        if kind == "other":
            # A neighbour's questions, or frames of a group that came by another port.
            return max(0, self._by_port(self._now.ports)[port].ipackets - received)
        return sent if kind == "sent" else received

    def _latency(self) -> list[StreamLatency]:
        made = []
        for number, stream in enumerate(self._streams, 1):
            times = self._now.latency.get(number)
            if times is None:
                continue
            count = sum(packets for _, packets in times.histogram)
            made.append(
                StreamLatency(
                    stream=str(stream["name"]),
                    port=str(stream["port"]),
                    rx_port=str(stream.get("rx_port", "")),
                    count=count,
                    min_ns=round(1000 * times.min_us),
                    max_ns=round(1000 * times.max_us),
                    sum_ns=round(1000 * times.average_us * count),
                    jitter_sum_ns=round(1000 * times.jitter_us * count),
                    jitter_count=count,
                    histogram=histogram_of(times.histogram),
                )
            )
        return made

    def _read_if_due(self) -> None:
        """At most every `POLL_SECONDS` while it sends; else always."""
        if self._state != "running" or time.monotonic() >= self._read_at + POLL_SECONDS:
            self._read()

    def _read(self) -> None:
        self._now = counted(self._client.ask("counters"))
        self._read_at = time.monotonic()

    def workers(self) -> tuple[WorkerReading, ...]:
        """None: its cycles are its own."""
        return ()

    def roundtrips(self) -> tuple[RoundTrip, ...]:
        """None: it is another machine's."""
        return ()

    def steal_seconds(self) -> dict[str, float]:
        """None: there is no worker of ours."""
        return {}

    def switches(self) -> dict[str, Switches]:
        """None: there is no worker of ours."""
        return {}

    def moments(self) -> dict[str, Moment]:
        """None: there is no worker of ours."""
        return {}

    def kernel_seconds(self) -> dict[str, float]:
        """None: there is no worker of ours."""
        return {}

    def lock_wait_seconds(self) -> dict[str, float]:
        """None: there is no worker of ours."""
        return {}

    def start(self, duration_us: int, scale_ppm: int, clean_us: int = 0) -> None:
        """Start all streams, for a time: which of it was disturbed is not known."""
        del clean_us
        self._read()
        for port, counters in self._by_port(self._now.ports).items():
            for key, value in counters.model_dump().items():
                self._base[port, key] = self._base.get((port, key), 0) + value
            for kind in ("sent", "received", "other"):
                self._base[port, kind] = self._packets(port, kind)
        self._now = Counted(ports=(_NONE, _NONE))
        streams = trex_streams(self._streams, self._link_bps, scale_ppm / 1e6, self._ports)
        self._duration = duration_us / 1e6
        self._client.ask("start", streams=streams, seconds=self._duration)
        self._trial += 1
        self._state, self._began = "running", time.monotonic()
        self._read_at = self._began

    def stop(self) -> None:
        """Stop sending now."""
        self._client.ask("stop")
        if self._state == "running":
            self._duration = min(self._duration, time.monotonic() - self._began)
            self._state, self._ended = "draining", time.monotonic()

    def progress(self) -> Progress:
        """Progress; the time that it sent is what it was asked for, by its own clock."""
        now = time.monotonic()
        active = self._state == "running" and self._is_active()
        if self._state == "running" and not active and now >= self._began + self._duration:
            self._state, self._ended = "draining", now
        if self._state == "draining" and now >= self._ended + DRAIN_SECONDS:
            self._state = "done"
            self._read()
        elif self._state == "running":
            self._read_if_due()
        elapsed = min(now - self._began, self._duration) if self._trial else 0.0
        return Progress.model_validate(
            {
                "trial": self._trial,
                "state": self._state,
                "elapsed_us": round(1e6 * elapsed),
                "sent_packets": sum(self._since_start(port, "sent") for port in TESTER_PORTS),
                "received_packets": sum(
                    self._since_start(port, "received") for port in TESTER_PORTS
                ),
                "drained": self._state == "done",
            }
        )

    def _is_active(self) -> bool:
        return checked(_Active, self._client.ask("active"), "state").active

    def slices(self) -> Slices | None:
        """None: it is not known which time was disturbed."""
        return None


_NONE = _Port(opackets=0, ipackets=0, obytes=0, ibytes=0, oerrors=0, ierrors=0)


def _other(stream: Mapping[str, Any]) -> str:
    return next(name for name in TESTER_PORTS if name != stream["port"])


def histogram_of(buckets: Sequence[tuple[int, int]]) -> str:
    """TRex's buckets, whose names are the least µs in them, as HdrHistogram's text."""
    if not buckets:
        return ""
    made = histogram.from_buckets(())
    for us, packets in buckets:
        value = min(max(1000 * us, histogram.LOWEST_NS), histogram.HIGHEST_NS)
        made.record_value(value, packets)
    return histogram.to_text(made)
