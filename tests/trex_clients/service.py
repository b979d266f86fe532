"""Service mode: addresses, resolving, pings, captures, queues, pushed frames; prints JSON."""

import json
import sys
import time
from typing import Any

import lbr_trex_client  # noqa: F401 (makes `trex` known)
from trex.stl.api import (
    IP,
    TCP,
    UDP,
    Ether,
    STLClient,
    STLError,
    STLFlowStats,
    STLPktBuilder,
    STLStream,
    STLTXCont,
)

PORTS = [0, 1]
OWN = {0: ("100.64.1.2", "100.64.1.1"), 1: ("100.64.2.2", "100.64.2.1")}
made: dict[str, object] = {}


def refused(call, **given):
    try:
        call(**given)
    except STLError as error:
        return str(error)
    return ""


def packet(protocol, sport):
    """One that the router forwards from the first port to the second."""
    return Ether() / IP(src="16.0.0.1", dst="48.0.0.1") / protocol(sport=sport, dport=80) / "frame"


client = STLClient(server="127.0.0.1", sync_port=int(sys.argv[1]), async_port=int(sys.argv[2]))
client.connect()
client.reset(ports=PORTS)
made["outside"] = refused(client.start_capture, rx_ports=[0])
client.set_service_mode(ports=PORTS)

for port, (own, neighbour) in OWN.items():
    client.set_l3_mode(port, own, neighbour)
made["resolved"] = client.get_resolved_ports()
made["neighbours"] = [client.get_port_attr(port)["arp"] for port in PORTS]
pings = client.ping_ip(src_port=0, dst_ip=OWN[0][1], count=2, interval_sec=0)
made["pings"] = [str(one) for one in pings]
made["wrong"] = refused(client.set_l3_mode, port=0, src_ipv4="100.64.1.2", dst_ipv4="100.64.1.99")
client.set_l3_mode(0, *OWN[0])

# Two of three frames match; they leave a port, and are received at the other.
capture = client.start_capture(tx_ports=[0], rx_ports=[1], bpf_filter="udp", limit=10)
client.set_rx_queue(ports=[1], size=10)
frames = [packet(UDP, 1001), packet(TCP, 1002), packet(UDP, 1003)]
client.push_packets(frames, ports=[0], ipg_usec=20_000)
time.sleep(0.5)
status = client.get_capture_status()[capture["id"]]
made["status"] = {key: status[key] for key in ("state", "matched", "count", "limit", "filter")}
captured: list[dict[str, Any]] = []
client.stop_capture(capture["id"], captured)
made["captured"] = [
    [one["port"], one["origin"], Ether(one["binary"])[UDP].sport] for one in captured
]
made["gaps_s"] = [
    round(later["ts"] - earlier["ts"], 3)
    for earlier, later in zip(captured, captured[2:], strict=False)
]
made["left"] = client.get_capture_status()
queue = client.ports[1].get_rx_queue_pkts().data()
made["queue"] = [Ether(one["binary"])[IP].proto for one in queue]
client.remove_rx_queue(ports=[1])
made["bad_filter"] = refused(client.start_capture, rx_ports=[0], bpf_filter="no such words")

# Streams and counters go on in service mode.
stream = STLStream(
    packet=STLPktBuilder(pkt=packet(UDP, 2000) / (20 * "x")),
    flow_stats=STLFlowStats(pg_id=7),
    mode=STLTXCont(pps=1000),
)
client.add_streams([stream], ports=[0])
cyclic = client.start_capture(rx_ports=[1], mode="cyclic", limit=5, bpf_filter="src port 2000")
client.start(ports=[0], duration=0.5, force=True)
client.wait_on_traffic(ports=[0], timeout=20)
time.sleep(0.3)
last: list[dict[str, Any]] = []
client.stop_capture(cyclic["id"], last)
made["cyclic"] = len(last)
made["group"] = client.get_pgid_stats([7])["flow_stats"][7]["rx_pkts"][1]
made["group_sent"] = client.get_pgid_stats([7])["flow_stats"][7]["tx_pkts"][0]

client.set_vlan(ports=[0], vlan=[5])
made["vlan"] = client.get_port_attr(0)["vlan"]
client.clear_vlan(ports=[0])
client.conf_ipv6(0, True, "2001:db8::2")
made["ipv6"] = client.get_port_attr(0)["ipv6"]
client.set_l2_mode(0, "aa:bb:cc:dd:ee:ff")
made["l2"] = client.get_port_attr(0)["dest"]
client.reset(ports=PORTS)
client.disconnect()
print(json.dumps(made))
