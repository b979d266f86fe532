"""A sweep of sizes, up and anywhere."""
from trex_stl_lib.api import *


class Sizes(object):
    def stream(self, op):
        base = Ether() / IP(src="16.0.0.1", dst="48.0.0.1") / UDP(dport=12, sport=1025)
        packet = base / ((1400 - len(base)) * "s")
        vm = STLScVmRaw(
            [
                STLVmFlowVar(name="size", min_value=64, max_value=len(packet), size=2, op=op, step=11 if op == "inc" else 1),
                STLVmTrimPktSize("size"),
                STLVmWrFlowVar(fv_name="size", pkt_offset="IP.len", add_val=-14),
                STLVmWrFlowVar(fv_name="size", pkt_offset="UDP.len", add_val=-34),
                STLVmFixChecksumHw(l3_offset="IP", l4_offset="UDP", l4_type=CTRexVmInsFixHwCs.L4_TYPE_UDP),
            ]
        )
        return STLStream(name=op, packet=STLPktBuilder(pkt=packet, vm=vm), mode=STLTXCont(pps=500))

    def get_streams(self, **kwargs):
        return [self.stream("inc"), self.stream("random")]


def register():
    return Sizes()
