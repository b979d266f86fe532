"""Calls in the manner of FD.io CSIT's trex_stl_profile, which leaves its traffic; prints JSON."""

import json
import sys

import lbr_trex_client  # noqa: F401 (makes `trex` known)
from trex.stl.api import IP, UDP, Ether, STLClient, STLPktBuilder, STLStream, STLTXCont

PORTS = [0, 1]
NETWORKS = (("16.0.0.1", "48.0.0.1"), ("48.0.0.1", "16.0.0.1"))

client = STLClient(server="127.0.0.1", sync_port=int(sys.argv[1]), async_port=int(sys.argv[2]))
client.connect()
client.reset(ports=PORTS)
for port, (src, dst) in enumerate(NETWORKS):
    packet = Ether() / IP(src=src, dst=dst) / UDP(sport=1025, dport=12) / ("x" * 60)
    client.add_streams(
        STLStream(packet=STLPktBuilder(pkt=packet), mode=STLTXCont(pps=1000)), ports=[port]
    )
client.clear_stats()
client.start(ports=PORTS, mult="2kpps", duration=-1, force=True)
client.disconnect(stop_traffic=False, release_ports=False)
print(json.dumps({}))
