"""Linux drivers beside bare loops of the same system call, on one veth pair: what is ours to lose.

To send, nobody receives at the other end; to receive, a bare loop on the other CPU sends all
that it can, and pays for the hop.
"""

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from linerate.drivers import on_interface
from linerate.engine import executable
from linerate.errors import SetupError
from linerate.netns import namespaces, programs
from linerate.netns.interfaces import Interface, make_veth
from linerate.netns.privilege import missing_privilege, missing_program
from linerate.selfbench.model import Kind, NotMeasuredError, Place, Sample, Session, Side
from linerate.selfbench.registry import register
from linerate.selfbench.session import EngineSession, engine_session

NAME = "linerate-socket-loops"
MEGABYTES = 128
MTU = 1500
MACS = ("02:00:00:00:0f:00", "02:00:00:00:0d:00")
#: By driver, the system call of its loop. libpcap has none of its own.
LOOPS = {
    "socket-single": "send",
    "socket-vector": "sendmmsg",
    "socket-mmap": "mmap",
    "io_uring": "io_uring",
}
#: Sends to those who receive.
SENDER = "sendmmsg"
#: It outlasts a sample, with its warm-up and an engine's start.
SENDER_SECONDS = 3600
STARTED_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Pair:
    """Two namespaces with a veth between them."""

    sender: Interface
    receiver: Interface


@contextmanager
def _pair() -> Iterator[Pair]:
    if lacking := missing_privilege("a veth") + missing_program("ip", "iproute2", "a veth"):
        raise NotMeasuredError(lacking[0])
    with ExitStack() as stack:
        ends = []
        for role in ("sender", "receiver"):
            netns = namespaces.create(role)
            stack.callback(namespaces.remove, netns)
            ends.append(Interface(netns, role))
        make_veth(ends[0], ends[1], MTU, MACS)
        yield Pair(*ends)


def program() -> str:
    """Installed beside the engine; in a build folder it is in a folder beside the engine's."""
    engine = executable()
    places = (engine.parent, engine.parent.parent / "bench")
    found = next((folder / NAME for folder in places if (folder / NAME).exists()), None)
    if found is None:
        raise NotMeasuredError(f"{NAME} is not beside {engine}: build it with `make build`")
    return str(found)


def _command(cpu: int, interface: Interface, way: str, loop: str, seconds: float) -> list[str]:
    bare = [program(), way, loop, interface.name, str(seconds)]
    return programs.in_namespace(interface.netns, ["taskset", "-c", str(cpu), *bare])


@dataclass(frozen=True, slots=True)
class LoopSession:
    """A bare loop on one end of the pair."""

    cpu: int
    interface: Interface
    way: str
    loop: str

    def sample(self, seconds: float) -> Sample:
        """Let it run for so long."""
        command = _command(self.cpu, self.interface, self.way, self.loop, seconds)
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        if said.returncode:
            raise NotMeasuredError((said.stderr.strip() or "it said nothing").splitlines()[-1])
        found = json.loads(said.stdout)
        if not found["packets"]:
            raise NotMeasuredError("no packet was moved")
        return Sample(found["pps"], found["clocks_per_packet"])


@dataclass(frozen=True, slots=True)
class DriverSession:
    """Our engine on one end of the pair."""

    engine: EngineSession
    way: str

    def sample(self, seconds: float) -> Sample:
        """Clocks of the node that receives, or that sends, and its packets."""
        elapsed, nodes = self.engine.node_clocks(seconds)
        # txonly sends by itself what it makes.
        prefixes = ("port-rx-",) if self.way == "rx" else ("port-tx-", "txonly-")
        mine = [node for name, node in nodes.items() if name.startswith(prefixes) and node.packets]
        packets = sum(node.packets for node in mine)
        if not packets:
            raise NotMeasuredError("no packet was moved")
        clocks = sum(node.clocks for node in mine) / packets
        return Sample(packets / elapsed * self.engine.tsc_hz, clocks, self.engine.tsc_hz)


@contextmanager
def _sending(place: Place, pair: Pair) -> Iterator[None]:
    command = _command(place.main_cpu, pair.sender, "tx", SENDER, SENDER_SECONDS)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, process_group=0)
    try:
        time.sleep(STARTED_SECONDS)
        yield
    finally:
        process.kill()
        process.wait()


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
            try:
                pair = stack.enter_context(_pair())
            except SetupError as error:
                raise NotMeasuredError(str(error)) from error
            end = pair.receiver if way == "rx" else pair.sender
            if way == "rx":
                stack.enter_context(_sending(place, pair))
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
