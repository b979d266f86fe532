"""Linux port drivers on veth pairs: frames byte for byte, ledgers, ping, interfaces that go away."""

import ctypes
import itertools
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.system import namespaces
from tests.system.configs import stream
from tests.system.conftest import StartEngine
from tests.system.labs import wait_for
from tests.system.namespaces import Host, needs_namespaces
from tests.system.trials import run_trial

from linerate.engine.engine_process import EngineError, executable, refusal
from linerate.engine.telemetry import Telemetry

SOCKETS = ("socket-single", "socket-vector", "socket-mmap", "libpcap", "io_uring")
ETHDEVS = ("net_af_packet", "net_af_xdp")
DRIVERS = (*SOCKETS, *ETHDEVS)
ETH_P_ALL = 3
SOL_PACKET = 263
PACKET_AUXDATA = 8
PACKET_IGNORE_OUTGOING = 23
CLONE_NEWNET = 0x40000000
#: IEEE 802: for local experiments; no stack answers it.
TYPE = b"\x88\xb5"
MACS = bytes.fromhex("02000000000e507c6f203070")

_numbers = itertools.count()


def setns(namespace: int) -> None:
    """As os.setns of Python 3.12."""
    if ctypes.CDLL(None, use_errno=True).setns(namespace, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def port(name: str, driver: str, device: str, netns: str, **more: Any) -> dict[str, Any]:
    base = {"name": name, "netns": netns, **more}
    if driver not in ETHDEVS:
        return {**base, "driver": driver, "device": device}
    number = next(_numbers)
    return {
        **base,
        "driver": "ethdev",
        "device": f"{driver}{number}",
        "devargs": f"iface={device}",
    }


class Wires:
    """Veth pairs between two namespaces: tN in one, eN in the other. No stack uses them."""

    def __init__(self, count: int) -> None:
        number = f"{os.getpid()}-{next(_numbers)}"
        self.tester = f"lrs-t-{number}"
        self.dut = f"lrs-e-{number}"
        self.names = [
            (f"lrst{os.getpid() % 10000}{n}", f"lrse{os.getpid() % 10000}{n}") for n in range(count)
        ]

    def make(self) -> None:
        for netns in (self.tester, self.dut):
            namespaces.run(f"ip netns add {netns}")
        for near, far in self.names:
            namespaces.run(
                f"ip link add {near} netns {self.tester} type veth peer name {far} netns {self.dut}"
            )
            for netns, name in ((self.tester, near), (self.dut, far)):
                inside = f"ip netns exec {netns}"
                namespaces.run(f"{inside} sysctl -qw net.ipv6.conf.{name}.disable_ipv6=1", False)
                namespaces.run(f"ip -n {netns} link set {name} arp off up")

    def remove(self) -> None:
        for netns in (self.tester, self.dut):
            namespaces.run(f"ip netns delete {netns}", check=False)

    def duts(self, driver: str, **more: Any) -> list[dict[str, Any]]:
        return [
            port(f"e{n}", driver, far, self.dut, **more) for n, (_, far) in enumerate(self.names)
        ]

    def testers(self, driver: str) -> list[dict[str, Any]]:
        return [port(f"t{n}", driver, near, self.tester) for n, (near, _) in enumerate(self.names)]

    @contextmanager
    def packet_socket(self, number: int) -> Iterator[socket.socket]:
        """A packet socket on the tester's end: made inside its namespace."""
        there_path = Path(f"/run/netns/{self.tester}")
        with there_path.open() as there, Path("/proc/thread-self/ns/net").open() as home:
            setns(there.fileno())
            try:
                made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
                made.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
                made.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
                made.bind((self.names[number][0], ETH_P_ALL))
            finally:
                setns(home.fileno())
        with made:
            made.settimeout(120)
            yield made


@pytest.fixture
def wires() -> Iterator[Wires]:
    made = Wires(2)
    try:
        made.make()
        yield made
    finally:
        made.remove()


def forwarding(ports: list[dict[str, Any]], mode: str, **more: Any) -> dict[str, Any]:
    return {
        "memory": {"megabytes": 256},
        "ports": ports,
        "forwarder": {"mode": mode, "ports": [p["name"] for p in ports], **more},
    }


def trial_config(
    wires: Wires, dut: str, tester: str, mode: str, pps: int = 4000, **forwarder: Any
) -> dict[str, Any]:
    testers = wires.testers(tester)
    config = forwarding(wires.duts(dut), mode, **forwarder)
    config["ports"] += testers
    config["tester"] = {
        "ports": [p["name"] for p in testers],
        "streams": [
            stream(
                n,
                rate={"pps": pps},
                modifiers=[{"field": "udp.src", "op": "increment", "min": 1, "max": 200}],
            )
            for n in range(2)
        ],
    }
    return config


def counters(telemetry: Telemetry, name: str) -> dict[str, int]:
    answer: dict[str, int] = telemetry.ask(f"/linerate/port,{name}")
    return answer


def received(near: socket.socket) -> tuple[bytes, bytes]:
    """The next frame, and the VLAN tag that the kernel took off it."""
    frame, ancillary, _, _ = near.recvmsg(4096, 64)
    tag = b""
    for _level, _kind, data in ancillary:
        status = int.from_bytes(data[:4], "little")
        if status & 0x10:
            tci = int.from_bytes(data[16:18], "little")
            tpid = int.from_bytes(data[18:20], "little") if status & 0x40 else 0x8100
            tag = tpid.to_bytes(2, "big") + tci.to_bytes(2, "big")
    return frame, tag


def whole(near: socket.socket) -> bytes:
    frame, tag = received(near)
    return frame[:12] + tag + frame[12:]


def some_frames() -> list[bytes]:
    lengths = (60, 61, 64, 128, 777, 1513, 1514)
    bodies = [bytes((n * 7 + i) % 256 for i in range(length - 14)) for n, length in
              enumerate(lengths)]  # fmt: skip
    frames = [MACS + TYPE + body for body in bodies]
    tag = b"\x81\x00\x60\x64"
    return [
        *frames,
        MACS + tag + TYPE + bodies[1],
        MACS + b"\x88\xa8\x00\x05" + tag + TYPE + bodies[2],
    ]


@needs_namespaces
@pytest.mark.parametrize("mode", ["io", "macswap"])
@pytest.mark.parametrize("driver", SOCKETS)
@pytest.mark.smoke("socket-vector-io")
def test_frames_pass_byte_for_byte(
    start_engine: StartEngine, wires: Wires, driver: str, mode: str
) -> None:
    start_engine(forwarding(wires.duts(driver), mode))
    with wires.packet_socket(0) as first, wires.packet_socket(1) as second:
        for frame in some_frames():
            out = frame if mode == "io" else frame[6:12] + frame[:6] + frame[12:]
            first.send(frame)
            assert whole(second) == out
            second.send(frame)
            assert whole(first) == out


@needs_namespaces
@pytest.mark.parametrize("mode", ["io", "macswap"])
@pytest.mark.parametrize("driver", DRIVERS)
def test_every_packet_is_explained(
    start_engine: StartEngine, wires: Wires, driver: str, mode: str
) -> None:
    engine = start_engine(trial_config(wires, driver, driver, mode))
    outcome = run_trial(engine, 0.2)
    assert outcome.unexplained == 0, outcome.grown
    assert outcome.of_kind("received") > 0
    lost = sum(outcome.losses().values())
    assert outcome.of_kind("received") + lost == outcome.of_kind("sent")
    with engine.connect() as telemetry:
        for name in ("e0", "e1"):
            assert counters(telemetry, name)["rx_packets"] > 0


@needs_namespaces
@pytest.mark.parametrize("driver", SOCKETS)
def test_what_is_lost_in_an_overload_has_a_name(
    start_engine: StartEngine, wires: Wires, driver: str
) -> None:
    """More than one CPU carries; the kernel drops, and says so."""
    engine = start_engine(trial_config(wires, driver, "socket-mmap", "io", pps=150_000))
    outcome = run_trial(engine, 0.2)
    assert outcome.unexplained == 0, outcome.grown
    assert outcome.of_kind("received") > 0


@needs_namespaces
@pytest.mark.parametrize("driver", SOCKETS)
def test_system_calls_and_copied_bytes_are_counted(
    start_engine: StartEngine, wires: Wires, driver: str
) -> None:
    engine = start_engine(trial_config(wires, driver, "socket-single", "io"))
    run_trial(engine, 0.2)
    with engine.connect() as telemetry:
        dut = counters(telemetry, "e0")
    copies = 2 if driver in ("socket-mmap", "libpcap") else 1
    assert dut["rx_copied_bytes"] == copies * (dut["rx_bytes"] - 4 * dut["rx_packets"])
    assert dut["tx_copied_bytes"] == dut["tx_bytes"] - 4 * dut["tx_packets"]
    assert (dut["rx_syscalls"] == 0) == (driver == "socket-mmap")
    if driver in ("socket-single", "libpcap"):
        assert dut["tx_syscalls"] >= dut["tx_packets"]
    else:
        assert 0 < dut["tx_syscalls"] <= dut["tx_packets"]


def wait_for_log(folder: Path, text: str) -> str:
    """Wait for this text in the engine's log."""
    (log,) = folder.glob("engine-*.log")
    deadline = time.monotonic() + 120
    while text not in (output := log.read_text()):
        assert time.monotonic() < deadline, output
        time.sleep(0.05)
    return output


@needs_namespaces
@pytest.mark.parametrize("driver", SOCKETS)
def test_an_interface_that_is_deleted_in_mid_trial(
    start_engine: StartEngine, wires: Wires, tmp_path: Path, driver: str
) -> None:
    engine = start_engine(trial_config(wires, driver, driver, "io"))
    with engine.connect() as telemetry:
        telemetry.ask("/linerate/trial/start,duration_us=600000000,scale_ppm=1000000")
        wait_for(lambda: telemetry.ask("/linerate/trial")["received_packets"])
        namespaces.run(f"ip -n {wires.dut} link delete {wires.names[1][1]}")
        wait_for_log(tmp_path, f"port e1: interface {wires.names[1][1]} is gone")
        wait_for(lambda: counters(telemetry, "e1")["tx_link_down"])
        wait_for(lambda: telemetry.ask("/linerate/trial")["state"] == "done")
        assert set(telemetry.ask("/linerate/trial")["link_down_port"]) == {"e1", "t1"}
        assert counters(telemetry, "e1")["link_up"] == 0
        assert counters(telemetry, "e0")["link_up"] == 1
    log = wait_for_log(tmp_path, f"port t1: interface {wires.names[1][0]} is gone")
    assert log.count("port e1:") == 1
    assert log.count("port t1:") == 1


@needs_namespaces
@pytest.mark.parametrize("driver", ["socket-vector", "socket-mmap"])
def test_an_interface_that_comes_back_is_used_again(
    start_engine: StartEngine, wires: Wires, tmp_path: Path, driver: str
) -> None:
    start_engine(forwarding(wires.duts(driver), "io"))
    far = wires.names[1][1]
    namespaces.run(f"ip -n {wires.dut} link set {far} down")
    wait_for_log(tmp_path, f"port e1: interface {far} is down")
    namespaces.run(f"ip -n {wires.dut} link set {far} up")
    wait_for_log(tmp_path, f"port e1: interface {far} is up")
    frame = some_frames()[0]
    with wires.packet_socket(0) as first, wires.packet_socket(1) as second:
        first.send(frame)
        assert whole(second) == frame


@needs_namespaces
@pytest.mark.parametrize("driver", ["socket-vector", "socket-mmap", "io_uring"])
def test_several_rx_queues_share_what_comes(
    start_engine: StartEngine, wires: Wires, driver: str
) -> None:
    config = trial_config(wires, driver, "socket-vector", "io", workers=2)
    for entry in config["ports"][:2]:
        entry["rx_queues"] = 2
    engine = start_engine(config)
    outcome = run_trial(engine, 0.3)
    assert outcome.unexplained == 0, outcome.grown
    with engine.connect() as telemetry:
        for number in range(2):
            runtime = telemetry.ask(f"/linerate/runtime,forwarder-{number}")
            nodes = dict(zip(runtime["node"], runtime["vectors"], strict=True))
            assert nodes[f"port-rx-e0-{number}"] > 0


@needs_namespaces
@pytest.mark.parametrize("threading", ["locked", "lock-free"])
def test_readers_and_writers(start_engine: StartEngine, wires: Wires, threading: str) -> None:
    config = trial_config(
        wires, "socket-vector", "socket-vector", "macswap", workers=2, threading=threading
    )
    engine = start_engine(config)
    outcome = run_trial(engine, 0.3)
    assert outcome.unexplained == 0, outcome.grown
    assert outcome.of_kind("received") > 0
    with engine.connect() as telemetry:
        rows = {row["priority"]: row for row in telemetry.table("/linerate/rings")}
        normal = rows["normal"]
        assert (normal["from"], normal["to"]) == ("forwarder-0", "forwarder-1")
        assert normal["enqueued"] == normal["dequeued"] > 0
        assert normal["used"] + normal["free"] == normal["size"]
        reader = telemetry.ask("/linerate/runtime,forwarder-0")
        writer = telemetry.ask("/linerate/runtime,forwarder-1")
    assert not [name for name in reader["node"] if name.startswith("port-tx")]
    assert not [name for name in writer["node"] if name.startswith("port-rx")]


@contextmanager
def two_hosts(a: Host, b: Host) -> Iterator[tuple[str, str, str]]:
    """Each on a veth pair whose other end is in a third namespace, the router's."""
    middle = f"lrs-m-{os.getpid()}-{next(_numbers)}"
    names = (f"lrsa{os.getpid() % 10000}", f"lrsb{os.getpid() % 10000}")
    with ExitStack() as stack:
        stack.enter_context(namespaces.namespaces(a, b))
        namespaces.run(f"ip netns add {middle}")
        stack.callback(namespaces.run, f"ip netns delete {middle}", check=False)
        for host, name in zip((a, b), names, strict=True):
            namespaces.run(
                f"ip link add {name} netns {middle} type veth "
                f"peer name {name}p netns {host.namespace}"
            )
            inside = f"ip netns exec {middle} sysctl -qw"
            namespaces.run(f"{inside} net.ipv6.conf.{name}.disable_ipv6=1", check=False)
            namespaces.run(f"ip -n {middle} link set {name} arp off up")
            host.configure(f"{name}p")
        yield (*names, middle)


@needs_namespaces
@pytest.mark.parametrize("driver", ["socket-single", "socket-mmap", "io_uring"])
def test_hosts_ping_through_the_router(start_engine: StartEngine, driver: str) -> None:
    """And talk UDP with checksums that their kernels left unfinished."""
    a, b = namespaces.hosts()
    with two_hosts(a, b) as (first, second, middle):
        ports = [port("e0", driver, first, middle), port("e1", driver, second, middle)]
        router = {
            "interfaces": [
                {"port": "e0", "addresses": [f"{a.gateway}/24"]},
                {"port": "e1", "addresses": [f"{b.gateway}/24"]},
            ]
        }
        engine = start_engine(forwarding(ports, "router", router=router))
        output = a.run(f"ping -c 5 -i 0.1 -W 5 {b.address}").stdout
        assert " 0% packet loss" in output, output
        for host in (a, b):
            host.run("ethtool -K eth0 tx on")
        with b.background("iperf3 -s -1") as server:
            wait_for(lambda: ":5201" in b.run("ss -Hltn").stdout)
            output = a.run(f"iperf3 -c {b.address} -n 200K --connect-timeout 30000").stdout
            assert "receiver" in output, output
            server.wait(60)
        with engine.connect() as telemetry:
            assert counters(telemetry, "e0")["rx_finished_checksums"] > 0
        engine.stop()


@needs_namespaces
@pytest.mark.parametrize(
    ("changes", "output"),
    [
        ({"device": "nonesuch"}, "port e0: nonesuch in {dut}: interface: No such device"),
        ({"netns": "nonesuch"}, "port e0: network namespace nonesuch: No such file"),
    ],
)
def test_what_is_missing_is_reported_in_one_line(
    start_engine: StartEngine, wires: Wires, changes: dict[str, Any], output: str
) -> None:
    config = forwarding(wires.duts("socket-vector"), "io")
    config["ports"][0].update(changes)
    with pytest.raises(EngineError, match=output.format(dut=wires.dut)):
        start_engine(config)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch": 0}, "batch: expected"),
        ({"batch": 257}, "batch: expected"),
        ({"rx_queues": 17}, "rx_queues: expected"),
        ({"device": "a-name-that-is-too-long"}, "device: expected the name of a network"),
        ({"device": "../eth0"}, "device: expected the name of a network"),
        ({"device": None}, "device: "),
        ({"fanout": 1}, "fanout: "),
        ({"driver": "socket-single", "batch": 10}, "batch: "),
        ({"driver": "libpcap", "rx_queues": 2}, "rx_queues: expected"),
    ],
)
@pytest.mark.smoke
def test_a_wrong_port_is_refused_before_work_starts(changes: dict[str, Any], message: str) -> None:
    ports = [port(f"e{n}", "socket-vector", f"veth{n}", "") for n in range(2)]
    ports[0].update(changes)
    if changes.get("device", "") is None:
        del ports[0]["device"]
    assert message in refusal(forwarding(ports, "io"))


@needs_namespaces
def test_without_privilege_it_says_which_is_needed(
    start_engine: StartEngine, wires: Wires, tmp_path: Path
) -> None:
    ports = [port(f"e{n}", "socket-vector", far, "") for n, (_, far) in enumerate(wires.names)]
    config = tmp_path / "port.json"
    config.write_text(json.dumps({"name": "unprivileged", **forwarding(ports, "io")}))
    inside = ["ip", "netns", "exec", wires.dut, "setpriv", "--bounding-set=-net_raw"]
    done = subprocess.run(
        [*inside, str(executable()), str(config)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    (output,) = [line for line in done.stderr.splitlines() if line.startswith("port ")]
    assert "packet socket: Operation not permitted; packet sockets need CAP_NET_RAW" in output
