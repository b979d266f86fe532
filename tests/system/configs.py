"""Configurations that several system tests start from."""

from typing import Any

DUT_MACS = ("02:00:00:00:0e:00", "02:00:00:00:0e:01")
TESTER_MACS = ("50:7c:6f:20:30:70", "50:7c:6f:20:30:71")
#: Behind the tester's ports, as the shipped router.vpp has it.
NETWORKS = ("16.0.0", "48.0.0")


def stream(source: int, **changes: Any) -> dict[str, Any]:
    """A stream of 64-byte UDP frames from one tester port to the other."""
    sink = source ^ 1
    return {
        "port": f"t{source}",
        "rx_port": f"t{sink}",
        "frame_bytes": 64,
        "rate": {"percent": 100},
        "layers": [
            {"ethernet": {"src": TESTER_MACS[source], "dst": DUT_MACS[source]}},
            {"ipv4": {"src": f"{NETWORKS[source]}.1", "dst": f"{NETWORKS[sink]}.1"}},
            {"udp": {}},
        ],
        **changes,
    }


def card_config(
    card: dict[str, Any], forwarder: dict[str, Any] | None, streams: list[dict[str, Any]]
) -> dict[str, Any]:
    """A tester and a forwarder on one virtual card; without a forwarder, the bare link."""
    ends = [
        {"name": f"t{i}", "driver": "wire", "card": "card0", "index": i, "mac": TESTER_MACS[i]}
        for i in range(2)
    ]
    ports = [
        {"name": f"e{i}", "driver": "card", "card": "card0", "index": i, "mac": DUT_MACS[i]}
        for i in range(2)
    ]
    config: dict[str, Any] = {
        "memory": {"megabytes": 384},
        "cards": [{"name": "card0", **card, **({} if forwarder else {"host": "shunt"})}],
        "ports": [*(ports if forwarder else []), *ends],
        "tester": {"ports": ["t0", "t1"], "streams": streams},
    }
    if forwarder:
        config["forwarder"] = {"ports": ["e0", "e1"], **forwarder}
    return config
