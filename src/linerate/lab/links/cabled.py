"""Wire `cabled`: ports of somebody's TRex server, cabled to a device that is there already."""

from collections.abc import Iterator
from contextlib import contextmanager

from linerate.base.prerequisites import Prerequisite
from linerate.lab.links import End, Ends, register
from linerate.lab.trex import client
from linerate.model.testbed import Testbed


class CabledLink:
    """All is there already, and on another machine."""

    name = "cabled"
    two_processes = True

    def prerequisites(self, _testbed: Testbed) -> list[Prerequisite]:
        """TRex's client."""
        return client.prerequisites()

    def pushes_back(self, _testbed: Testbed) -> bool:
        """No: what does not fit is lost."""
        return False

    @contextmanager
    def joined(self, _testbed: Testbed, _loopbacks: int = 1) -> Iterator[Ends]:
        """Nothing is made."""
        yield Ends((End({}), End({})), None)


register(CabledLink())
