"""Packet traces of a live engine: armed, collected, read."""

import time

from linerate.engine.telemetry import Telemetry, rows
from linerate.model.packet_trace import Hop, TracedPacket

#: Pause between two looks at how many packets were traced.
POLL_SECONDS = 0.05
#: As the engine: core/trace.h.
PACKETS_MAX = 100


def _read(telemetry: Telemetry, index: int) -> TracedPacket:
    command = f"/linerate/trace/read,{index}"
    answer = telemetry.ask(command)
    columns = {name: answer[name] for name in ("node", "fused", "next", "reason", "text")}
    return TracedPacket(
        worker=str(answer["worker"]),
        length_bytes=int(answer["length"]),
        frame=bytes.fromhex("".join(answer["frame"])),
        hops=tuple(
            Hop(
                node=str(row["node"]),
                fused=tuple(str(row["fused"]).split()),
                next=str(row["next"]),
                reason=str(row["reason"]),
                text=str(row["text"]),
            )
            for row in rows(columns, command)
        ),
        cut=bool(answer["cut"]),
    )


def trace_packets(
    telemetry: Telemetry, node: str, count: int, seconds: float
) -> list[TracedPacket]:
    """Trace the next `count` packets that come to the node, or those of that many seconds."""
    telemetry.ask(f"/linerate/trace/start,{node},{count}")
    end = time.monotonic() + seconds
    try:
        while telemetry.ask("/linerate/trace/read")["traced"] < count and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
    finally:
        traced = int(telemetry.ask("/linerate/trace/stop")["traced"])
    return [_read(telemetry, index) for index in range(traced)]


def node_names(telemetry: Telemetry) -> list[str]:
    """Nodes that have processed a packet, sorted."""
    names = {
        str(row["node"])
        for worker in telemetry.table("/linerate/workers")
        for row in rows(
            {
                column: telemetry.ask(f"/linerate/runtime,{worker['name']}")[column]
                for column in ("node",)
            },
            "/linerate/runtime",
        )
    }
    return sorted(names)
