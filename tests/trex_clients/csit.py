"""Calls in the manner of FD.io CSIT's trex_stl_profile and trex_stl_stop; prints JSON."""

import base64
import json
import sys
import time

import lbr_trex_client  # noqa: F401 (makes `trex` known)
from hdrh.histogram import HdrHistogram
from trex.stl.api import (
    IP,
    UDP,
    Ether,
    STLClient,
    STLFlowLatencyStats,
    STLPktBuilder,
    STLStream,
    STLTXCont,
)

PORTS = [0, 1]


def packet(side):
    src, dst = (("16.0.0.1", "48.0.0.1"), ("48.0.0.1", "16.0.0.1"))[side]
    return STLPktBuilder(
        pkt=Ether() / IP(src=src, dst=dst) / UDP(sport=1025, dport=12) / ("x" * 60)
    )


client = STLClient(server="127.0.0.1", sync_port=int(sys.argv[1]), async_port=int(sys.argv[2]))
client.connect()
client.reset(ports=PORTS)
client.remove_all_streams(ports=PORTS)
for port in PORTS:
    client.add_streams(STLStream(packet=packet(port), mode=STLTXCont(pps=1000)), ports=[port])
    timed = STLFlowLatencyStats(pg_id=port)
    client.add_streams(
        STLStream(packet=packet(port), isg=10, mode=STLTXCont(pps=500), flow_stats=timed),
        ports=[port],
    )
client.set_port_attr(ports=PORTS, promiscuous=True)
client.clear_stats()
client.start(
    ports=PORTS, mult="2500pps", duration=-1, force=True, core_mask=STLClient.CORE_MASK_PIN
)
time.sleep(2)
client.stop(ports=PORTS)
time.sleep(0.3)
stats = client.get_stats()
latency = {}
for port in PORTS:
    found = stats["latency"][port]["latency"]
    base64.b64decode(found["hdrh"])
    latency[port] = HdrHistogram.decode(found["hdrh"]).total_count
print(
    json.dumps(
        {
            "sent": [stats[port]["opackets"] for port in PORTS],
            "received": [stats[port]["ipackets"] for port in PORTS],
            "total": stats["total"]["opackets"],
            "timed": [latency[port] for port in PORTS],
            "timed_sent": [stats["flow_stats"][port]["tx_pkts"]["total"] for port in PORTS],
            "average_us": [stats["latency"][port]["latency"]["average"] for port in PORTS],
            "xstats": len(client.get_xstats(0)),
        }
    )
)
client.disconnect()
