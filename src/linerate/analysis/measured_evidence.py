"""Evidence from a trial of our own: its measurement, as the lab wrote it down."""

from linerate.analysis.explain.reading import AT_RINGS, NOISE_SHARE
from linerate.analysis.host_losses import lost_while_descheduled
from linerate.analysis.json_lines import Path, line_index
from linerate.analysis.validity import doubts, reasons
from linerate.model.evidence import (
    Conditions,
    Evidence,
    FlowOffload,
    Loss,
    Node,
    Port,
    Quote,
    Ring,
    Sibling,
    Tester,
    Worker,
)
from linerate.model.ledger import Counted, Kind, NodeTime, TimeLedger
from linerate.model.loss_causes import cause_of
from linerate.model.measurement import Asked, Counters, Measurement
from linerate.model.suites import TESTER_PORTS
from linerate.parsers.boxes import box_evidence

#: All that is known of a foreign device's worker is one node: the kernel's, testpmd's.
FOREIGN = ("softirq", "testpmd")
#: Nodes that ask for packets in every loop, by how their names begin (docs/telemetry.md).
SOURCES = ("port-rx-", "handoff-rx", "generator-", "txonly", "flowgen", *FOREIGN)


def written(measurement: Measurement) -> str:
    """Write a measurement as it stands in a run's folder."""
    return measurement.model_dump_json(indent=1)


#: Where packets of a kind that counts came.
_WAYS: dict[Counted, str] = {
    "received": "back",
    "consumed": "to their end",
    "other": "by themselves",
}


class _Quotes:
    """Points at lines of one evidence file."""

    def __init__(self, source: str, text: str) -> None:
        self._source = source
        self._lines = line_index(text)

    def at(self, path: Path, message: str) -> Quote:
        """Quote a value, in words."""
        return Quote(source=self._source, line=self._lines.get(path, 1), text=message)


def evidence_of(
    measurement: Measurement,
    trial: str,
    source: str,
    invalid: tuple[str, ...] = (),
    text: str | None = None,
) -> Evidence:
    """Normalise what one trial measured; `source` names the file that holds it, as `text`.

    Without a text, one that is still to be written is quoted.
    """
    quotes = _Quotes(source, written(measurement) if text is None else text)
    counted = _counted(measurement, trial, quotes, invalid)
    if measurement.box is None:
        return counted
    unasked = tuple(quotes.at(("box",), why) for why in measurement.box.doubts)
    return counted.joined(box_evidence(measurement.box)).joined(Evidence(doubts=unasked))


def _counted(
    measurement: Measurement, trial: str, quotes: _Quotes, invalid: tuple[str, ...]
) -> Evidence:
    """Evidence in counters of our own, and in those of a box's that stand in the ledger."""
    losses, noted = _divided(measurement, _losses(measurement, quotes))
    return Evidence(
        trial=trial,
        conditions=_conditions(measurement, quotes),
        workers=tuple(
            _worker(measurement, number, quotes)
            for number, ledger in enumerate(measurement.time_at_load)
            # A box's own words say more of its workers.
            if measurement.box is None or ledger.role == "tester"
        ),
        losses=losses,
        noted=noted,
        rings=tuple(_rings(measurement, quotes)),
        ports=tuple(_ports(measurement, quotes)),
        offload=tuple(_offload(measurement, quotes)),
        card=measurement.card,
        testers=tuple(_testers(measurement, quotes)),
        tester_ceiling_pps=measurement.ceiling_pps,
        invalid=tuple(quotes.at(("progress",), reason) for reason in invalid),
        # Reasons for which it would be invalid, where suspect results are accepted.
        suspect=(*(() if invalid else reasons(measurement)), *doubts(measurement)),
    )


def sibling_of(evidence: Evidence) -> Sibling | None:
    """Say of a trial what another one can be compared with."""
    if evidence.conditions is None or evidence.invalid:
        return None
    clocks = [worker.clocks_per_packet for worker in evidence.workers if worker.role == "worker"]
    return Sibling(
        name=evidence.trial,
        conditions=evidence.conditions,
        clocks_per_packet=max((spent for spent in clocks if spent is not None), default=None),
    )


