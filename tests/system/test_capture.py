"""Frames for the control side: captured by filters, injected in order, neighbours in VLANs."""

import itertools
import json
import signal
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.schemas import valid_result
from tests.system import labs
from tests.system.configs import DUT_MACS, TESTER_MACS, card_config, stream
from tests.system.conftest import StartEngine
from tests.system.namespaces import Host, kernel_makes, namespaces, needs_namespaces, run
from tests.system.trials import run_trial

from linerate.engine.engine_process import Engine
from linerate.engine.frame_capture import CaptureOrder, FrameCapture
from linerate.engine.telemetry import RefusedError, Telemetry
from linerate.model.captured_frame import CapturedFrame

PPS = 2000
#: Streams with headers of their own, so that each filter matches some and not others.
KINDS: dict[str, list[dict[str, Any]]] = {
    "udp": [{"ipv4": {"src": "16.0.0.1", "dst": "48.0.0.1"}}, {"udp": {"src": 53, "dst": 80}}],
    "tcp": [{"ipv4": {"src": "16.0.0.2", "dst": "48.0.0.1"}}, {"tcp": {"src": 80, "dst": 1024}}],
    "tagged": [
        {"vlan": {"id": 100}},
        {"ipv4": {"src": "16.0.0.1", "dst": "48.0.0.2"}},
        {"udp": {}},
    ],
    "ip6": [{"ipv6": {"src": "2001:db8::1", "dst": "2001:db8::2"}}, {"udp": {"src": 53}}],
}
FILTERS = (
    "arp or icmp", "udp", "tcp port 80", "udp port 53", "host 16.0.0.1", "vlan 100", "vlan and udp",
    "ip6", "ip and not vlan", "less 100", "greater 200", "ip[16:4] = 0x30000001",
    "ether src 50:7c:6f:20:30:70 and dst net 48.0.0.0/24",
)  # fmt: skip


def streams() -> list[dict[str, Any]]:
    ethernet = {"ethernet": {"src": TESTER_MACS[0], "dst": DUT_MACS[0]}}
    return [
        stream(0, name=name, frame_bytes=size, rate={"pps": PPS}, layers=[ethernet, *layers])
        for (name, layers), size in zip(KINDS.items(), (82, 128, 300, 1400), strict=True)
    ]


@pytest.fixture
def engine(start_engine: StartEngine) -> Engine:
    return start_engine(card_config({}, {"mode": "io"}, streams()))


@pytest.fixture
def telemetry(engine: Engine) -> Iterator[Telemetry]:
    with engine.connect() as connected:
        yield connected


