"""Wire `card`: the links of a virtual card, within one engine."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from linerate.base.prerequisites import Prerequisite
from linerate.lab.links import End, Ends, register
from linerate.model.testbed import Testbed

CARD = "card0"


def _end(driver: str, index: int) -> End:
    return End({"driver": driver, "card": CARD, "index": index})


_TESTER = (_end("wire", 0), _end("wire", 1))


class CardLink:
    """Ports of the tester are ends of the card's links."""

    name = "card"
    two_processes = False

    def pushes_back(self, _testbed: Testbed) -> bool:
        """No: a card loses what does not fit."""
        return False

    def prerequisites(self, _testbed: Testbed) -> list[Prerequisite]:
        """Nothing."""
        return []

    @contextmanager
    def joined(self, testbed: Testbed, _loopbacks: int = 1) -> Iterator[Ends]:
        """Describe a card with its limits; a second loopback is on another one like it."""
        limits = testbed.card.model_dump(exclude_none=True)
        card: dict[str, Any] = {"name": CARD, "rx_queues": testbed.dut.workers, **limits}
        yield Ends(_TESTER, (_end("card", 0), _end("card", 1)), ({**card, "host": "ports"},))

    @contextmanager
    def bare(self, testbed: Testbed) -> Iterator[Ends]:
        """Describe a card that is a bare link."""
        card = {
            "name": CARD,
            "link_bps": 0,
            "max_frame_bytes": testbed.card.max_frame_bytes,
            "host": "shunt",
        }
        yield Ends(_TESTER, None, (card,))


register(CardLink())
