"""Calls in the manner of perftool's bench-trafficgen (txrx), and of DTS; prints JSON."""

import json
import sys

import lbr_trex_client  # noqa: F401 (makes `trex` known)
from trex.stl.api import (
    IP,
    UDP,
    Ether,
    STLClient,
    STLFlowStats,
    STLPktBuilder,
    STLStream,
    STLTXCont,
)

PACKETS = {
    0: Ether() / IP(src="16.0.0.1", dst="48.0.0.1") / UDP(sport=1, dport=2) / ("x" * 40),
    1: Ether() / IP(src="48.0.0.1", dst="16.0.0.1") / UDP(sport=2, dport=1) / ("x" * 40),
}

client = STLClient(server="127.0.0.1", sync_port=int(sys.argv[1]), async_port=int(sys.argv[2]))
client.connect()
client.acquire(ports=[0, 1], force=True)
client.reset(ports=[0, 1])
client.set_port_attr(ports=[0, 1], promiscuous=True)
info = client.get_port_info(ports=[0, 1])
for port, packet in PACKETS.items():
    stream = STLStream(
        name=f"main-{port}",
        packet=STLPktBuilder(pkt=packet),
        flow_stats=STLFlowStats(pg_id=128 + port),
        mode=STLTXCont(pps=2000),
    )
    client.add_streams(streams=[stream], ports=[port])
client.clear_stats()
client.start(ports=[0, 1], force=True, duration=2, total=False, mult="1")
client.wait_on_traffic(ports=[0, 1], timeout=20)
stats = client.get_stats(sync_now=True)
groups = client.get_pgid_stats()
assert set(client.get_util_stats()) == {"cpu", "mbuf_stats"}
print(
    json.dumps(
        {
            "sent": [stats[port]["opackets"] for port in (0, 1)],
            "total": stats["total"]["opackets"],
            "group_sent": [groups["flow_stats"][128 + p]["tx_pkts"]["total"] for p in (0, 1)],
            "group_received": [groups["flow_stats"][128 + p]["rx_pkts"][1 - p] for p in (0, 1)],
            "warnings": client.get_warnings(),
            "speed": [one["speed"] for one in info],
            "transmitting": bool(client.is_traffic_active(ports=[0, 1])),
        }
    )
)
client.disconnect(stop_traffic=True, release_ports=True)
