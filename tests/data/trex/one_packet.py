"""One UDP packet over and over, of a size that can be tuned."""
from trex_stl_lib.api import *


class OnePacket(object):
    def get_streams(self, size=64, direction=0, **kwargs):
        src, dst = ("10.1.0.1", "10.2.0.1") if direction == 0 else ("10.2.0.1", "10.1.0.1")
        base = Ether() / IP(src=src, dst=dst) / UDP(sport=4000, dport=9)
        pad = (size - 4 - len(base)) * "x"
        return [STLStream(packet=STLPktBuilder(pkt=base / pad), mode=STLTXCont(pps=1000))]


def register():
    return OnePacket()
