"""Readings from linerate-engine's telemetry (docs/telemetry.md)."""

from collections.abc import Mapping
from typing import Any, cast

from linerate.base import histogram
from linerate.engine.telemetry import Telemetry, rows
from linerate.model.ledger import Entry, NodeTime, PacketLedger
from linerate.model.measurement.counters import DropCount, Link, PortSetting, Queues
from linerate.model.measurement.flows import Counters, FlowCounts
from linerate.model.measurement.latency import StreamLatency
from linerate.model.measurement.slices import PlaceLoss, Slice, Slices
from linerate.model.measurement.trial import Progress, Reading, RoundTrip, WorkerReading

#: Streams in one answer of /linerate/streams.
STREAMS_A_CALL = 64


def read_workers(telemetry: Telemetry, tsc_hz: int) -> tuple[WorkerReading, ...]:
    """Each worker's cycles; one command a worker."""
    return tuple(
        worker_reading(row, telemetry.ask(f"/linerate/runtime,{row['name']}"), tsc_hz)
        for row in telemetry.table("/linerate/workers")
    )


def worker_reading(row: dict[str, Any], runtime: dict[str, Any], tsc_hz: int) -> WorkerReading:
    """Join a row of /linerate/workers and that worker's /linerate/runtime."""
    table = rows(runtime, "/linerate/runtime")
    nodes = {
        node["node"]: NodeTime(**{name: node[name] for name in NodeTime.model_fields})
        for node in table
    }
    return WorkerReading(
        name=row["name"],
        cpu=row["cpu"],
        tid=row["tid"],
        role=row["role"],
        tsc_hz=tsc_hz,
        tsc=runtime["tsc"],
        loops=runtime["loops"],
        overhead_clocks=runtime["overhead_clocks"],
        away_clocks=runtime.get("away_clocks", 0),
        sleep_clocks=runtime.get("sleep_clocks", 0),
        nodes=nodes,
        polling=tuple(node["node"] for node in table if node.get("state") == "polling"),
    )


def read_all(telemetry: Telemetry, tsc_hz: int, cards: tuple[str, ...]) -> Reading:
    """All counters. The ledger last: packets may still be on their way into it."""
    drivers = {row["name"]: row["driver"] for row in telemetry.table("/linerate/ports")}
    streams = read_streams(telemetry)
    connections = {} if streams else read_connections(telemetry)
    return Reading(
        workers=read_workers(telemetry, tsc_hz),
        errors=read_errors(telemetry),
        ports={name: _counters(telemetry.ask(f"/linerate/port,{name}")) for name in drivers},
        settings={
            name: read_settings(telemetry, name)
            for name, driver in drivers.items()
            if driver == "ethdev"
        },
        links=read_links(telemetry),
        queues=read_queues(telemetry),
        cards={name: read_card(telemetry, name) for name in cards},
        rings=_named(telemetry.table("/linerate/rings")),
        streams=streams or sent_by_side(connections),
        connections=connections,
        latency=read_latency(telemetry),
        flows=read_flows(telemetry),
        ledger=read_ledger(telemetry),
    )


def read_links(telemetry: Telemetry) -> dict[str, Link]:
    """By port, where its driver says how its link is."""
    return {row["name"]: Link.model_validate(row) for row in telemetry.table("/linerate/links")}


def read_settings(telemetry: Telemetry, port: str) -> tuple[PortSetting, ...]:
    """Requested and actual settings of the port's device."""
    table = telemetry.table(f"/linerate/port/settings,{port}")
    return tuple(PortSetting.model_validate(row) for row in table)


def read_queues(telemetry: Telemetry) -> dict[str, Queues]:
    """By port, as its device took them."""
    return {row["name"]: Queues.model_validate(row) for row in telemetry.table("/linerate/queues")}


def read_card(telemetry: Telemetry, name: str) -> Counters:
    """The card's counters, which are named after its ports; its limits are known."""
    counters = _counters(telemetry.ask(f"/linerate/card,{name}"))
    return {key: value for key, value in counters.items() if key.startswith("port")}


def read_ledger(telemetry: Telemetry) -> PacketLedger:
    """Every place, in path order."""
    table = telemetry.table("/linerate/ledger")
    return PacketLedger(entries=tuple(Entry.model_validate(row) for row in table))


def read_errors(telemetry: Telemetry) -> tuple[DropCount, ...]:
    """Each drop reason that is not 0."""
    return tuple(DropCount.model_validate(row) for row in telemetry.table("/linerate/errors"))


