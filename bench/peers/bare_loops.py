"""Linux drivers beside bare loops of the same system call, on one veth pair: what is ours to lose.

For sending, the other end has no receiver; for receiving, a bare loop on the other CPU sends at its
full rate, and pays for the hop.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from bench.peers.model import Kind, NotMeasuredError, Place, Sample, Session, Side
from bench.peers.registry import register
from bench.peers.session import EngineSession, engine_session
from linerate.base.drivers import on_interface
from linerate.host.netns.interfaces import Interface
from linerate.lab import syscall_loops

MEGABYTES = 128
#: By driver, the system call of its loop. libpcap has none of its own.
LOOPS = {
    "socket-single": "send",
    "socket-vector": "sendmmsg",
    "socket-mmap": "mmap",
    "io_uring": "io_uring",
}


@dataclass(frozen=True, slots=True)
class LoopSession:
    """A bare loop on one end of the pair."""

    cpu: int
    interface: Interface
    way: str
    call: str

    def sample(self, seconds: float) -> Sample:
        """Let it run for so long."""
        loop = syscall_loops.run(self.interface, self.way, self.call, self.cpu, seconds)
        return Sample(loop.pps, loop.clocks)


@dataclass(frozen=True, slots=True)
class DriverSession:
    """Our engine on one end of the pair."""

    engine: EngineSession
    way: str

    def sample(self, seconds: float) -> Sample:
        """Cycles of the node that receives, or that sends, and its packets."""
        elapsed, nodes = self.engine.node_clocks(seconds)
        # txonly sends by itself what it makes.
        prefixes = ("port-rx-",) if self.way == "rx" else ("port-tx-", "txonly-")
        mine = [node for name, node in nodes.items() if name.startswith(prefixes) and node.packets]
        packets = sum(node.packets for node in mine)
        if not packets:
            raise NotMeasuredError("no packet was moved")
        clocks = sum(node.clocks for node in mine) / packets
        return Sample(packets / elapsed * self.engine.tsc_hz, clocks, self.engine.tsc_hz)


def _config(place: Place, driver: str, way: str, interface: Interface) -> dict[str, Any]:
    port = on_interface(driver, interface.name, interface.netns, 0)
    return {
        "memory": {"pages": place.pages, "megabytes": MEGABYTES},
        "ports": [{"name": "e0", **port}],
        "forwarder": {"mode": "rxonly" if way == "rx" else "txonly", "ports": ["e0"]},
    }


def _side(driver: str, way: str, bare: bool) -> Side:
    @contextmanager
    def opened(place: Place) -> Iterator[Session]:
        with ExitStack() as stack:
            pair = stack.enter_context(syscall_loops.veth_pair())
            end = pair.receiver if way == "rx" else pair.sender
            if way == "rx":
                stack.enter_context(
                    syscall_loops.running(pair.sender, "tx", syscall_loops.SENDER, place.main_cpu)
                )
            if bare:
                yield LoopSession(place.work_cpu, end, way, LOOPS[driver])
                return
            config = _config(place, driver, way, end)
            yield DriverSession(stack.enter_context(engine_session(config, place)), way)

    return opened


for _driver, _loop in LOOPS.items():
    for _way in ("tx", "rx"):
        register(
            Kind(
                name=f"{_way}-{_driver}",
                text=f"{_driver} beside a bare loop, {_way}",
                ours=_side(_driver, _way, bare=False),
                peer=_side(_driver, _way, bare=True),
                peer_name=f"bare {_loop}",
                cores=2,
            )
        )