def _conditions(measurement: Measurement, quotes: _Quotes) -> Conditions:
    load, packets = measurement.load, measurement.packets
    workers = [ledger for ledger in measurement.time if ledger.role in ("forwarder", "both")]
    message = (
        f"{packets.sent:,} packets sent in {measurement.seconds:.3f} s, "
        f"{measurement.came_through:,} came {_WAYS[load.counted]}"
    )
    if measurement.clean is not None:
        message += (
            f"; undisturbed for {measurement.clean.clean_us / 1e6:.3f} s: "
            f"{measurement.judged_sent:,} sent, {measurement.judged_lost:,} of them lost"
        )
    return Conditions(
        **{name: getattr(load, name) for name in Asked.model_fields},
        workers=len(workers) or None,
        asked_pps=measurement.asked_pps,
        offered_pps=measurement.offered.packets_per_second,
        received_pps=measurement.received.packets_per_second,
        sent_packets=measurement.judged_sent,
        received_packets=measurement.judged_sent - measurement.judged_lost
        if measurement.clean
        else measurement.came_through,
        descheduled_packets=lost_while_descheduled(measurement),
        held_packets=max(0, packets.held),
        round_trip_ns=measurement.stamp.round_trip_ns,
        quote=quotes.at(("packets", "entries", "0"), message),
    )


def _worker(measurement: Measurement, number: int, quotes: _Quotes) -> Worker:
    ledger = measurement.time_at_load[number]
    path: Path = ("time_at_load", str(number))
    seconds = ledger.elapsed_clocks / ledger.tsc_hz
    spare = ledger.spare_percent
    name = ledger.worker
    return Worker(
        name=name,
        role="tester" if ledger.role == "tester" else "worker",
        seconds=seconds,
        tsc_hz=ledger.tsc_hz,
        loops_per_second=ledger.loops / seconds if seconds else None,
        nodes=tuple(_nodes(ledger, path, quotes)),
        idle_in_clocks=False,
        spare_percent=spare,
        away_percent=ledger.percent(ledger.away_clocks),
        kernel_percent=measurement.stamp.kernel_percent.get(name),
        lock_wait_percent=measurement.stamp.lock_wait_percent.get(name),
        syscalls_per_packet=None if ledger.role == "tester" else _syscalls(measurement),
        quote=quotes.at(path, f"{name}: {spare:.1f} % of its time with nothing to do"),
    )


def _syscalls(measurement: Measurement) -> float | None:
    """System calls of the device's ports on a packet that came through; None if none counts."""
    counting = [
        counters
        for name, counters in measurement.ports.items()
        if not name.startswith(TESTER_PORTS[0][0])
        and {"rx_syscalls", "tx_syscalls"} & counters.keys()
    ]
    calls = sum(one.get("rx_syscalls", 0) + one.get("tx_syscalls", 0) for one in counting)
    ways = ("rx_packets", "tx_packets")
    packets = max((sum(one.get(way, 0) for one in counting) for way in ways), default=0)
    return calls / packets if packets else None


def _nodes(ledger: TimeLedger, path: Path, quotes: _Quotes) -> list[Node]:
    return [
        Node(
            name=name,
            state="polling" if name.startswith(SOURCES) else "active",
            calls=node.calls,
            vectors=node.vectors,
            clocks_per_packet=node.clocks_per_packet,
            vectors_per_call=node.vectors_per_call or 0.0,
            quote=quotes.at((*path, "nodes", name), _node_text(name, node)),
        )
        for name, node in ledger.nodes.items()
    ]


def _node_text(name: str, node: NodeTime) -> str:
    clocks = node.clocks_per_packet
    spent = "in the node before it" if clocks is None else f"{clocks:.1f} cycles a packet"
    return f"{name}: {node.vectors_per_call or 0:.1f} packets a call, {spent}"


def _testers(measurement: Measurement, quotes: _Quotes) -> list[Tester]:
    """A load tool's two processes share the tester's CPU: what they use of it counts together."""
    tool = measurement.tool
    if tool is None:
        return []
    reported = [used for used in (tool.sender_percent, tool.receiver_percent) if used is not None]
    message = f"{tool.name}: its sender and receiver used {sum(reported):.0f} % of their CPU"
    return [
        Tester(
            name=tool.name,
            sent_packets=measurement.packets.sent,
            received_packets=measurement.packets.received,
            cpu_percent=sum(reported) if reported else None,
            quote=quotes.at(("tool",), message),
        )
    ]


def _losses(measurement: Measurement, quotes: _Quotes) -> list[Loss]:
    return [
        Loss(
            place=entry.place,
            cause=cause_of(entry.place) if entry.kind == "loss" else "configuration",
            packets=judged,
            quote=quotes.at(
                ("packets", "entries", str(number)), f"{entry.place}: {entry.packets:,} packets"
            ),
        )
        for number, entry in enumerate(measurement.packets.entries)
        if entry.kind in _kinds_lost(measurement)
        and (judged := _judged(measurement, entry.place, entry.packets))
    ]


