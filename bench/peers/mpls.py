"""The MPLS path: one label is swapped for another."""

from typing import Any

from bench.peers.frames import layers, next_hop, one_core, router_cli, stream
from bench.peers.model import Kind, Place
from bench.peers.path import path
from bench.peers.registry import register

LABEL_IN, LABEL_OUT = 16, 17


def _swap(place: Place) -> dict[str, Any]:
    cli = router_cli() + (
        "mpls table add 0\n"
        "set interface mpls r0 enable\n"
        "set interface mpls r1 enable\n"
        f"mpls local-label add {LABEL_IN} eos via {next_hop()} r1 out-labels {LABEL_OUT}\n"
    )
    frames = stream(layers=layers(label=LABEL_IN))
    return one_core(place, {"mode": "router", "router": {"cli": cli}}, [frames])


register(Kind("mpls-swap", "MPLS path, label swapped", path(_swap)))
