"""Streams of the shapes of TRex's examples, whose frames its simulator recorded; `shape` is one."""
from scapy.contrib.mpls import MPLS
from trex_stl_lib.api import *

UDP_FRAME = Ether() / IP(src="16.0.0.1", dst="48.0.0.1") / UDP(sport=1025, dport=12)
FRAME_BYTES = 60


def padded(packet, size=FRAME_BYTES):
    return packet / ("x" * (size - len(packet)))


def stream(packet, vm=None, **changes):
    given = {"mode": STLTXCont(pps=10)} | changes
    return STLStream(packet=STLPktBuilder(pkt=packet, vm=vm), **given)


def burst(number, name, frames, **changes):
    packet = Ether() / IP(src=f"16.0.0.{number}", dst="48.0.0.1") / UDP(sport=1025, dport=12)
    mode = changes.pop("mode", None) or STLTXSingleBurst(pps=10, total_pkts=frames)
    return stream(padded(packet), name=name, mode=mode, **changes)


def plain():
    return [stream(padded(UDP_FRAME))]


def tuples():
    vm = STLVM()
    vm.tuple_var(
        name="t", ip_min="16.0.0.1", ip_max="16.0.0.2", port_min=1025, port_max=2048,
        limit_flows=10000,
    )  # fmt: skip
    vm.write(fv_name="t.ip", pkt_offset="IP.src")
    vm.fix_chksum()
    vm.write(fv_name="t.port", pkt_offset="UDP.sport")
    return [stream(padded(UDP_FRAME), vm)]


def _counted(last, *writes, **changes):
    given = {"min_value": 1, "max_value": last, "size": 2, "op": "inc"} | changes
    return STLScVmRaw([STLVmFlowVar(name="v", **given), *writes])


def clients():
    packet = Ether(src="00:00:dd:dd:00:01") / IP(src="55.55.1.1", dst="58.0.0.1")
    vm = _counted(
        30000,
        STLVmWrFlowVar(fv_name="v", pkt_offset=10),
        STLVmWrFlowVar(fv_name="v", pkt_offset="IP.src", offset_fixup=2),
        STLVmFixIpv4(offset="IP"),
    )
    return [stream(padded(packet / UDP(sport=1025, dport=12)), vm)]


def announced():
    mac = "00:00:dd:dd:00:01"
    arp = ARP(psrc="55.55.1.1", hwsrc=mac, hwdst=mac, pdst="55.55.1.1")
    fields = (("ARP.psrc", 2), ("ARP.hwsrc", 4), ("ARP.pdst", 2), ("ARP.hwdst", 4))
    vm = _counted(
        3000,
        STLVmWrFlowVar(fv_name="v", pkt_offset=10),
        *(STLVmWrFlowVar(fv_name="v", pkt_offset=at, offset_fixup=more) for at, more in fields),
    )
    return [stream(Ether(src=mac, dst="ff:ff:ff:ff:ff:ff") / arp, vm)]


def masked():
    write = STLVmWrMaskFlowVar(fv_name="v", pkt_offset=11, pkt_cast_size=1, mask=0xFF)
    return [stream(padded(UDP_FRAME), _counted(30, write, op="dec", step=1))]


def added():
    write = STLVmWrMaskFlowVar(
        fv_name="v", pkt_offset=10, pkt_cast_size=1, mask=0xFF, add_value=5, shift=0
    )
    return [stream(padded(UDP_FRAME), _counted(10, write, min_value=0))]


def stepped():
    write = STLVmWrFlowVar(fv_name="v", pkt_offset=10)
    return [stream(padded(UDP_FRAME), _counted(100, write, size=1, step=2))]


def labelled():
    labels = MPLS(label=17, cos=1, s=0, ttl=255) / MPLS(label=0, cos=1, s=1, ttl=12)
    inner = IP(src="16.0.0.1", dst="48.0.0.1") / UDP(sport=1025, dport=12) / ("x" * 20)
    write = STLVmWrMaskFlowVar(
        fv_name="v", pkt_offset="MPLS:1.label", pkt_cast_size=4, mask=0xFFFFF000, shift=12
    )
    return [stream(Ether() / labels / inner, _counted(2000, write))]


def lengths():
    packet = UDP_FRAME / ("\x55" * (9 * 1024 - 28))
    vm = _counted(
        len(packet),
        STLVmTrimPktSize("v"),
        STLVmWrFlowVar(fv_name="v", pkt_offset="IP.len", add_val=-14),
        STLVmFixIpv4(offset="IP"),
        STLVmWrFlowVar(fv_name="v", pkt_offset="UDP.len", add_val=-34),
        min_value=64,
    )
    return [stream(packet, vm)]


def bursts():
    many = STLTXMultiBurst(pps=1000, pkts_per_burst=4, ibg=1000000.0, count=5)
    return [
        burst(1, "S0", 2, isg=10.0, next="S1"),
        burst(2, "S1", 0, mode=many, self_start=False),
    ]


def looped():
    return [
        burst(1, "S0", 1, isg=10.0, next="S1"),
        burst(2, "S1", 2, self_start=False, next="S2"),
        burst(3, "S2", 3, self_start=False, next="S0", action_count=2),
    ]


SHAPES = (
    plain, tuples, clients, announced, masked, added, stepped, labelled, lengths, bursts, looped,
)  # fmt: skip


class Shapes(object):
    def get_streams(self, shape="plain", **kwargs):
        return next(one for one in SHAPES if one.__name__ == shape)()


def register():
    return Shapes()
