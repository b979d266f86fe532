"""All kinds of boxes as devices under test: somebody else set them up."""

from collections.abc import Iterator
from contextlib import contextmanager

from linerate.base.prerequisites import Prerequisite
from linerate.lab.box.asked_box import running
from linerate.lab.dut import ALL_FRAMES, Place, Running
from linerate.lab.links import Ends
from linerate.model.suites import Protocol as Frames
from linerate.model.testbed import Testbed


class BoxDut:
    """A box of one kind; its ports' MAC addresses say where frames are sent."""

    def __init__(self, name: str) -> None:
        self.name = name

    def prerequisites(self, _testbed: Testbed) -> list[Prerequisite]:
        """Nothing on this host."""
        return []

    def forwards(self, _testbed: Testbed) -> frozenset[Frames]:
        """Whatever it is set up for."""
        return ALL_FRAMES

    def routes(self, _testbed: Testbed) -> bool:
        """As the standard suite wants it."""
        return True

    @contextmanager
    def running(self, testbed: Testbed, _ends: Ends, place: Place) -> Iterator[Running]:
        """Open the way to it, and set it up where the testbed says how."""
        with running(testbed.dut, place.tester_cpus) as box:
            yield box
