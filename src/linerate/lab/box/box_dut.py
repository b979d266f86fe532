"""All kinds of boxes as devices under test: somebody else set them up."""

from collections.abc import Iterator
from contextlib import contextmanager

from linerate.lab.box.asked_box import running
from linerate.lab.dut import Place, Running
from linerate.lab.dut.external import ExternalDut
from linerate.lab.links import Ends
from linerate.model.testbed import Testbed


class BoxDut(ExternalDut):
    """A box of one kind; its ports' MAC addresses say where frames are sent."""

    def __init__(self, name: str) -> None:
        self.name = name

    @contextmanager
    def running(self, testbed: Testbed, _ends: Ends, place: Place) -> Iterator[Running]:
        """Open the way to it, and set it up where the testbed says how."""
        with running(testbed.dut, place.tester_cpus) as box:
            yield box
