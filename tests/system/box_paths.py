"""Linux boxes with other paths than from one port to another: hairpins and snakes.

A hairpin routes between two subnets on one port. A snake routes a packet through several pairs of
its ports, by a table for each port that packets come in by; cables between its own ports go through
a namespace of their own, so that they can lose frames.
"""

import itertools
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from tests.system.boxes import MACS, NETWORKS, TESTER_MACS, Box
from tests.system.namespaces import run

#: Addresses of the inner ports.
INNER_MAC = "02:00:00:00:1e:{:02x}"
#: Routing table of packets that come in by e0; the next ones follow.
TABLE = 100

_numbers = itertools.count()


@contextmanager
def hairpin_box() -> Iterator[Box]:
    """A router on a stick: both networks are behind the one port, each on its own subnet."""
    with ExitStack() as stack:
        box = _namespace(stack, "h", tester=1, ports=1)
        (mine,), (port,) = box.here, box.there
        run(f"ip link add {mine} type veth peer name {port} netns {box.namespace}")
        stack.callback(run, f"ip link delete {mine}", check=False)
        _quiet(mine)
        inside = f"ip -n {box.namespace}"
        run(f"{inside} link set {port} address {MACS[0]} up")
        for number, network in enumerate(NETWORKS, start=1):
            run(f"{inside} address add 100.64.{number}.1/30 dev {port}")
            _neighbour(box, f"100.64.{number}.2", TESTER_MACS[0], port)
            run(f"{inside} route add {network} via 100.64.{number}.2 dev {port}")
        _routes(box)
        yield box


@contextmanager
def snake_box(passes: int) -> Iterator[Box]:
    """A router that packets cross several times."""
    with ExitStack() as stack:
        box = _namespace(stack, "s", tester=2, ports=2 * passes)
        inside, cables = f"ip -n {box.namespace}", f"{box.namespace}-cables"
        run(f"ip netns add {cables}")
        stack.callback(run, f"ip netns delete {cables}", check=False)
        run(f"ip netns exec {cables} sysctl -qw net.ipv6.conf.all.disable_ipv6=1", check=False)
        for mine, its in zip(box.here, (box.there[0], box.there[-1]), strict=True):
            run(f"ip link add {mine} type veth peer name {its} netns {box.namespace}")
            stack.callback(run, f"ip link delete {mine}", check=False)
            _quiet(mine)
        inner = zip(box.there[1:-1:2], box.there[2:-1:2], strict=True)
        for number, pair in enumerate(inner, start=1):
            _cable(box, cables, number, pair)
        macs = _macs(box)
        for name, mac in macs.items():
            run(f"{inside} link set {name} address {mac} up")
        for number, name in enumerate(box.there):
            subnet, neighbour = _beside(box, number, macs)
            run(f"{inside} address add {subnet}.1/30 dev {name}")
            _neighbour(box, f"{subnet}.2", neighbour, name)
        for number, name in enumerate(box.there):
            # Packets come in by e0 and leave by e1, and the other way round.
            out = number + 1 if number % 2 == 0 else number - 1
            via = f"{_beside(box, out, macs)[0]}.2"
            table = TABLE + number
            run(f"{inside} route add default via {via} dev {box.there[out]} table {table}")
            run(f"{inside} rule add iif {name} lookup {table}")
        _routes(box)
        yield box


def cables_of(box: Box) -> str:
    """The namespace of the cables between a snake's ports: a bridge each, of `mN` and `nN`."""
    return f"{box.namespace}-cables"


def _namespace(stack: ExitStack, kind: str, tester: int, ports: int) -> Box:
    mark = f"{kind}{os.getpid() % 1000000}{next(_numbers)}"
    name = f"lrt-box-{mark}"
    here = tuple(f"p{side}{mark}" for side in range(tester))
    box = Box(name, here, tuple(f"e{number}" for number in range(ports)))
    run(f"ip netns add {name}")
    stack.callback(run, f"ip netns delete {name}", check=False)
    run(f"ip -n {name} link set lo up")
    # No neighbour discovery among the trial's frames.
    box.run("sysctl -qw net.ipv6.conf.all.disable_ipv6=1", check=False)
    return replace(box, at=f"netns:{name}")


def _quiet(name: str) -> None:
    run(f"sysctl -qw net.ipv6.conf.{name}.disable_ipv6=1", check=False)
    run(f"ip link set {name} arp off up")


def _cable(box: Box, cables: str, number: int, pair: tuple[str, ...]) -> None:
    """Two ports of the box, joined by a bridge that learns nothing."""
    run(f"ip -n {cables} link add c{number} type bridge")
    for end, port in zip(("m", "n"), pair, strict=True):
        name = f"{end}{number}"
        run(f"ip -n {box.namespace} link add {port} type veth peer name {name} netns {cables}")
        run(f"ip -n {cables} link set {name} master c{number} up")
    run(f"ip -n {cables} link set c{number} up")


def _macs(box: Box) -> dict[str, str]:
    """By port of the box: its own."""
    inner = {name: INNER_MAC.format(number) for number, name in enumerate(box.there)}
    return inner | {box.there[0]: MACS[0], box.there[-1]: MACS[1]}


def _beside(box: Box, number: int, macs: dict[str, str]) -> tuple[str, str]:
    """The subnet of a port, and the MAC address of its neighbour there."""
    last = len(box.there) - 1
    if number in (0, last):
        side = int(number == last)
        return f"100.64.{side + 1}", TESTER_MACS[side]
    # e1 is cabled to e2, e3 to e4.
    return f"10.99.{number}", macs[box.there[number + 1 if number % 2 else number - 1]]


def _neighbour(box: Box, address: str, mac: str, port: str) -> None:
    run(f"ip -n {box.namespace} neighbour add {address} lladdr {mac} dev {port} nud permanent")


def _routes(box: Box) -> None:
    """It forwards, whatever the source, and tells its neighbours of no shorter way."""
    settings = ["net.ipv4.ip_forward=1"]
    for name in ("all", *box.there):
        conf = f"net.ipv4.conf.{name}"
        settings += [f"{conf}.rp_filter=0", f"{conf}.send_redirects=0"]
    box.run(f"sysctl -qw {' '.join(settings)}")
