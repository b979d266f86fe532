"""UDP whose addresses and ports go up, down and anywhere; names and kinds of tunables as of argparse."""
import argparse

from trex.stl.api import *


class Walk:
    def stream(self, name, op, step):
        base = Ether() / IP(src="16.0.0.1", dst="48.0.0.1") / UDP(sport=1, dport=2)
        vm = STLVM()
        vm.var(name="src", min_value="16.0.0.1", max_value="16.0.0.11", size=4, op=op, step=step)
        vm.var(name="sport", min_value=1025, max_value=1999, size=2, op=op)
        vm.var(name="dport", min_value=0, max_value=65535, size=2, op=op, step=7)
        vm.write(fv_name="src", pkt_offset="IP.src")
        vm.write(fv_name="sport", pkt_offset="UDP.sport")
        vm.write(fv_name="dport", pkt_offset="UDP.dport")
        vm.fix_chksum_hw(l3_offset="IP", l4_offset="UDP", l4_type=CTRexVmInsFixHwCs.L4_TYPE_UDP)
        return STLStream(name=name, packet=STLPktBuilder(pkt=base / (30 * "w"), vm=vm), mode=STLTXCont(pps=500))

    def get_streams(self, tunables, **kwargs):
        parser = argparse.ArgumentParser()
        parser.add_argument("--step", type=int, default=3)
        args = parser.parse_args(tunables)
        return [self.stream(op, op, args.step) for op in ("inc", "dec", "random")]


def register():
    return Walk()