def _divided(
    measurement: Measurement, losses: list[Loss]
) -> tuple[tuple[Loss, ...], tuple[Loss, ...]]:
    """Losses that are judged, and those of a box that are noted alone.

    A box on which other things run finds a ring full now and then at any load: that limits nothing.
    """
    of_rings = [loss for loss in losses if loss.cause in AT_RINGS]
    few = sum(loss.packets for loss in of_rings) <= NOISE_SHARE * measurement.judged_sent
    if measurement.box is None or not few:
        return tuple(losses), ()
    return tuple(loss for loss in losses if loss not in of_rings), tuple(of_rings)


def _judged(measurement: Measurement, place: str, packets: int) -> int:
    """Packets of a place, those of disturbed slices left out.

    Where no slice counted them, in proportion to all that such places lost.
    """
    if measurement.clean is None:
        return packets
    disturbed = measurement.clean.lost_disturbed(place)
    if disturbed is not None:
        return packets - disturbed
    elsewhere = max(0, measurement.lost) - sum(one.lost for one in measurement.clean.places)
    left_out = measurement.left_out - sum(one.lost_disturbed for one in measurement.clean.places)
    return round(packets * (1 - left_out / elsewhere)) if 0 <= left_out < elsewhere else 0


def _kinds_lost(measurement: Measurement) -> tuple[Kind, ...]:
    """Kinds of places that a packet does not come through from.

    Packets consumed by the device are lost, unless they count as its rate, or are answered: then as
    many are received.
    """
    packets = measurement.packets
    ended = measurement.load.counted != "consumed" and packets.consumed > packets.originated
    return ("loss", "consumed") if ended else ("loss",)


def _rings(measurement: Measurement, quotes: _Quotes) -> list[Ring]:
    rings = []
    for name, counters in measurement.rings.items():
        kind, _, ends = name.partition("-")
        if kind != "handoff":
            continue
        # FROM-TO-PRIORITY, the workers by their numbers; older runs have no priority.
        source, destination, priority = [*ends.split("-"), ""][:3]
        dropped = counters.get("dropped", 0)
        message = f"{name}: {dropped:,} packets found it full"
        rings.append(
            Ring(
                source=f"forwarder-{source}",
                destination=f"forwarder-{destination}",
                priority=priority,
                dequeued=counters.get("dequeued", 0),
                used=counters.get("used"),
                size=counters.get("size"),
                enqueued=counters.get("enqueued", 0),
                dropped=dropped,
                quote=quotes.at(("rings", name), message),
            )
        )
    return rings


def _offload(measurement: Measurement, quotes: _Quotes) -> list[FlowOffload]:
    flows = measurement.flows
    if flows is None:
        return []
    busy = 100.0 * flows.programming_seconds / measurement.seconds if measurement.seconds else 0.0
    found = []
    for name, counters in flows.ports.items():
        each_ns = counters.get("create_ns_mean", 0)
        message = (
            f"{name}: {counters.get('rules', 0):,} rules stand, "
            f"{counters.get('full', 0):,} found no room, {counters.get('refused', 0):,} were "
            f"refused; {each_ns / 1e3:,.0f} us a rule; "
            f"{flows.marked_percent:.1f} % of the packets came marked"
        )
        found.append(
            FlowOffload(
                entries=counters.get("rules", 0),
                capacity=counters.get("limit"),
                refused=counters.get("refused", 0),
                rules_per_second=1e9 / each_ns if each_ns else None,
                full=counters.get("full", 0),
                silent=counters.get("silent", 0),
                on=bool(counters.get("on", 1)),
                marked_percent=flows.marked_percent,
                programming_percent=busy,
                quote=quotes.at(("flows", "ports", name), message),
            )
        )
    return found


def _counters_text(name: str, counters: Counters) -> str:
    frames = counters.get("rx_pause", 0)
    pause = f": {frames:,} PAUSE frames received, what is behind it pushes back" if frames else ""
    return f"port {name}{pause}"


def _ports(measurement: Measurement, quotes: _Quotes) -> list[Port]:
    return [
        Port(
            name=name,
            side="tester" if name.startswith("t") else "dut",
            link_bps=measurement.load.link_bps or None,
            rx_packets=counters.get("rx_packets"),
            tx_packets=counters.get("tx_packets"),
            counters=counters,
            quote=quotes.at(("ports", name), _counters_text(name, counters)),
        )
        for name, counters in measurement.ports.items()
    ]
