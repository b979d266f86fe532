"""Linux as a router that is given no neighbour: it learns the tester, and the tester learns it."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.system import labs
from tests.system.namespaces import Host, needs_namespaces, run

from linerate.engine.engine_process import Engine, Files
from linerate.lab.engine_config import idle_config
from linerate.lab.links.veth import VethLink
from linerate.lab.neighbors import learnt
from linerate.lab.tester.engine import EngineTester
from linerate.model.measurement import Measurement
from linerate.model.suites import DUT_MACS
from linerate.model.testbed import Testbed, parse

pytestmark = needs_namespaces

#: A kernel on a busy host of two CPUs forwards that without loss.
LINK = "20M"
TESTER_MACS = ("50:7c:6f:20:30:70", "50:7c:6f:20:30:71")


@dataclass(frozen=True)
class Box:
    """A namespace that routes between e0 and e1, whose other ends are here."""

    host: Host
    here: tuple[str, str]

    def macs(self) -> tuple[str, ...]:
        return tuple(
            str(json.loads(self.host.run(f"ip -j link show {port}").stdout)[0]["address"])
            for port in ("e0", "e1")
        )

    def neighbors(self) -> dict[str, str]:
        """MAC addresses that it has learnt, by address."""
        rows = json.loads(self.host.run("ip -j neigh show").stdout)
        return {row["dst"]: row["lladdr"] for row in rows if "lladdr" in row}


@contextmanager
def box(networks: tuple[str, str] = ("16.0.0.0/24", "48.0.0.0/24")) -> Iterator[Box]:
    number = f"{os.getpid() % 100000}"
    made = Box(Host(f"box-{number}", "", ""), (f"box0{number}", f"box1{number}"))
    namespace = made.host.namespace
    with ExitStack() as stack:
        run(f"ip netns add {namespace}")
        stack.callback(run, f"ip netns delete {namespace}", check=False)
        made.host.run("sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1")
        for index, (mine, network) in enumerate(zip(made.here, networks, strict=True)):
            its, number = f"e{index}", str(index + 1)
            run(f"ip link add {mine} type veth peer name {its} netns {namespace}")
            stack.callback(run, f"ip link delete {mine}", check=False)
            run(f"sysctl -qw net.ipv6.conf.{mine}.disable_ipv6=1", check=False)
            run(f"ip link set {mine} up")
            made.host.run(f"ip address add 100.64.{number}.1/30 dev {its}")
            made.host.run(f"ip address add fd00:{number}::1/64 dev {its} nodad")
            made.host.run(f"ip link set {its} up")
            made.host.run(f"ip route add {network} via 100.64.{number}.2")
            # As the tester's end does no checksums for it.
            made.host.run(f"ethtool -K {its} tx off", check=False)
        yield made


def bed(made: Box, **changes: object) -> dict[str, object]:
    return {
        "wire": "veth",
        "link": LINK,
        "tester": {
            "interfaces": made.here,
            "addresses": [["100.64.1.2/30", "fd00:1::2/64"], ["100.64.2.2/30", "fd00:2::2/64"]],
        },
        "dut": {
            "kind": "external",
            "ports": [
                {"name": "e0", "address": "100.64.1.1/30"},
                {"name": "e1", "address": "100.64.2.1/30"},
            ],
        },
    } | changes


@contextmanager
def idle_tester(testbed: Testbed, folder: Path) -> Iterator[EngineTester]:
    """The tester of a bed, between trials."""
    with VethLink("veth", "socket-mmap").joined(testbed) as ends:
        config = idle_config(testbed, ends, f"neighbors{os.getpid()}")
        files = Files(config=folder / "engine.json", log=folder / "engine.log")
        with Engine(config, files) as engine, engine.connect() as telemetry:
            yield EngineTester(telemetry, ())


@pytest.mark.parametrize("kind", ["external", "linux"])
@pytest.mark.smoke("external")
def test_a_bench_asks_the_box_and_the_box_asks_the_tester(tmp_path: Path, kind: str) -> None:
    networks = ("10.1.0.0/28", "10.2.0.0/16")
    with box(networks) as made:
        document = bed(made)
        document["tester"] = {**document["tester"], "networks": networks}  # type: ignore[dict-item]
        if kind == "linux":
            at = f"netns:{made.host.namespace}"
            document["dut"] = {**document["dut"], "kind": kind, "at": at}  # type: ignore[dict-item]
        (tmp_path / "bed.yaml").write_text(json.dumps(document))
        words = ("--only", "B2", "--duration", "1s", "--runs", str(tmp_path / "runs"))
        with (
            made.host.background("ping -n -i 0.1 100.64.1.2") as ping,
            labs.lab("bench", str(tmp_path / "bed.yaml"), *words) as lab,
        ):
            output, wrong = lab.communicate(timeout=300)
            ping.send_signal(signal.SIGINT)
            pinged, _ = ping.communicate(timeout=60)
        assert made.neighbors()["100.64.1.2"] == TESTER_MACS[0], wrong
        assert made.neighbors()["100.64.2.2"] == TESTER_MACS[1]
        # Ten a second, of which none is answered while the tester is started again.
        assert pinged.count("bytes from 100.64.1.2") > 10
    trials = [
        Measurement.model_validate_json(path.read_text())
        for path in (tmp_path / "runs").glob("*/evidence/B2*.json")
    ]
    assert trials, output + wrong
    # At full load a busy kernel may lose some; a trial without its MAC address loses all.
    assert all(trial.packets.received > 0.9 * trial.packets.sent for trial in trials), output
    # A box that is asked counts what it drops of pings and the like, too.
    for packets in (trial.packets for trial in trials if kind == "external"):
        assert packets.unexplained == packets.sent - packets.received - packets.total("loss")


def answers(capture: Path, fields: str, what: str) -> list[list[str]]:
    """Fields of the frames that tshark finds right, checksums included."""
    options = " ".join(f"-e {field}" for field in fields.split())
    checks = "-o ip.check_checksum:TRUE"
    output = subprocess.run(
        [
            "tshark",
            "-r",
            str(capture),
            "-T",
            "fields",
            *options.split(),
            *checks.split(),
            "-Y",
            what,
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return [line.split("\t") for line in output.stdout.splitlines()]


ECHOES = "icmp.type == 0 || icmpv6.type == 129"
PINGED = {
    "100.64.1.2": "-4 -c 3 -i 0.2 100.64.1.2",
    "longer": "-4 -c 2 -i 0.2 -s 1400 100.64.1.2",
    "fd00:1::2": "-6 -c 3 -i 0.2 fd00:1::2",
    "link-local": "-6 -c 2 -i 0.2 fe80::527c:6fff:fe20:3070%e0",
}


def test_the_tester_is_pinged(tmp_path: Path) -> None:
    capture = tmp_path / "e0.pcap"
    with box() as made, idle_tester(parse(bed(made), "bed"), tmp_path) as tester:
        with made.host.background(f"tcpdump -i e0 --immediate-mode -U -s 0 -w {capture}") as dump:
            assert dump.stdout is not None
            while "listening on" not in (line := dump.stdout.readline()):
                assert line, "tcpdump does not start"
            for words in PINGED.values():
                made.host.run(f"ping -W 5 {words}")
            labs.wait_for(lambda: len(answers(capture, "frame.number", ECHOES)) >= 10)
        learnt_by_box = made.neighbors()
        other_address = made.host.run("ping -c 1 -W 1 100.64.1.3", check=False)
        counted = tester.ledger()
    assert {learnt_by_box[address] for address in ("100.64.1.2", "fd00:1::2")} == {TESTER_MACS[0]}
    assert other_address.returncode != 0
    replies = answers(capture, "arp.src.hw_mac arp.src.proto_ipv4", "arp.opcode == 2")
    assert [TESTER_MACS[0], "100.64.1.2"] in replies
    advertised = answers(
        capture, "icmpv6.nd.na.target_address icmpv6.opt.linkaddr icmpv6.nd.na.flag.s",
        "icmpv6.type == 136 && icmpv6.checksum.status == 1",
    )  # fmt: skip
    assert any(row[:2] == ["fd00:1::2", TESTER_MACS[0]] for row in advertised)
    assert len(answers(capture, "ip.src", "icmp.type == 0 && icmp.checksum.status == 1")) == 5
    assert (
        len(answers(capture, "ipv6.src", "icmpv6.type == 129 && icmpv6.checksum.status == 1")) == 5
    )
    assert not answers(capture, "frame.number", "_ws.malformed || arp.duplicate-address-detected")
    # Neither pings nor their answers are in the packet ledger.
    assert counted.sent == counted.originated == counted.consumed == 0


def test_neighbours_are_asked_in_both_families(tmp_path: Path) -> None:
    with box() as made:
        for hops in ("100.64.1.1", "100.64.2.1"), ("fd00:1::1", "fd00:2::1"):
            document = bed(made, dut={"kind": "external"})
            document["tester"] = {**document["tester"], "next_hops": hops}  # type: ignore[dict-item]
            output: list[str] = []
            testbed = parse(document, "bed")
            with idle_tester(testbed, tmp_path) as tester:
                macs = learnt(tester, testbed, output.append)
            assert macs == dict(zip(DUT_MACS, made.macs(), strict=True))
            assert output[0] == f"t0: {hops[0]} is at {made.macs()[0]}"


def test_a_neighbour_that_does_not_answer_ends_the_bench_in_a_line(tmp_path: Path) -> None:
    with box() as made:
        made.host.run("ip address del 100.64.2.1/30 dev e1")
        (tmp_path / "bed.yaml").write_text(json.dumps(bed(made)))
        words = ("--only", "U2", "--duration", "1s", "--runs", str(tmp_path / "runs"))
        with labs.lab("bench", str(tmp_path / "bed.yaml"), *words) as lab:
            output, wrong = lab.communicate(timeout=300)
        assert lab.returncode != 0
    # A terminal wraps it.
    text = " ".join((output + wrong).split())
    assert "t1: neighbour 100.64.2.1: no answer to 3 ARP requests from 100.64.2.2" in text
    assert "or give dut.macs" in text
