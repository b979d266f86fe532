"""MPLS, VLAN, QinQ, IPv6, GRE and VXLAN, each with a field that changes inside."""
from scapy.contrib.mpls import MPLS
from scapy.layers.l2 import GRE
from scapy.layers.vxlan import VXLAN

from trex_stl_lib.api import *


class Encapsulated(object):
    def stream(self, name, packet, vm):
        return STLStream(name=name, packet=STLPktBuilder(pkt=packet, vm=vm), mode=STLTXCont(pps=500))

    def get_streams(self, **kwargs):
        inner = IP(src="16.0.0.1", dst="48.0.0.1") / UDP(dport=12, sport=1025) / (24 * "e")
        vlan = [
            STLVmFlowVar(name="id", min_value=100, max_value=199, size=2, op="inc", step=3),
            STLVmWrMaskFlowVar(fv_name="id", pkt_offset="802|1Q.vlan", pkt_cast_size=2, mask=0xFFF),
        ]
        qinq = vlan + [
            STLVmFlowVar(name="in", min_value=5, max_value=9, size=1, op="dec"),
            STLVmWrMaskFlowVar(fv_name="in", pkt_offset="802|1Q:1.vlan", pkt_cast_size=2, mask=0xFFF),
        ]
        mpls = [
            STLVmFlowVar(name="label", min_value=16, max_value=1000, size=4, op="inc", step=5),
            STLVmWrMaskFlowVar(fv_name="label", pkt_offset="MPLS:1.label", pkt_cast_size=4, mask=0xFFFFF000, shift=12),
        ]
        six = [
            STLVmFlowVar(name="low", min_value=1, max_value=65535, size=2, op="inc", step=2),
            STLVmWrFlowVar(fv_name="low", pkt_offset="IPv6.dst", offset_fixup=14),
            STLVmFixChecksumHw(l3_offset="IPv6", l4_offset="TCP", l4_type=CTRexVmInsFixHwCs.L4_TYPE_TCP),
        ]
        inside = [
            STLVmFlowVar(name="src", min_value="10.0.0.1", max_value="10.0.0.99", size=4, op="inc"),
            STLVmWrFlowVar(fv_name="src", pkt_offset="IP:1.src"),
            STLVmFixChecksumHw(l3_offset="IP:1", l4_offset="UDP", l4_type=CTRexVmInsFixHwCs.L4_TYPE_UDP),
        ]
        deep = inside[:2] + [
            STLVmFixChecksumHw(l3_offset="IP:1", l4_offset="UDP:1", l4_type=CTRexVmInsFixHwCs.L4_TYPE_UDP)
        ]
        outer = IP(src="172.16.0.1", dst="172.16.0.2")
        return [
            self.stream("vlan", Ether() / Dot1Q(vlan=1, prio=5) / inner, vlan),
            self.stream("qinq", Ether(type=0x88A8) / Dot1Q(vlan=1) / Dot1Q(vlan=2) / inner, qinq),
            self.stream("mpls", Ether() / MPLS(label=1, cos=2, s=0) / MPLS(label=2, s=1, ttl=9) / inner, mpls),
            self.stream("ipv6", Ether() / IPv6(src="2001:db8::1", dst="2001:db8:1::1") / TCP(sport=5, dport=80, flags="S") / (30 * "6"), six),
            self.stream("gre", Ether() / outer / GRE() / inner, inside),
            self.stream("vxlan", Ether() / outer / UDP(sport=4789, dport=4789, chksum=0) / VXLAN(vni=42) / Ether(src="00:00:00:00:01:01", dst="00:00:00:00:01:02") / inner, deep),
        ]


def register():
    return Encapsulated()
