"""Sweeps to more than 9 KB: sizes up, and any size."""
from trex_stl_lib.api import *

LONGEST = 9230


class Jumbo(object):
    def stream(self, op):
        base = Ether() / IP(src="16.0.0.1", dst="48.0.0.1") / UDP(dport=12, sport=1025)
        packet = base / ((LONGEST - len(base)) * "j")
        vm = STLScVmRaw(
            [
                STLVmFlowVar(name="size", min_value=9000 if op == "inc" else 64, max_value=LONGEST, size=2, op=op),
                STLVmTrimPktSize("size"),
                STLVmWrFlowVar(fv_name="size", pkt_offset="IP.len", add_val=-14),
                STLVmFixIpv4(offset="IP"),
                STLVmWrFlowVar(fv_name="size", pkt_offset="UDP.len", add_val=-34),
            ]
        )
        return STLStream(name=op, packet=STLPktBuilder(pkt=packet, vm=vm), mode=STLTXCont(pps=500))

    def get_streams(self, **kwargs):
        return [self.stream("inc"), self.stream("random")]


def register():
    return Jumbo()
