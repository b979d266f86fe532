"""Run TRex's client for the lab: a request a line of JSON on stdin, a reply a line on stdout.

Started by file with the client's Python; nothing of linerate is imported, and linerate imports
nothing of this: the client brings a scapy, which is GPL. When stdin ends its traffic is stopped and
its ports are released.
"""

import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any

#: A reply that inflates to more ends in an error here, and takes no memory from others; what the
#: client prints of one that it does not understand fills no disk.
MEMORY_BYTES_MAX = 4 << 30
LOG_BYTES_MAX = 16 << 20


class Driver:
    """A connection, and the streams of one trial."""

    def __init__(self, api: Any, server: str, ports: tuple[int, int], timeout_s: int) -> None:  # noqa: ANN401 (a foreign module)
        self._api = api
        sync_port, async_port = ports
        self._client = api.STLClient(
            server=server,
            sync_port=sync_port,
            async_port=async_port,
            verbose_level="none",
            sync_timeout=timeout_s,
            async_timeout=timeout_s,
        )
        self._ports: list[int] = []
        self._streams: list[dict[str, Any]] = []

    def connect(self, ports: list[int]) -> dict[str, Any]:
        """Take the ports, and only if no one else has them."""
        client = self._client
        client.connect()
        there = client.get_all_ports()
        if missing := [port for port in ports if port not in there]:
            raise self._api.STLError(f"no port {missing[0]}: the server has {len(there)}")
        client.acquire(ports=ports, force=False)
        self._ports = ports
        client.stop(ports=ports)
        client.remove_all_streams(ports=ports)
        client.set_port_attr(ports=ports, promiscuous=True)
        info = client.get_port_info(ports=ports)
        return {
            "version": str(client.get_server_version().get("version", "")),
            "drivers": [str(one["driver"]) for one in info],
            "links": [str(one["link"]) for one in info],
            "gbps": [float(one["speed"]) for one in info],
        }

    def start(self, streams: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
        """Send these for so long; counters begin anew."""
        client, ports = self._client, self._ports
        client.stop(ports=ports)
        client.remove_all_streams(ports=ports)
        self._streams = streams
        for port in sorted({one["port"] for one in streams}):
            of_port = [self._stream(one) for one in streams if one["port"] == port]
            client.add_streams(of_port, ports=[port])
        client.clear_stats(ports=ports)
        sending = sorted({one["port"] for one in streams})
        client.start(ports=sending, mult="1", duration=seconds, force=True)
        return {}

    def _stream(self, one: dict[str, Any]) -> Any:  # noqa: ANN401 (a foreign class)
        api = self._api
        vm = []
        for number, field in enumerate(one["fields"]):
            vm.append(
                api.STLVmFlowVar(
                    name=f"v{number}",
                    min_value=field["min"],
                    max_value=field["max"],
                    size=field["size"],
                    step=field["step"],
                    op=field["op"],
                )
            )
            vm.append(api.STLVmWrFlowVar(fv_name=f"v{number}", pkt_offset=field["offset"]))
        if one["fields"] and one["ipv4_offset"] is not None:
            vm.append(api.STLVmFixIpv4(offset=one["ipv4_offset"]))
        stats = api.STLFlowLatencyStats if one["latency"] else api.STLFlowStats
        return api.STLStream(
            name=f"s{one['group']}",
            packet=api.STLPktBuilder(pkt_buffer=bytes.fromhex(one["frame"]), vm=vm or None),
            flow_stats=stats(pg_id=one["group"]),
            mode=api.STLTXCont(pps=one["pps"]),
        )

    def stop(self) -> dict[str, Any]:
        """Stop sending."""
        self._client.stop(ports=self._ports)
        return {}

    def active(self) -> dict[str, Any]:
        """Whether it still sends; the server is not asked."""
        return {"active": bool(self._client.is_traffic_active(ports=self._ports))}

    def counters(self) -> dict[str, Any]:
        """Counters of ports and groups since the start."""
        client = self._client
        ports = client.get_stats(ports=self._ports, sync_now=True)
        names = ("opackets", "ipackets", "obytes", "ibytes", "oerrors", "ierrors")
        groups, timed = self._groups() if self._streams else ({}, {})
        return {
            "ports": [{name: int(ports[port][name]) for name in names} for port in self._ports],
            "groups": groups,
            "latency": timed,
        }

    def _groups(self) -> tuple[dict[int, Any], dict[int, Any]]:
        numbers = [one["group"] for one in self._streams]
        found = self._client.get_pgid_stats(numbers)
        flows, latency = found.get("flow_stats", {}), found.get("latency", {})
        groups = {}
        for one in self._streams:
            flow = flows.get(one["group"])
            if flow is not None:
                groups[one["group"]] = {
                    "sent": int(flow["tx_pkts"].get(one["port"], 0)),
                    "received": int(flow["rx_pkts"].get(one["rx_port"], 0)),
                }
        timed = {number: _times(latency[number]) for number in numbers if number in latency}
        return groups, timed

    def end(self) -> None:
        """Leave no traffic, and no port taken."""
        if self._client.is_connected():
            try:
                self._client.stop(ports=self._ports)
                self._client.remove_all_streams(ports=self._ports)
            finally:
                self._client.disconnect(stop_traffic=True, release_ports=True)


def _times(of_group: dict[str, Any]) -> dict[str, Any]:
    times, errors = of_group["latency"], of_group["err_cntrs"]
    return {
        "average_us": float(times["average"]),
        "min_us": float(times["total_min"]),
        "max_us": float(times["total_max"]),
        "jitter_us": float(times["jitter"]),
        "histogram": [[int(us), int(count)] for us, count in times["histogram"].items()],
        "dropped": int(errors["dropped"]),
        "out_of_order": int(errors["out_of_order"]),
        "duplicated": int(errors["dup"]),
    }


def _one_line(error: BaseException) -> str:
    """The client's message without colours and frames of its code."""
    if hasattr(error, "brief"):
        return " ".join(str(error.brief()).split())[:500]
    # The client looks at few of the server's replies before it uses them.
    text = " ".join(f"{type(error).__name__} {error}".split())
    return f"a reply of the server's that its client can't read ({text[:200]})"


def _limit() -> None:
    """Have bounds that no server's reply is to reach."""
    for which, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES_MAX),
        (resource.RLIMIT_FSIZE, LOG_BYTES_MAX),
    ):
        _, hard = resource.getrlimit(which)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (soft, hard))


def main() -> None:
    """Serve requests until stdin ends."""
    # A terminal's Ctrl-C is for the lab, which closes stdin.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    _limit()
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    import lbr_trex_client  # noqa: F401, PLC0415 (makes `trex` known)
    from trex.stl import api  # noqa: PLC0415

    server, sync_port, async_port, timeout_s = sys.argv[1:5]
    driver = Driver(api, server, (int(sync_port), int(async_port)), int(timeout_s))
    calls: dict[str, Callable[..., dict[str, Any]]] = {
        "connect": driver.connect,
        "start": driver.start,
        "stop": driver.stop,
        "active": driver.active,
        "counters": driver.counters,
    }
    try:
        for line in sys.stdin:
            asked = json.loads(line)
            try:
                reply: dict[str, Any] = {"reply": calls[asked.pop("call")](**asked)}
            except Exception as error:
                reply = {"error": _one_line(error)}
            replies.write(json.dumps(reply) + "\n")
            replies.flush()
    finally:
        driver.end()


if __name__ == "__main__":
    main()
