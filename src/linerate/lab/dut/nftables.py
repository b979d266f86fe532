"""Device `nftables`: the kernel as a router, whose known flows go by an nftables flow table."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files

from linerate.base.errors import SetupError
from linerate.base.prerequisites import Prerequisite
from linerate.host.netns import namespaces
from linerate.host.netns.privilege import missing_privilege, missing_program
from linerate.host.netns.programs import run_in
from linerate.lab.dut import Place, Running, find, register
from linerate.lab.links import Ends
from linerate.model.suites import Protocol as Frames
from linerate.model.testbed import Testbed

_RULES = files("linerate.lab.dut") / "flowtable.nft"
_WHAT = "flow table forwarding"


class NftablesDut:
    """Flows of UDP are entered in the table with their first packet."""

    name = "nftables"

    def prerequisites(self, testbed: Testbed) -> list[Prerequisite]:
        """The program, and a kernel that has flow tables: tried in a namespace."""
        lacking = missing_privilege(_WHAT) or missing_program("nft", "nftables", _WHAT)
        return lacking or find("kernel").prerequisites(testbed) or _kernel_without()

    def forwards(self, _testbed: Testbed) -> frozenset[Frames]:
        """IPv4 alone."""
        return frozenset({"ipv4"})

    def routes(self, _testbed: Testbed) -> bool:
        """Always."""
        return True

    @contextmanager
    def running(self, testbed: Testbed, ends: Ends, place: Place) -> Iterator[Running]:
        """Set up the router, then the table."""
        with find("kernel").running(testbed, ends, place) as kernel:
            assert ends.dut is not None
            names = ", ".join(end.interface for end in ends.dut)
            _apply(ends.dut[0].netns, names)
            yield kernel


def _apply(netns: str, interfaces: str) -> None:
    rules = _RULES.read_text(encoding="utf-8").replace("INTERFACES", interfaces)
    done = run_in(netns, ["nft", "-f", "-"], rules)
    if done.returncode:
        output = next(iter(done.stderr.strip().splitlines()), "no output")
        raise SetupError(f"nft in {netns}: {output}")


def _kernel_without() -> list[Prerequisite]:
    try:
        with namespaces.made("probe") as netns:
            _apply(netns, "lo")
    except SetupError:
        return [
            Prerequisite(
                f"{_WHAT} needs a kernel with nf_flow_table (CONFIG_NF_FLOW_TABLE, "
                "CONFIG_NFT_FLOW_OFFLOAD)",
                "try modprobe nft_flow_offload",
            )
        ]
    return []


register(NftablesDut())
