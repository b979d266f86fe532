"""The actual kind of a testbed's ports, in words, independent of its wire."""

from linerate.base.drivers import kind_of_ports
from linerate.base.line_rate import format_bps
from linerate.model.testbed import Testbed


def ports_text(testbed: Testbed) -> str:
    """The tester's ports and their rate: `memif sockets, 100 % is 2 × 10 Gb/s`."""
    # A hairpin's one port sends and receives: the line carries one direction of the suites'.
    rate = f"{'' if testbed.hairpin else '2 × '}{format_bps(testbed.line_bps)}"
    if testbed.wire == "card":
        return f"virtual card, {rate}"
    if testbed.by_server and testbed.tester is not None:
        return f"TRex at {testbed.tester.server}, 100 % is {rate}"
    kinds = _kinds(testbed)
    return f"{kinds}, {rate}" if kinds == "real ports" else f"{kinds}, 100 % is {rate}"


def _kinds(testbed: Testbed) -> str:
    tester = testbed.tester
    if testbed.wire == "ethdev" and tester is not None and tester.ports is not None:
        return kind_of_ports(port.device for port in tester.ports)
    if tester is not None and tester.sockets is not None:
        return f"memif sockets {' and '.join(tester.sockets)}"
    if tester is not None and tester.interfaces is not None:
        return f"interfaces {' and '.join(tester.interfaces)}"
    return testbed.wire
