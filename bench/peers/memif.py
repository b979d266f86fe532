"""`io` over net_memif, ours and testpmd's, both driven by our tester."""

from bench.peers import wires
from bench.peers.model import Kind
from bench.peers.registry import register

register(
    Kind(
        name="memif-io-bidir",
        text="io over net_memif, out and back",
        ours=wires.ours("io", 2),
        peer=wires.testpmd("io", 2),
        peer_name="testpmd",
        cores=2,
    )
)
