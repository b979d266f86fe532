"""A long session: units, updates, pauses, profiles, two clients; prints JSON."""

import json
import sys
import time

import lbr_trex_client  # noqa: F401 (makes `trex` known)
from trex.stl.api import (
    IP,
    UDP,
    Ether,
    STLClient,
    STLError,
    STLPktBuilder,
    STLStream,
    STLTXCont,
    STLTXSingleBurst,
)

PORTS = {"server": "127.0.0.1", "sync_port": int(sys.argv[1]), "async_port": int(sys.argv[2])}
PACKET = STLPktBuilder(
    pkt=Ether() / IP(src="16.0.0.1", dst="48.0.0.1") / UDP(sport=1, dport=2) / ("x" * 40)
)
made: dict[str, object] = {}


def refused(call, **given):
    try:
        call(**given)
    except STLError as error:
        return str(error)
    return ""


client = STLClient(username="first", **PORTS)
client.connect()
client.reset(ports=[0])
first, second = client.add_streams(
    [STLStream(packet=PACKET, mode=STLTXCont(pps=1000)) for _ in range(2)], ports=[0]
)
for mult in ("2", "5kpps", "5mbps", "5mbpsl1", "0.1%"):
    client.start(ports=[0], mult=mult, duration=-1)
    client.update(ports=[0], mult=mult)
    client.stop(ports=[0])
states: list[str] = []
client.start(ports=[0], mult="2kpps")
for change in (client.pause, client.resume, client.stop):
    states.append(client.ports[0].get_port_state_name())
    change(ports=[0])
made["states"] = states
client.start(ports=[0])
client.pause_streams(port=0, stream_ids=[first])
client.update_streams(port=0, mult="500pps", stream_ids=[second])
client.resume_streams(port=0, stream_ids=[first])
client.stop(ports=[0])
made["excess"] = refused(client.start, ports=[0], mult="120%")
client.start(ports=[0], mult="120%", force=True)
made["forced"] = client.ports[0].get_port_state_name()
client.stop(ports=[0])

client.remove_all_streams(ports=[0])
for name, packets in (("a", 100), ("b", 50)):
    burst = STLTXSingleBurst(pps=100, total_pkts=packets)
    client.add_streams(STLStream(packet=PACKET, mode=burst), ports=[f"0.{name}"])
client.clear_stats()
client.start(ports=["0.a", "0.b"])
client.wait_on_traffic(ports=[0], timeout=20)
time.sleep(0.3)
made["bursts"] = client.get_stats()[0]["opackets"]

other = STLClient(username="second", **PORTS)
other.connect()
made["taken"] = refused(other.acquire, ports=[0])
other.acquire(ports=[0], force=True)
time.sleep(1.5)
made["lost"] = refused(client.start, ports=["0.a"])
made["pcap"] = refused(other.push_remote, pcap_filename="/etc/passwd", ports=[0])
other.set_service_mode(ports=[0])
other.clear_stats()
other.push_packets([bytes(PACKET.pkt), bytes(600)], ports=[0])
time.sleep(1)
made["pushed"] = other.get_stats()[0]["opackets"]
other.set_service_mode(ports=[0], enabled=False)
other.disconnect()
client.disconnect()
print(json.dumps(made))
