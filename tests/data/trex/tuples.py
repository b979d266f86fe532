"""Tuple generators: with a limit of flows and without; a list, and variables that carry."""
from trex_stl_lib.api import *


class Tuples(object):
    def get_streams(self, **kwargs):
        base = Ether() / IP(src="16.0.0.1", dst="48.0.0.1") / UDP(dport=12, sport=1025)
        other = Ether() / IP(src="16.0.0.1", dst="48.0.0.1") / UDP(dport=13, sport=1025)
        program = lambda limit: STLScVmRaw(
            [
                STLVmTupleGen(ip_min="16.0.0.1", ip_max="16.0.0.7", port_min=1025, port_max=1100, name="tuple", limit_flows=limit),
                STLVmWrFlowVar(fv_name="tuple.ip", pkt_offset="IP.src"),
                STLVmFixIpv4(offset="IP"),
                STLVmWrFlowVar(fv_name="tuple.port", pkt_offset="UDP.sport"),
            ]
        )
        plain = Ether() / IP(src="1.1.1.1", dst="2.2.2.2") / UDP(chksum=0) / (20 * "t")
        odometer = [
            STLVmFlowVar(name="a", min_value=1, max_value=3, size=1, op="inc", next_var="b"),
            STLVmFlowVar(name="b", value_list=[10, 30, 20], size=1, op="inc"),
            STLVmFlowVarRepeatableRandom(name="r", size=2, limit=5, seed=7, min_value=100, max_value=200),
            STLVmWrFlowVar(fv_name="a", pkt_offset=42),
            STLVmWrFlowVar(fv_name="b", pkt_offset="Raw.load", offset_fixup=1),
            STLVmWrFlowVar(fv_name="r", pkt_offset=44, add_val=-100, is_big=False),
        ]
        cont = STLTXCont(pps=500)
        return [
            STLStream(packet=STLPktBuilder(pkt=base / (18 * "x"), vm=program(0)), mode=cont),
            STLStream(packet=STLPktBuilder(pkt=other / (18 * "x"), vm=program(100)), mode=cont),
            STLStream(packet=STLPktBuilder(pkt=plain, vm=odometer), mode=cont),
        ]


def register():
    return Tuples()
