"""Wire `af_xdp`: a veth wire with AF_XDP sockets at its ends (DPDK's net_af_xdp)."""

from linerate.lab.links import register
from linerate.lab.links.veth import VethLink

register(VethLink("af_xdp", "af_xdp"))
