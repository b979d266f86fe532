"""Places of loss in Linux boxes that a packet crosses through one port, or several times."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.boxes.linux import rule
from tests.boxes.matrix import NOTHING, Box, Place
from tests.system.box_paths import TABLE, cables_of, hairpin_box, snake_box
from tests.system.boxes import MACS, NETWORKS, TESTER_MACS
from tests.system.boxes import Box as Namespace

from linerate.model.testbed import parse

LINK = "30M"
_FLUSH = ("nft flush ruleset",)
_HALF = "48.0.0.0/25"
_RULE = r"^nft lost f: rule \d+ drops"


@contextmanager
def linux_hairpin() -> Iterator[Box]:
    """A router between two subnets on its one port."""
    with hairpin_box() as made:
        yield _box("linux-hairpin", made, _of_hairpin())


@contextmanager
def linux_snake() -> Iterator[Box]:
    """A router that packets cross twice."""
    with snake_box(2) as made:
        yield _box("linux-snake", made, _of_snake(made))


@contextmanager
def linux_long_snake() -> Iterator[Box]:
    """A router that packets cross three times."""
    with snake_box(3) as made:
        yield _box("linux-snake3", made, _of_snake(made))


def _box(kind: str, made: Namespace, places: tuple[Place, ...]) -> Box:
    return Box(kind, parse(made.testbed(link=LINK), "the matrix"), _runner(made), places)


def _runner(made: Namespace) -> Callable[[str], None]:
    """Commands run in the box; after `cables: ` in the namespace of its cables."""

    def run(command: str) -> None:
        where = cables_of(made) if command.startswith("cables: ") else made.namespace
        words = ["ip", "netns", "exec", where, "sh", "-c", command.removeprefix("cables: ")]
        done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=30)
        assert not done.returncode, f"{command}: {done.stderr}"

    return run


def _of_hairpin() -> tuple[Place, ...]:
    back = f"{NETWORKS[1]} via 100.64.2.2 dev e0"
    neighbours = tuple(
        line
        for side, network in enumerate(NETWORKS, start=1)
        for line in (
            f"ip neigh replace 100.64.{side}.2 lladdr {TESTER_MACS[0]} dev e0 nud permanent",
            f"ip route replace {network} via 100.64.{side}.2 dev e0",
        )
    )
    return (
        Place("nothing", (), (), NOTHING, limit="none"),
        Place("nothing, at full load", (), (), NOTHING, limit="line", load=1.0),
        Place("nft: rule that drops at random", rule("numgen random mod 10 == 0 counter drop"),
              _FLUSH, _RULE),
        Place("nft: rule without a counter", rule("numgen random mod 10 == 0 drop"), _FLUSH,
              "unexplained", says="nft lost f"),
        Place("route: blackhole", (f"ip route add blackhole {_HALF}",),
              (f"ip route del blackhole {_HALF}",), "unexplained", says="blackhole"),
        Place("route: none", (f"ip route del {back}",), (f"ip route add {back}",), "no route"),
        Place("TTL", rule("ip ttl set 1", "prerouting"), _FLUSH, "TTL exceeded"),
        Place("wrong MAC address", ("ip link set e0 address 02:00:00:00:00:99",),
              (f"ip link set e0 address {MACS[0]}", *neighbours), "another MAC"),
        Place("no neighbour", ("ip neigh del 100.64.2.2 dev e0",), neighbours, "unexplained",
              says="100.64.2.2"),
        # The port's own would refuse the frames that come in, too.
        Place("MTU of the route", (f"ip route replace {back} mtu lock 1400",
                                   *rule("ip frag-off set 0x4000", "prerouting")),
              (f"ip route replace {back}", *_FLUSH), "longer than the MTU", frame_bytes=1518),
        Place("tc: token bucket", ("tc qdisc add dev e0 root tbf rate 2mbit burst 5k limit 5k",),
              ("tc qdisc del dev e0 root",), "^e0: tc queue tbf"),
    )  # fmt: skip


def _of_snake(made: Namespace) -> tuple[Place, ...]:
    """Each kind of loss in each pass, and on each cable between two ports of the box."""
    passes = range(1, len(made.there) // 2 + 1)
    inside = tuple(place for number in passes for place in _of_pass(made, number))
    return (
        Place("nothing", (), (), NOTHING, limit="none"),
        Place("nothing, at full load", (), (), NOTHING, limit="line", load=1.0),
        *inside,
        # One rule that counts packets of all passes alike.
        Place("nft in all passes", rule("numgen random mod 10 == 0 counter drop"), _FLUSH,
              rf"{_RULE} \(pass \d\)$"),
        *(_on_cable(made, number) for number in passes[:-1]),
    )  # fmt: skip


def _of_pass(made: Namespace, number: int) -> Iterator[Place]:
    into, out = made.there[2 * number - 2], made.there[2 * number - 1]
    table = TABLE + 2 * number - 2
    at, here = rf" \(pass {number}\)$", f"in pass {number}"
    matched = f'iifname "{into}"'
    yield Place(f"nft {here}", rule(f"{matched} ip daddr 48.0.0.0/26 counter drop"), _FLUSH,
                _RULE + at)  # fmt: skip
    yield Place(f"TTL {here}", rule(f"{matched} ip ttl set 1", "prerouting"), _FLUSH,
                f"TTL exceeded{at}")  # fmt: skip
    yield Place(f"no route {here}", (f"ip route add throw {_HALF} table {table}",),
                (f"ip route del throw {_HALF} table {table}",), f"no route{at}")  # fmt: skip
    yield Place(f"blackhole {here}", (f"ip route add blackhole {_HALF} table {table}",),
                (f"ip route del blackhole {_HALF} table {table}",), "unexplained",
                says=f"in pass {number} ({into} to {out})")  # fmt: skip
    yield Place(f"tc {here}", (f"tc qdisc add dev {out} root tbf rate 2mbit burst 5k limit 5k",),
                (f"tc qdisc del dev {out} root",), f"^{out}: tc queue tbf")  # fmt: skip


def _on_cable(made: Namespace, number: int) -> Place:
    one, other = made.there[2 * number - 1], made.there[2 * number]
    shaper = f"cables: tc qdisc add dev n{number} root tbf rate 2mbit burst 5k limit 5k"
    return Place(f"cable {one} to {other}", (shaper,),
                 (f"cables: tc qdisc del dev n{number} root",),
                 f"^between {one} and {other}: ", limit="link")  # fmt: skip