def counted(path: Path, words: str) -> int:
    """Frames of a file that tcpdump finds to match."""
    output = subprocess.run(
        ["tcpdump", "-nn", "-t", "-r", str(path), words],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return len(output.stdout.splitlines())


def read_all(capture: FrameCapture) -> list[CapturedFrame]:
    frames = capture.read()
    while not capture.is_empty:
        frames += capture.read()
    return frames


@pytest.mark.smoke
def test_filters_are_as_exact_as_tcpdumps(engine: Engine, tmp_path: Path) -> None:
    """One capture of all frames, and one a filter, of the same trial and all at once."""
    whole = tmp_path / "all.pcapng"
    words = ("capture", "t1", "--engine", engine.name, "--ring", "20000", "-w", str(whole))
    with engine.connect() as telemetry, labs.lab(*words) as lab:
        labs.wait_for(lambda: telemetry.table("/linerate/capture"))
        ids = [
            telemetry.ask(f"/linerate/capture/start,port=t1,snap=64,filter={one}")["id"]
            for one in FILTERS
        ]
        outcome = run_trial(engine, 0.25)
        lab.send_signal(signal.SIGINT)
        _, errors = lab.communicate(timeout=60)
        rows = {row["id"]: row for row in telemetry.table("/linerate/capture")}
    assert lab.returncode == 0, errors
    received = outcome.of_kind("received")
    assert outcome.unexplained == 0
    assert errors.startswith(f"{received} frames captured, {received} matched the filter, 0 missed")
    assert counted(whole, "") == received
    found = {one: rows[number]["matched"] for one, number in zip(FILTERS, ids, strict=True)}
    assert found == {one: counted(whole, one) for one in FILTERS}
    # None of them is empty by mistake.
    assert {one for one, count in found.items() if count == 0} == {"arp or icmp"}
    compiled = {one for one, number in zip(FILTERS, ids, strict=True) if rows[number]["compiled"]}
    assert {"arp or icmp", "host 16.0.0.1", "vlan 100", "less 100"} <= compiled


def test_frames_are_those_that_were_sent_with_times_that_grow(
    telemetry: Telemetry, engine: Engine
) -> None:
    order = CaptureOrder("t0", "tx", "udp port 53", ring=8192)
    there = CaptureOrder("t1", "rx", "udp port 53", ring=8192)
    with FrameCapture(telemetry, order) as sent, FrameCapture(telemetry, there) as received:
        outcome = run_trial(engine, 0.3)
        out, back = read_all(sent), read_all(received)
    assert outcome.unexplained == 0
    assert len(out) == sent.counters.captured > 0
    assert [frame.data for frame in out] == [frame.data for frame in back]
    assert all(frame.is_sent for frame in out)
    assert not any(frame.is_sent for frame in back)
    times = [frame.time_ns for frame in out]
    assert times == sorted(times)
    assert all(a.time_ns <= b.time_ns for a, b in zip(out, back, strict=True))


def test_what_finds_no_room_is_counted(telemetry: Telemetry, engine: Engine) -> None:
    with FrameCapture(telemetry, CaptureOrder("t1", ring=64)) as capture:
        outcome = run_trial(engine, 0.2)
        frames = read_all(capture)
        counters = capture.counters
    assert len(frames) == counters.captured == 64
    assert counters.missed == outcome.of_kind("received") - 64
    assert counters.matched == outcome.of_kind("received")
    assert outcome.unexplained == 0


def test_lines_of_a_live_capture_end_at_the_count(engine: Engine) -> None:
    words = ("capture", "t1", "--engine", engine.name, "--filter", "tcp", "--count", "3")
    with engine.connect() as telemetry, labs.lab(*words) as lab:
        labs.wait_for(lambda: telemetry.table("/linerate/capture"))
        run_trial(engine, 0.2)
        output, errors = lab.communicate(timeout=60)
    lines = output.splitlines()
    assert lab.returncode == 0, errors
    assert len(lines) == 3
    text = f" rx {TESTER_MACS[0]} > {DUT_MACS[0]}, 124 bytes: TCP 16.0.0.2 port 80 > 48.0.0.1 "
    assert all(text in line for line in lines)
    assert errors.startswith("3 frames captured, 3 matched the filter, 0 missed")


def test_frames_as_json(engine: Engine) -> None:
    words = ("capture", "t1", "--engine", engine.name, "--filter", "ip6", "-c", "2", "--json")
    with engine.connect() as telemetry, labs.lab(*words) as lab:
        labs.wait_for(lambda: telemetry.table("/linerate/capture"))
        run_trial(engine, 0.2)
        output, errors = lab.communicate(timeout=60)
    assert lab.returncode == 0, errors
    result = valid_result("capture", output)
    assert (result["matched"], result["captured"], result["missed"]) == (2, 2, 0)
    first, second = result["frames"]
    assert first["text"].startswith("UDP 2001:db8::1 port 53 > 2001:db8::2 port ")
    assert first["length_bytes"] == len(first["frame"]) // 2 == 1396
    assert first["time_ns"] <= second["time_ns"]


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ("port=t9", "port: expected the name of a port"),
        ("port=t0,filter=arp or", "filter: "),
        ("port=t0,snap=0", "snap: expected a number from 1 to 9728"),
        ("port=t0,direction=up", "direction: there is no up"),
        ("port=t0,ring=65536,snap=9728", "ask for less"),
        ("port=t0,size=1", "size: no such key"),
        ("t0", "expected KEY=VALUE"),
    ],
)
def test_mistakes_are_refused_with_a_reason(
    telemetry: Telemetry, parameters: str, why: str
) -> None:
    with pytest.raises(RefusedError, match=why):
        telemetry.ask(f"/linerate/capture/start,{parameters}")


def injected(number: int, size: int = 60) -> bytes:
    """A frame of no protocol that anyone knows, with a number in it."""
    macs = bytes.fromhex((DUT_MACS[0] + TESTER_MACS[0]).replace(":", ""))
    return (macs + b"\x88\xb5" + struct.pack(">I", number)).ljust(size, b"\xaa")


def test_frames_are_injected_in_order_and_the_books_balance(
    telemetry: Telemetry, engine: Engine
) -> None:
    """Beside a trial's own frames, several in a message."""
    numbers = itertools.count()
    telemetry.ask("/linerate/trial/start,duration_us=400000,scale_ppm=1000000")
    order = CaptureOrder("t1", filter="ether proto 0x88b5", ring=4096)
    with FrameCapture(telemetry, order) as capture:
        for _ in range(100):
            frames = ":".join(injected(next(numbers)).hex() for _ in range(3))
            assert telemetry.ask(f"/linerate/inject,port=t0,frame={frames}") == {"queued": 3}
        labs.wait_for(lambda: telemetry.ask("/linerate/trial")["state"] == "done")
        labs.wait_for(lambda: telemetry.table("/linerate/inject")[0]["waiting"] == 0)
        labs.wait_for(lambda: capture.read() is not None and capture.counters.captured == 300)
    ledger = telemetry.table("/linerate/ledger")
    sent = {row["place"]: row["packets"] for row in ledger if row["kind"] == "sent"}
    assert sent["tester t0: injected"] == 300
    other = sum(row["packets"] for row in ledger if row["kind"] == "other")
    assert other == 300
    assert sum(sent.values()) == sum(row["packets"] for row in ledger if row["kind"] != "sent")


