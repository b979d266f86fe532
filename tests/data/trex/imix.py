"""Three sizes at 7:4:1, each of its own addresses that count up together."""
from trex_stl_lib.api import *


class Imix(object):
    def mix(self, size, pps, isg, vm):
        base = Ether() / IP() / UDP(sport=1500, dport=1600)
        return STLStream(
            isg=isg,
            name="imix-%d" % size,
            packet=STLPktBuilder(pkt=base / ((size - len(base)) * "i"), vm=vm),
            mode=STLTXCont(pps=pps),
        )

    def get_streams(self, direction=0, **kwargs):
        near, far = ("16.0.0", "48.0.0") if direction == 0 else ("48.0.0", "16.0.0")
        vm = [
            STLVmFlowVar(name="src", min_value=near + ".1", max_value=near + ".254", size=4, op="inc"),
            STLVmFlowVar(name="dst", min_value=far + ".1", max_value=far + ".254", size=4, op="inc"),
            STLVmWrFlowVar(fv_name="src", pkt_offset="IP.src"),
            STLVmWrFlowVar(fv_name="dst", pkt_offset="IP.dst"),
            STLVmFixIpv4(offset="IP"),
        ]
        return [self.mix(60, 700, 0, vm), self.mix(590, 400, 0, vm), self.mix(1514, 100, 0, vm)]


def register():
    return Imix()
