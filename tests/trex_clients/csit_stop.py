"""Calls in the manner of FD.io CSIT's trex_stl_stop: another client ends it; prints JSON."""

import json
import sys

import lbr_trex_client  # noqa: F401 (makes `trex` known)
from trex.stl.api import STLClient

PORTS = [0, 1]
client = STLClient(server="127.0.0.1", sync_port=int(sys.argv[1]), async_port=int(sys.argv[2]))
client.connect()
client.acquire(ports=PORTS, force=True)
was_sending = [client.ports[port].is_transmitting() for port in PORTS]
client.stop(ports=PORTS)
# As the port has counted them: what this client saw began when it connected.
stats = [
    client.ports[port].rpc.transmit("get_port_stats", {"port_id": port}).data() for port in PORTS
]
print(json.dumps({"was_sending": was_sending, "sent": [one["opackets"] for one in stats]}))
client.disconnect()