def test_order_of_injected_frames_and_long_ones(telemetry: Telemetry, engine: Engine) -> None:
    long = injected(7, 1514)
    order = CaptureOrder("t1", filter="ether proto 0x88b5")
    with FrameCapture(telemetry, order) as capture:
        for number in range(0, 200, 4):
            frames = ":".join(injected(number + more).hex() for more in range(4))
            telemetry.ask(f"/linerate/inject,port=t0,frame={frames}")
        for at in range(0, len(long), 400):
            more = int(at + 400 < len(long))
            part = long[at : at + 400].hex()
            answer = telemetry.ask(f"/linerate/inject,port=t0,id=5,more={more},frame={part}")
            assert answer == {"queued": 1 - more}
        labs.wait_for(lambda: telemetry.table("/linerate/capture")[0]["captured"] == 201)
        frames_read = read_all(capture)
    assert [frame.data for frame in frames_read[:200]] == [injected(n) for n in range(200)]
    assert frames_read[200].data == long


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ("port=t0,frame=0203", "shorter than an Ethernet header"),
        ("port=t0,frame=02030", "hexadecimal"),
        ("port=t0,frame=zz", "hexadecimal"),
        ("port=e0,frame=" + "02" * 60, "one of the tester's"),
        ("port=t0,more=1,frame=02", "id=N"),
    ],
)
def test_wrong_frames_are_not_injected(telemetry: Telemetry, parameters: str, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        telemetry.ask(f"/linerate/inject,{parameters}")


#: VLAN of the tester's port as the engine has it, and its devices as the kernel makes them.
VLANS = {
    "untagged": ("", ()),
    "one tag": ("10", ("proto 802.1q id 10",)),
    "two tags": ("10:20", ("proto 802.1ad id 10", "proto 802.1q id 20")),
}


@needs_namespaces
@pytest.mark.parametrize("name", VLANS)
@pytest.mark.smoke("one tag")
def test_linux_and_a_port_resolve_and_ping_each_other(start_engine: StartEngine, name: str) -> None:
    """Addresses are given at run time; the kernel is the port's gateway."""
    vlan, devices = VLANS[name]
    host = Host(
        f"lrc-{len(devices)}-{TESTER_MACS[0][-2:]}", "10.9.0.1", "10.9.0.2", devices,
        "2001:db8:9::1", "2001:db8:9::2",
    )  # fmt: skip
    link = "lrc0"
    with namespaces(host):
        if devices and not kernel_makes(host, "vlan id 5"):
            pytest.skip("this kernel makes no VLANs")
        run(f"ip link add {link} type veth peer name {link}p netns {host.namespace}")
        try:
            run(f"sysctl -qw net.ipv6.conf.{link}.disable_ipv6=1", check=False)
            run(f"ip link set {link} arp off promisc on up")
            run(
                f"ethtool -K {link} tx off rx off tso off gso off gro off rxvlan off txvlan off",
                False,
            )
            host.configure(f"{link}p")
            check_neighbours(start_engine, host, link, vlan)
        finally:
            run(f"ip link delete {link}", check=False)


def check_neighbours(start_engine: StartEngine, host: Host, link: str, vlan: str) -> None:
    port = {"name": "t0", "driver": "socket-mmap", "device": link, "mac": TESTER_MACS[0]}
    engine = start_engine(
        {"memory": {"megabytes": 256}, "ports": [port], "tester": {"ports": ["t0"], "streams": []}}
    )
    tags = f",vlan={vlan}" if vlan else ""
    with engine.connect() as telemetry:
        with pytest.raises(RefusedError, match="no address"):
            telemetry.ask("/linerate/ping,port=t0,destination=10.9.0.1")
        telemetry.ask(
            f"/linerate/responder/set,port=t0,ip4=10.9.0.2/24,gateway4=10.9.0.1,"
            f"ip6=2001:db8:9::2/64,gateway6=2001:db8:9::1{tags}"
        )
        device = f"vlan{len(host.vlans) - 1}" if host.vlans else "eth0"
        shown = host.run(f"ip -j link show {device}").stdout
        mac = json.loads(shown)[0]["address"]
        gateways = telemetry.table("/linerate/resolve,port=t0")
        assert [row["mac"].lower() for row in gateways] == [mac, mac]
        # In another VLAN there is no one.
        telemetry.ask("/linerate/responder/add,port=t0,ip4=10.8.0.2/24,vlan=77")
        with pytest.raises(RefusedError, match="no answer to 3 ARP requests"):
            telemetry.ask("/linerate/resolve,port=t0,address=10.8.0.1,vlan=77")
        for address in ("10.9.0.1", "2001:db8:9::1"):
            replies = telemetry.table(
                f"/linerate/ping,port=t0,destination={address},size=1000,count=3"
            )
            assert [row["result"] for row in replies] == ["answered"] * 3
            assert all(row["by"] == address and row["rtt_ns"] > 0 for row in replies)
        # Beyond the gateway, which has no way there.
        host.run("ip route add unreachable 10.7.0.0/24")
        host.run("sysctl -qw net.ipv4.ip_forward=1")
        (refused,) = telemetry.table("/linerate/ping,port=t0,destination=10.7.0.1")
        assert (refused["result"], refused["by"]) == ("unreachable", "10.9.0.1")
        host.run("ping -n -c 2 -W 5 10.9.0.2")
        host.run("ping -n -6 -c 2 -W 5 2001:db8:9::2")
        neighbours = {
            row["dst"]: row.get("lladdr") for row in json.loads(host.run("ip -j neigh show").stdout)
        }
        assert neighbours["10.9.0.2"] == neighbours["2001:db8:9::2"] == TESTER_MACS[0]
        # Addresses that are taken away are no longer answered.
        telemetry.ask("/linerate/responder/remove,port=t0")
        assert telemetry.table("/linerate/addresses") == []
        assert host.run("ping -n -c 1 -W 1 10.9.0.2", check=False).returncode != 0
        ledger = telemetry.table("/linerate/ledger")
    assert {row["kind"] for row in ledger if row["packets"]} <= {"other"}


@pytest.mark.parametrize("inner", [None, 20])
@pytest.mark.smoke("None")
def test_a_router_is_resolved_and_pinged_in_vlans(
    start_engine: StartEngine, inner: int | None
) -> None:
    """The engine's own router, on a sub-interface of one tag or two."""
    tags = {"vlan": 10} | ({"inner_vlan": inner, "dot1ad": True} if inner else {})
    addresses = ["10.9.0.1/24", "2001:db8:9::1/64"]
    interfaces = [
        {"port": "e0", "addresses": ["10.1.0.1/24"]},
        {"port": "e0", "addresses": addresses, **tags},
    ]
    router = {"mode": "router", "router": {"interfaces": interfaces}}
    vlan = f"vlan=10:{inner}" if inner else "vlan=10"
    engine = start_engine(card_config({}, router, []))
    order = CaptureOrder("t0", "both", "vlan")
    with engine.connect() as telemetry, FrameCapture(telemetry, order) as capture:
        telemetry.ask(
            "/linerate/responder/set,port=t0,ip4=10.9.0.2,gateway4=10.9.0.1,"
            f"ip6=2001:db8:9::2/64,gateway6=2001:db8:9::1,{vlan}"
        )
        telemetry.ask("/linerate/responder/add,port=t0,ip4=10.1.0.2/24")
        gateways = telemetry.table("/linerate/resolve,port=t0")
        assert [row["mac"].lower() for row in gateways] == [DUT_MACS[0]] * 2
        for address in ("10.9.0.1", "2001:db8:9::1", "10.1.0.1"):
            (reply,) = telemetry.table(f"/linerate/ping,port=t0,destination={address},size=500")
            assert (reply["result"], reply["by"]) == ("answered", address)
        # The untagged address has a subnet, and no gateway; the tagged one has a gateway alone.
        (reply,) = telemetry.table("/linerate/ping,port=t0,destination=10.7.0.1")
        assert (reply["result"], reply["by"], reply["code"]) == ("unreachable", "10.9.0.1", 0)
        with pytest.raises(RefusedError, match="no answer to 3 ARP requests"):
            telemetry.ask("/linerate/ping,port=t0,destination=10.1.0.9")
        rows = {(row["address"], row["vlan"], row["inner_vlan"])
                for row in telemetry.table("/linerate/neighbors")}  # fmt: skip
        labs.wait_for(lambda: telemetry.table("/linerate/capture")[0]["captured"] >= 10)
        frames = read_all(capture)
    assert rows == {
        ("10.9.0.1", 10, inner or 0), ("2001:db8:9::1", 10, inner or 0), ("10.1.0.1", 0, 0),
    }  # fmt: skip
    head = b"\x88\xa8\x00\x0a\x81\x00\x00\x14" if inner else b"\x81\x00\x00\x0a"
    assert {frame.data[12 : 12 + len(head)] for frame in frames} == {head}
