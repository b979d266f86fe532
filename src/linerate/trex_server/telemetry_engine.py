"""The engine over its telemetry, as the server asks it."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from linerate.base.atomic_write import write_whole
from linerate.base.line_rate import FCS_BYTES
from linerate.engine.frame_capture import CaptureOrder
from linerate.engine.telemetry import Telemetry
from linerate.trex_server.port_capture import TelemetryCapture
from linerate.trex_server.reported import reported
from linerate.trex_server.traffic_engine import (
    EngineStream,
    PortCapture,
    PortCounters,
    PortInfo,
    ProfileState,
    StreamCounters,
    StreamLatency,
    TrafficEngineError,
    Utilization,
)

#: Losses at a port, as errors of its direction.
RX_ERRORS = ("rx_missed", "rx_no_mbuf")
TX_ERRORS = ("tx_full",)
#: Bytes of a frame in one command, which has 1,023 characters.
PART_BYTES = 448
#: A stream or a profile can't be scaled further.
SCALE_MAX = 1e9


class TelemetryEngine:
    """A running engine whose tester takes profiles."""

    def __init__(
        self,
        telemetry: Telemetry,
        ports: Sequence[str],
        next_macs: Mapping[str, str],
        folder: Path,
    ) -> None:
        """`next_macs` say where a port's frames go; `folder` is ours alone, for streams' files."""
        self._telemetry = telemetry
        self._names = tuple(ports)
        self._next_macs = next_macs
        self._file = folder / "profile.json"
        workers = self._table("/linerate/workers")
        self._worker = next(str(row["name"]) for row in workers if row["role"] != "forwarder")
        self._busy, self._busy_at = 0, 0

    def ports(self) -> list[PortInfo]:
        """Tester ports, in the order of their numbers."""
        rows = {row["name"]: row for row in self._table("/linerate/ports")}
        links = {row["name"]: row for row in self._table("/linerate/links")}
        return [
            PortInfo(
                name=name,
                driver=str(rows[name]["driver"]),
                mac=str(rows[name]["mac"]).lower(),
                link_bps=int(rows[name]["link_bps"]),
                link_up=links.get(name, {}).get("state", "up") == "up",
                next_mac=self._next_macs.get(name, "00:00:00:00:00:00"),
            )
            for name in self._names
        ]

    def counters(self) -> dict[str, PortCounters]:
        """By port."""
        return {name: _counters(self._ask(f"/linerate/port,{name}")) for name in self._names}

    def utilization(self) -> Utilization:
        """Busy share of the tester's worker since the last reading."""
        runtime = self._ask(f"/linerate/runtime,{self._worker}")
        busy, now = sum(runtime["clocks"]), int(runtime["tsc"])
        cycles = now - self._busy_at
        percent = 100 * (busy - self._busy) / cycles if self._busy_at and cycles > 0 else 0.0
        self._busy, self._busy_at = busy, now
        return Utilization(round(max(0.0, min(100.0, percent)), 2))

    def load(self, port: str, profile: str, streams: Sequence[EngineStream]) -> None:
        """Add streams to a profile, by a file."""
        write_whole(self._file, json.dumps({"streams": list(streams)}))
        try:
            self._profile("load", port, profile, file=self._file)
        finally:
            self._file.unlink(missing_ok=True)

    def remove(self, port: str, profile: str) -> None:
        """Remove a profile and its streams."""
        self._profile("remove", port, profile)

    def start(
        self,
        port: str,
        profile: str,
        scale: float,
        duration_us: int | None = None,
        at_us: int | None = None,
    ) -> None:
        """Start a profile."""
        given = {"duration_us": duration_us, "at_us": at_us}
        more = {key: value for key, value in given.items() if value is not None}
        self._profile("start", port, profile, scale=_decimal(scale), **more)

    def stop(self, port: str, profile: str) -> None:
        """Stop sending."""
        self._profile("stop", port, profile)

    def pause(self, port: str, profile: str) -> None:
        """Hold all its streams."""
        self._profile("pause", port, profile)

    def resume(self, port: str, profile: str) -> None:
        """Let them go on."""
        self._profile("resume", port, profile)

    def set_rate(self, port: str, profile: str, scale: float) -> None:
        """Give a running profile another scale."""
        self._profile("rate", port, profile, scale=_decimal(scale))

    def set_stream_rate(self, port: str, profile: str, stream: str, scale: float) -> None:
        """Give one of its streams a scale of its own."""
        self._profile("rate", port, profile, stream=stream, scale=_decimal(scale))

    def inject(self, port: str, frames: Sequence[bytes]) -> None:
        """Send frames, each in as many parts as it needs."""
        for frame in frames:
            parts = [frame[at : at + PART_BYTES] for at in range(0, len(frame), PART_BYTES)]
            for number, part in enumerate(parts, 1):
                more = int(number < len(parts))
                self._ask(f"/linerate/inject,port={port},id=1,more={more},frame={part.hex()}")

    def capture(self, order: CaptureOrder) -> PortCapture:
        """Start a capture."""
        return TelemetryCapture(self._telemetry, order)

    def set_addresses(self, port: str, addresses: Sequence[str], vlan: Sequence[int]) -> None:
        """Replace all addresses of a port, the testbed's too."""
        words = "".join(f",ip{6 if ':' in one else 4}={one}" for one in addresses)
        if not words:
            self._ask(f"/linerate/responder/remove,port={port}")
            return
        tags = f",vlan={':'.join(map(str, vlan))}" if vlan else ""
        self._ask(f"/linerate/responder/set,port={port}{words}{tags}")

    def profile_states(self) -> dict[tuple[str, str], ProfileState]:
        """By port and profile."""
        return {
            (str(row["port"]), str(row["profile"])): cast(ProfileState, row["state"])
            for row in self._table("/linerate/profiles")
        }

    def streams(self) -> dict[str, StreamCounters]:
        """By the stream's name."""
        received: dict[str, dict[str, tuple[int, int]]] = {}
        for row in self._chunks("/linerate/streams/received"):
            ports = received.setdefault(str(row["name"]), {})
            ports[str(row["port"])] = (int(row["received"]), int(row["rx_bytes"]))
        return {
            str(row["name"]): StreamCounters(
                sent=int(row["sent"]),
                lost=int(row["lost"]),
                duplicated=int(row["duplicated"]),
                out_of_order=int(row["out_of_order"]),
                received=received.get(str(row["name"]), {}),
            )
            for row in self._all_streams()
        }

    def latencies(self, names: Iterable[str]) -> dict[str, StreamLatency]:
        """Latency of these latency streams, by name."""
        wanted = frozenset(names)
        figures = {
            str(row["name"]): row
            for row in self._chunks("/linerate/latency/figures")
            if row["name"] in wanted
        }
        numbers = {str(row["name"]): number for number, row in enumerate(self._all_streams())}
        return {name: self._latency(row, numbers[name]) for name, row in figures.items()}

    def _latency(self, row: Mapping[str, Any], number: int) -> StreamLatency:
        return StreamLatency(
            count=int(row["count"]),
            min_ns=int(row["min"]),
            max_ns=int(row["max"]),
            sum_ns=int(row["sum"]),
            jitter_sum_ns=int(row["jitter_sum"]),
            jitter_count=int(row["jitter_count"]),
            buckets=tuple(self._buckets(number)),
            last_max_us=int(row["last_max"]) / 1000,
        )

    def _buckets(self, number: int) -> Iterator[tuple[int, int]]:
        """Those of frames that were not disturbed, as all the figures are."""
        first = 0
        while True:
            reply = self._ask(f"/linerate/latency,{number},{first}")
            for bucket, packets in zip(reply["bucket"], reply["packets"], strict=True):
                if packets:
                    yield int(bucket), int(packets)
            # Buckets come in their order: one that does not go on would never end.
            if int(reply["next"]) <= first:
                return
            first = int(reply["next"])

    def _all_streams(self) -> Iterator[dict[str, Any]]:
        first = 0
        while rows := self._table(f"/linerate/streams,{first}"):
            yield from rows
            first += len(rows)

    def _chunks(self, command: str) -> Iterator[dict[str, Any]]:
        """Rows of a table that comes in parts."""
        first = 0
        while True:
            answer = self._ask(f"{command},{first}")
            columns = {key: value for key, value in answer.items() if isinstance(value, list)}
            for values in zip(*columns.values(), strict=True):
                yield dict(zip(columns, values, strict=True))
            if int(answer["next"]) <= first:
                return
            first = int(answer["next"])

    def _profile(self, action: str, port: str, profile: str, **given: object) -> None:
        words = "".join(f",{key}={value}" for key, value in given.items())
        self._ask(f"/linerate/profiles/{action},port={port},profile={profile}{words}")

    def _ask(self, command: str) -> Any:  # noqa: ANN401 (as Telemetry's)
        return reported(lambda: self._telemetry.ask(command))

    def _table(self, command: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = reported(lambda: self._telemetry.table(command))
        return rows


def _counters(answer: Mapping[str, Any]) -> PortCounters:
    numbers = {name: value for name, value in answer.items() if isinstance(value, int)}
    tx, rx = numbers["tx_packets"], numbers["rx_packets"]
    return PortCounters(
        tx_packets=tx,
        rx_packets=rx,
        tx_bytes=numbers["tx_bytes"] - FCS_BYTES * tx,
        rx_bytes=numbers["rx_bytes"] - FCS_BYTES * rx,
        tx_errors=sum(numbers.get(name, 0) for name in TX_ERRORS),
        rx_errors=sum(numbers.get(name, 0) for name in RX_ERRORS),
        extended=numbers,
    )


def _decimal(scale: float) -> str:
    """Without an exponent, as the engine reads it anywhere."""
    if not 0 <= scale <= SCALE_MAX:
        raise TrafficEngineError(f"scale {scale:g}: expected up to {SCALE_MAX:g}")
    return f"{scale:.12f}"
