"""Streams that are counted and one whose latency is measured; they say their own MAC addresses."""
from trex_stl_lib.api import *


class Measured(object):
    def get_streams(self, **kwargs):
        base = Ether(dst="00:11:22:33:44:55", src="00:11:22:33:44:66") / IP(src="16.0.0.1", dst="48.0.0.1")
        data = UDP(dport=12, sport=1025) / (40 * "m")
        late = UDP(dport=13, sport=1025) / (40 * "l")
        syn = TCP(dport=80, flags="S") / (20 * "p")
        return [
            STLStream(packet=STLPktBuilder(pkt=base / data), mode=STLTXCont(pps=500), flow_stats=STLFlowStats(pg_id=7)),
            STLStream(packet=STLPktBuilder(pkt=base / syn), mode=STLTXCont(bps_L2=350400), flow_stats=STLFlowStats(pg_id=8)),
            STLStream(packet=STLPktBuilder(pkt=base / late), mode=STLTXCont(pps=500), flow_stats=STLFlowLatencyStats(pg_id=9)),
        ]


def register():
    return Measured()
