"""Bare loops of one system call on a veth pair (bench/socket_loops.c), and what its hop costs.

A driver's cost has two parts: what its method costs, and what the wire takes whatever the
method. The cheapest loop of those that send is the nearest that can be had to the second.
"""

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from linerate.base.errors import SetupError
from linerate.engine.engine_process import EngineError, companion
from linerate.host import machine
from linerate.host.netns import namespaces, programs
from linerate.host.netns.interfaces import Interface, make_veth
from linerate.host.netns.privilege import missing_privilege, missing_program
from linerate.model.run_records import Hop

NAME = "linerate-socket-loops"
#: System calls of which there is a loop.
CALLS = ("send", "sendmmsg", "mmap", "io_uring")
#: Sends to those who receive, and receives from those who send.
SENDER, RECEIVER = "sendmmsg", "mmap"
#: Longer than anybody wants to measure: who started it ends it.
FOREVER_SECONDS = 3600.0
STARTED_SECONDS = 0.2
MTU = 1500
MACS = ("02:00:00:00:0f:00", "02:00:00:00:0d:00")
HOP_SECONDS = 0.25
HOP_REPEATS = 3


@dataclass(frozen=True, slots=True)
class Loop:
    """Result of a loop: packets a second, cycles and system calls per packet."""

    pps: float
    clocks: float
    syscalls: float


@dataclass(frozen=True, slots=True)
class Pair:
    """A veth between two namespaces."""

    sender: Interface
    receiver: Interface


@contextmanager
def veth_pair() -> Iterator[Pair]:
    """Make one; removed on exit. Raises SetupError."""
    if lacking := missing_privilege("a veth") + missing_program("ip", "iproute2", "a veth"):
        raise SetupError(str(lacking[0]))
    with ExitStack() as stack:
        ends = []
        for role in ("sender", "receiver"):
            netns = stack.enter_context(namespaces.made(role))
            ends.append(Interface(netns, role))
        make_veth(ends[0], ends[1], MTU, MACS)
        yield Pair(*ends)


def run(interface: Interface, way: str, call: str, cpu: int, seconds: float) -> Loop:
    """Send (`tx`) or receive (`rx`) for so long; raises SetupError."""
    command = _command(interface, way, call, cpu, seconds)
    output = subprocess.run(command, capture_output=True, text=True, check=False)
    if output.returncode:
        raise SetupError((output.stderr.strip() or f"{NAME}: no output").splitlines()[-1])
    found = json.loads(output.stdout)
    if not found["packets"]:
        raise SetupError(f"{NAME} {way} {call} moved no packet")
    return Loop(found["pps"], found["clocks_per_packet"], found["syscalls_per_packet"])


@contextmanager
def running(interface: Interface, way: str, call: str, cpu: int) -> Iterator[None]:
    """The same beside something else."""
    command = _command(interface, way, call, cpu, FOREVER_SECONDS)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, process_group=0)
    try:
        time.sleep(STARTED_SECONDS)
        yield
    finally:
        process.kill()
        process.wait()


def _command(interface: Interface, way: str, call: str, cpu: int, seconds: float) -> list[str]:
    bare = [_program(), way, call, interface.name, str(seconds)]
    return programs.in_namespace(interface.netns, ["taskset", "-c", str(cpu), *bare])


def _program() -> str:
    try:
        return str(companion(NAME))
    except EngineError as error:
        raise SetupError(str(error)) from error


def measure_hop(cpus: tuple[int, ...]) -> Hop:
    """Send by each call to a receiver on the first CPU, in turn; raises SetupError."""
    found = []
    with veth_pair() as pair, running(pair.receiver, "rx", RECEIVER, cpus[0]):
        for _ in range(HOP_REPEATS):
            for call in CALLS:
                loop = run(pair.sender, "tx", call, cpus[-1], HOP_SECONDS)
                found.append(
                    Hop(call=call, clocks=loop.clocks, pps=loop.pps, tsc_hz=machine.tsc_hz())
                )
    return min(found, key=lambda hop: hop.clocks)