def read_streams(telemetry: Telemetry) -> dict[str, Counters]:
    """Counters of each stream; none when the engine has no tester."""
    found: dict[str, Counters] = {}
    first = 0
    while True:
        table = telemetry.table(f"/linerate/streams,{first}")
        found |= _named(table)
        if len(table) < STREAMS_A_CALL:
            return found
        first += STREAMS_A_CALL


def read_connections(telemetry: Telemetry) -> dict[str, Counters]:
    """Counters of each template of connections; none when there is no tester or it has streams."""
    found: dict[str, Counters] = {}
    while True:
        answer = telemetry.ask(f"/linerate/connections,{len(found)}")
        table = rows(answer, "/linerate/connections")
        found |= _named(table)
        if not table or len(found) >= int(answer["total"]):
            return found


def sent_by_side(templates: dict[str, Counters]) -> dict[str, Counters]:
    """As counters of streams: a template's two sides, by the names that a profile gives them."""
    return {
        f"{name}-{side}": {"sent": counters[f"{side}_packets"]}
        for name, counters in templates.items()
        for side in ("client", "server")
    }


def read_progress(telemetry: Telemetry) -> Progress:
    """Progress of the trial."""
    return Progress.model_validate(telemetry.ask("/linerate/trial"))


def read_slices(telemetry: Telemetry) -> Slices | None:
    """Slices of the last trial; None when it has none."""
    found: list[Slice] = []
    while True:
        answer = telemetry.ask(f"/linerate/trial/slices,{len(found)}")
        table = rows(answer, "/linerate/trial/slices")
        found += (Slice.model_validate(row) for row in table)
        if not table or len(found) >= int(answer["total"]):
            break
    if not found:
        return None
    places = telemetry.table("/linerate/trial/clean")
    return Slices(
        slices=tuple(found), places=tuple(PlaceLoss.model_validate(row) for row in places)
    )


def read_roundtrips(telemetry: Telemetry) -> tuple[RoundTrip, ...]:
    """Measure between the workers; only between trials."""
    table = telemetry.table("/linerate/roundtrip")
    return tuple(RoundTrip.model_validate(row) for row in table)


def _counters(answer: object) -> Counters:
    """Keep the whole numbers of a flat answer: names and limits come from other commands."""
    flat = cast("dict[str, object]", answer if isinstance(answer, dict) else {})
    return {
        name: value
        for name, value in flat.items()
        if isinstance(value, int) and not isinstance(value, bool)
    }


def _named(table: list[dict[str, Any]]) -> dict[str, Counters]:
    return {str(row["name"]): _counters(row) for row in table}


def read_flows(telemetry: Telemetry) -> FlowCounts | None:
    """Read them; None when the engine forwards in another way."""
    if telemetry.ask("/linerate/info").get("mode") != "flowtable":
        return None
    ports = telemetry.table("/linerate/offload")
    return FlowCounts(
        table=_numbers(telemetry.ask("/linerate/flows,top=0")),
        ports={
            str(row["name"]): _numbers(telemetry.ask(f"/linerate/offload,{row['name']}"))
            | {"on": int(row["state"] == "on")}
            for row in ports
        },
    )


def _numbers(answer: Mapping[str, object]) -> Counters:
    return {
        name: value
        for name, value in answer.items()
        if isinstance(value, int) and not isinstance(value, bool)
    }


def read_latency(telemetry: Telemetry) -> tuple[StreamLatency, ...]:
    """Every latency stream since the trial began."""
    return tuple(_read(telemetry, row) for row in telemetry.table("/linerate/latency"))


def _read(telemetry: Telemetry, row: dict[str, Any]) -> StreamLatency:
    clean: list[tuple[int, int]] = []
    disturbed: list[tuple[int, int]] = []
    first = 0
    while True:
        reply = telemetry.ask(f"/linerate/latency,{row['stream']},{first}")
        clean += zip(reply["bucket"], reply["packets"], strict=True)
        disturbed += zip(reply["bucket"], reply["disturbed"], strict=True)
        first = reply["next"]
        if not first:
            break
    return StreamLatency(
        stream=row["name"],
        port=row["port"],
        rx_port=row["rx_port"],
        count=reply["count"],
        min_ns=reply["min"],
        max_ns=reply["max"],
        sum_ns=reply["sum"],
        jitter_sum_ns=reply["jitter_sum"],
        jitter_count=reply["jitter_count"],
        damaged=reply["damaged"],
        disturbed=reply["disturbed_count"],
        disturbed_max_ns=reply["disturbed_max"],
        histogram=_text(clean),
        disturbed_histogram=_text(disturbed),
    )


def _text(buckets: list[tuple[int, int]]) -> str:
    filled = [(bucket, packets) for bucket, packets in buckets if packets]
    return histogram.to_text(histogram.from_buckets(filled)) if filled else ""
