"""Two cores over our virtual card, its links unpaced, against testpmd over net_wires."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.peers import wires
from bench.peers.model import Kind, Place, Session, Side
from bench.peers.registry import register
from bench.peers.session import engine_session
from bench.peers.wires import WireSession
from linerate.lab.engine_config import router_cli
from linerate.lab.links.card import CARD
from linerate.model.suites import DUT_MACS, DUT_PORTS, TESTER_MACS, TESTER_PORTS

MEGABYTES = 384


def config(place: Place, mode: str, directions: int) -> dict[str, Any]:
    """Our tester and forwarder at the two sides of an unpaced card."""
    ends = (("card", DUT_PORTS, DUT_MACS), ("wire", TESTER_PORTS, TESTER_MACS))
    forwarder: dict[str, Any] = {"mode": mode, "ports": list(DUT_PORTS)}
    if mode == "router":
        forwarder["router"] = {"cli": router_cli(None)}
    return {
        "memory": {"pages": place.pages, "megabytes": MEGABYTES},
        "cards": [{"name": CARD, "link_bps": 0}],
        "ports": [
            {"name": names[i], "driver": driver, "card": CARD, "index": i, "mac": macs[i]}
            for driver, names, macs in ends
            for i in range(2)
        ],
        "forwarder": forwarder,
        "tester": {"ports": list(TESTER_PORTS), "streams": wires.streams(directions)},
    }


def _ours(mode: str, directions: int) -> Side:
    @contextmanager
    def opened(place: Place) -> Iterator[Session]:
        with engine_session(config(place, mode, directions), place) as engine:
            engine.send_forever()
            yield WireSession(engine)

    return opened


for _name, _mode, _directions in (
    ("card-io-uni", "io", 1),
    ("card-io-bidir", "io", 2),
    ("card-router-uni", "router", 1),
):
    register(
        Kind(
            name=_name,
            text=f"{_mode} over the card",
            ours=_ours(_mode, _directions),
            peer=wires.testpmd("macswap", _directions),
            peer_name="testpmd on memif",
            cores=2,
        )
    )
