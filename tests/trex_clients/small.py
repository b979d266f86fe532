"""Flow statistics of frames that have no room for a signature; prints JSON."""

import json
import sys

import lbr_trex_client  # noqa: F401 (makes `trex` known)
from trex.stl.api import (
    ARP,
    IP,
    TCP,
    UDP,
    Ether,
    STLClient,
    STLError,
    STLFlowLatencyStats,
    STLFlowStats,
    STLPktBuilder,
    STLStream,
    STLTXSingleBurst,
)

#: Packets that go from the port to the other one.
PACKETS = {
    0: Ether() / IP(src="16.0.0.1", dst="48.0.0.1"),
    1: Ether() / IP(src="48.0.0.1", dst="16.0.0.1"),
}

client = STLClient(server="127.0.0.1", sync_port=int(sys.argv[1]), async_port=int(sys.argv[2]))
client.connect()
client.acquire(ports=[0, 1], force=True)
client.reset(ports=[0, 1])


def refused(packet, stats):
    stream = STLStream(packet=STLPktBuilder(pkt=packet), flow_stats=stats)
    try:
        client.add_streams(stream, ports=[0])
    except STLError as error:
        return str(error)
    return ""


made = {
    "arp": refused(Ether() / ARP(), STLFlowStats(pg_id=1)),
    "timed": refused(PACKETS[0] / TCP(), STLFlowLatencyStats(pg_id=2)),
}
for port, packet in PACKETS.items():
    for number, (layer, frames) in enumerate(((TCP(flags="S"), 700), (UDP() / ("x" * 40), 500))):
        stream = STLStream(
            packet=STLPktBuilder(pkt=packet / layer),
            flow_stats=STLFlowStats(pg_id=10 * port + number),
            mode=STLTXSingleBurst(pps=2000 - 500 * number, total_pkts=frames + port),
        )
        client.add_streams(stream, ports=[port])
client.clear_stats()
client.start(ports=[0, 1], force=True)
client.wait_on_traffic(ports=[0, 1], timeout=20)
groups = client.get_pgid_stats()["flow_stats"]
for key in ("tx_pkts", "rx_pkts", "rx_bytes"):
    made[key] = {
        group: {str(p): n for p, n in groups[group][key].items()} for group in (0, 1, 10, 11)
    }
client.disconnect(stop_traffic=True, release_ports=True)
print(json.dumps(made))
