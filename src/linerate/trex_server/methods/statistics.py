"""Counters and rates of ports and of the whole tester."""

from typing import Any

from linerate.trex_server.methods.parameters import Nothing, OfPort
from linerate.trex_server.rpc import method
from linerate.trex_server.server import Server

#: Pools of packet buffers as TRex has them. What is free in the engine's is not counted, and a
#: client divides by a pool's size: one buffer, free.
POOLS = ("64b", "128b", "256b", "512b", "1024b", "2048b", "4096b", "9kb")
UNCOUNTED = [1, 1]


@method("get_port_stats", OfPort)
def get_port_stats(server: Server, asked: OfPort) -> dict[str, float]:
    """Counters of one port: bytes without FCS, as TRex counts them."""
    port = server.port(asked.port_id)
    counters = server.engine.counters()[port.info.name]
    rates = port.rates
    return {
        "opackets": counters.tx_packets,
        "ipackets": counters.rx_packets,
        "obytes": counters.tx_bytes,
        "ibytes": counters.rx_bytes,
        "oerrors": counters.tx_errors,
        "ierrors": counters.rx_errors,
        "m_total_tx_pps": rates.tx_pps.rate,
        "m_total_rx_pps": rates.rx_pps.rate,
        "m_total_tx_bps": 8 * rates.tx_bytes.rate,
        "m_total_rx_bps": 8 * rates.rx_bytes.rate,
        "m_cpu_util": server.utilization.cpu_percent,
    }


@method("get_global_stats", Nothing)
def get_global_stats(server: Server, _: Nothing) -> dict[str, float]:
    """Rates of all ports together; what only TRex's stateful mode has is 0."""
    rates = [port.rates for port in server.ports]
    tx_bps = sum(8 * one.tx_bytes.rate for one in rates)
    rx_bps = sum(8 * one.rx_bytes.rate for one in rates)
    tx_pps = sum(one.tx_pps.rate for one in rates)
    cpu = server.utilization.cpu_percent
    stateful = (
        "active_flows", "active_sockets", "open_flows", "socket_util", "total_servers",
        "total_clients", "total_alloc_error", "tx_cps", "tx_expected_cps", "total_queue_drop",
    )  # fmt: skip
    made: dict[str, float] = {f"m_{name}": 0 for name in stateful}
    return made | {
        "m_cpu_util": cpu,
        "m_cpu_util_raw": cpu,
        # One worker sends and receives.
        "m_rx_cpu_util": cpu,
        "m_rx_core_pps": 0,
        "m_bw_per_core": tx_bps / 1e9 / cpu * 100 if cpu else 0.0,
        "m_platform_factor": 1,
        "m_tx_bps": tx_bps,
        "m_tx_pps": tx_pps,
        "m_rx_bps": rx_bps,
        "m_rx_pps": sum(one.rx_pps.rate for one in rates),
        "m_rx_drop_bps": max(0.0, tx_bps - rx_bps),
        "m_tx_expected_bps": tx_bps,
        "m_tx_expected_pps": tx_pps,
        "m_total_queue_full": sum(port.counters.tx_errors for port in server.ports),
    }


@method("get_port_xstats_names", OfPort)
def get_port_xstats_names(server: Server, asked: OfPort) -> dict[str, list[str]]:
    """Names of a port's own counters; the same for all ports, as clients believe."""
    server.port(asked.port_id)
    return {"xstats_names": _names(server)}


@method("get_port_xstats_values", OfPort)
def get_port_xstats_values(server: Server, asked: OfPort) -> dict[str, list[int]]:
    """Their values, in the same order."""
    port = server.port(asked.port_id)
    extended = server.engine.counters()[port.info.name].extended
    return {"xstats_values": [extended.get(name, 0) for name in _names(server)]}


def _names(server: Server) -> list[str]:
    return sorted({name for port in server.ports for name in port.counters.extended})


@method("get_utilization", Nothing)
def get_utilization(server: Server, _: Nothing) -> dict[str, Any]:
    """CPU of the tester's worker every half a second, the newest first."""
    return {
        "cpu": [{"history": server.history, "ports": _two_ports(server)}],
        "mbuf_stats": {"cpu-socket-0": dict.fromkeys(POOLS, UNCOUNTED)},
    }


def _two_ports(server: Server) -> list[int]:
    """Ports of the worker: TRex's are pairs."""
    numbers = [port.number for port in server.ports if port.state.value == "TX"]
    return [*numbers, -1, -1][:2]
