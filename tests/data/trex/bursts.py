"""A burst, a pause, several bursts, and a chain that ends."""
from trex_stl_lib.api import *


class Bursts(object):
    def burst(self, mark, **stream):
        base = Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=mark, dport=12)
        return STLStream(packet=STLPktBuilder(pkt=base / (20 * chr(mark))), **stream)

    def get_streams(self, **kwargs):
        return [
            self.burst(65, name="A", mode=STLTXSingleBurst(pps=10000, total_pkts=17)),
            self.burst(66, name="B", isg=3000.0, mode=STLTXMultiBurst(pps=10000, pkts_per_burst=5, ibg=2000.0, count=7)),
            self.burst(67, name="C", next="D", mode=STLTXSingleBurst(pps=20000, total_pkts=4)),
            self.burst(68, name="D", self_start=False, isg=500.0, next="E", mode=STLTXSingleBurst(pps=20000, total_pkts=3)),
            self.burst(69, name="E", self_start=False, next="D", action_count=6, mode=STLTXSingleBurst(pps=20000, total_pkts=2)),
        ]


def register():
    return Bursts()
