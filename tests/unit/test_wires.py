"""Marks, leftovers, wires, devices and tools, as far as they need no privilege."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

import pytest

from linerate.analysis.validity import doubts, reasons
from linerate.base import ownership
from linerate.base.errors import SetupError, TestbedError
from linerate.engine import cleanup
from linerate.engine.telemetry import Telemetry
from linerate.host.machine import CpuSeconds
from linerate.host.netns import namespaces, privilege
from linerate.lab import dut, links, rig
from linerate.lab.dut._linux import _worker
from linerate.lab.dut.kernel import ip_counters
from linerate.lab.links import _memif_peers
from linerate.lab.links._memif_peers import awaited
from linerate.lab.tester import find_tool
from linerate.lab.tester.iperf3 import offered
from linerate.model.ledger import Entry, PacketLedger
from linerate.model.port_kinds import ports_text
from linerate.model.suites import SUITES
from linerate.model.testbed import (
    BOXES,
    STARTED,
    TESTERS,
    TREX,
    WIRES,
    Testbed,
    load,
    parse,
    with_options,
)
from linerate.model.worker_cpus import check_cpus
from linerate.parsers import boxes

SNMP = """Ip: Forwarding DefaultTTL InReceives InHdrErrors InAddrErrors OutNoRoutes
Ip: 1 64 1000 7 0 5
Icmp: InMsgs InErrors
Icmp: 0 0
"""


def dead_pid() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_a_name_tells_its_owner():
    name = ownership.new_name("dut")
    assert ownership.owner_of_name(name) == ownership.own()
    assert ownership.alive(ownership.own())
    assert ownership.new_name("dut") != name


@pytest.mark.parametrize(
    "name", ["", "lr", "lr-1", "lr-1-2-dut", "lr-1-2-3-", "xlr-1-2-3-dut", "lr-1-2-3-dut2-x", "e0"]
)
def test_other_names_have_no_owner(name):
    assert ownership.owner_of_name(name) is None


def test_a_later_process_of_the_same_number_is_another_one():
    own = ownership.own()
    assert not ownership.alive(ownership.Mark(own.pid, own.start - 1))
    assert not ownership.alive(ownership.Mark(dead_pid(), 1))


def test_a_child_carries_its_labs_mark():
    command = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ownership.environment()
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert ownership.owner_of_process(child.pid) == ownership.own()
        child.communicate()


@pytest.mark.skipif(os.geteuid() != 0, reason="a PID namespace is made by root")
def test_a_process_in_a_container_belongs_to_a_lab_there():
    gone = {ownership.VARIABLE: f"{dead_pid()}-1"}
    program = "import sys; print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        ["unshare", "--pid", "--fork", sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | gone,
    ) as container:
        assert container.stdout is not None
        container.stdout.readline()
        children = Path(f"/proc/{container.pid}/task/{container.pid}/children").read_text()
        assert str(ownership.owner_of_process(container.pid)) == gone[ownership.VARIABLE]
        assert ownership.owner_of_process(int(children)) is None
        container.communicate()


@pytest.mark.alone
def test_only_what_dead_labs_left_is_found(monkeypatch, tmp_path):
    dead = f"lr-{dead_pid()}-1-1"
    names = [f"{dead}-dut", ownership.new_name("dut"), "lrs-t", "blue", "lr-1-2-dut"]
    monkeypatch.setattr(namespaces, "names", lambda: names)
    monkeypatch.setattr(namespaces, "processes_in", lambda _: [])
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    for name in (f"{dead}-memif", ownership.new_name("memif"), "lr-else"):
        (tmp_path / name).mkdir()
    (tmp_path / f"{dead}-link").symlink_to(tmp_path / "lr-else")
    found = cleanup.find()
    assert [one.name for one in found if one.kind == "namespace"] == [f"{dead}-dut"]
    ours = [one for one in found if one.kind == "folder" and one.name.startswith(str(tmp_path))]
    assert [Path(one.name).name for one in ours] == [f"{dead}-memif"]
    cleanup.remove(ours)
    assert not (tmp_path / f"{dead}-memif").exists()


@pytest.mark.alone
def test_a_dead_labs_process_is_ended():
    mark = {ownership.VARIABLE: f"{dead_pid()}-1"}
    with subprocess.Popen(["sleep", "600"], env=os.environ | mark) as orphan:
        found = [one for one in cleanup.find() if one.name.startswith(f"{orphan.pid} ")]
        assert [one.name for one in found] == [f"{orphan.pid} (sleep)"]
        cleanup.remove(found)
        assert orphan.wait(60) == -9


def test_each_word_has_its_file():
    assert {links.find(name).name for name in WIRES} == set(WIRES)
    assert {dut.find(name).name for name in STARTED} == set(STARTED)
    assert {boxes.find(name).name for name in BOXES} == set(BOXES)
    assert {find_tool(name).name for name in TESTERS if name not in ("engine", TREX)} == {
        "iperf3",
        "testpmd",
    }


def test_devices_and_their_modes():
    testbed = with_options(Testbed(), "testpmd:macswap", wire="memif")
    assert (testbed.dut.kind, testbed.dut.mode, testbed.dut.name) == (
        "testpmd",
        "macswap",
        "testpmd-macswap",
    )
    assert with_options(Testbed(), "testpmd", wire="veth").dut.mode == "io"
    assert with_options(Testbed(), "kernel", wire="veth").dut.name == "kernel"
    assert with_options(testbed, "router").dut.built_in
    check_cpus(with_options(Testbed(), "kernel", wire="veth", workers=4), (0, 1))


@pytest.mark.parametrize(
    ("document", "line"),
    [
        ({"dut": {"kind": "kernel"}}, "x: wire: expected veth or af_xdp for kernel, not 'card'"),
        (
            {"wire": "veth", "dut": {"kind": "kernel", "mode": "io"}},
            "x: dut.mode: expected none, a kernel has no modes, not 'io'",
        ),
        (
            {"wire": "memif", "tester": {"kind": "iperf3"}},
            "x: wire: expected veth or af_xdp for other testers, not 'memif'",
        ),
        (
            {"wire": "veth", "tester": {"driver": "socket"}},
            "x: tester.driver: expected one of socket-single,",
        ),
        ({"dut": {"kind": "toaster"}}, "x: dut.kind: expected one of bridge,"),
    ],
)
def test_what_does_not_go_together_is_reported(document, line):
    with pytest.raises(TestbedError) as error:
        parse(document, "x")
    assert error.value.lines[0].startswith(line)


def test_what_is_missing_is_reported_with_how_to_get_it(monkeypatch):
    monkeypatch.setattr(privilege, "_effective_capabilities", lambda: 0)
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    testbed = with_options(Testbed(), "testpmd", wire="veth", tester="iperf3")
    assert list(map(str, rig.missing(testbed))) == [
        "wire veth needs CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN: run it as root",
        "wire veth needs ip: apt-get install iproute2",
        "testpmd needs dpdk-testpmd: apt-get install dpdk-dev",
        "tester iperf3 needs CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN: run it as root",
        "tester iperf3 needs iperf3: apt-get install iperf3",
    ]


def test_iperf3_sends_one_flow_only():
    testbed = with_options(Testbed(), "bridge", wire="veth", tester="iperf3")
    able = [test.name for test in SUITES["standard"].loadtests if rig.can_run(testbed, test)]
    assert able == ["U3"]


def test_ip_counters_are_read_by_name():
    assert ip_counters(SNMP)["OutNoRoutes"] == 5
    assert ip_counters("") == {}
    assert ip_counters("Ip: A B\n") == {}


def test_a_cpus_time_adds_up():
    before = _worker(1, CpuSeconds(100.0, 50.0, 10.0, 1.0, 39.0), 10**9, 0)
    after = _worker(1, CpuSeconds(110.0, 54.0, 15.0, 1.2, 39.8), 10**9, 5_000_000)
    ledger = after.since(before)
    assert ledger.closes
    assert ledger.nodes["softirq"].clocks_per_packet == pytest.approx(1000)
    assert ledger.spare_percent == pytest.approx(40)


def report(**changes):
    total = {"packets": 1000, "lost_packets": 40, "seconds": 1.0}
    cpu = {"host_total": 50.0, "remote_total": 40.0}
    return {"end": {"sum": total | changes, "cpu_utilization_percent": cpu}}


def test_iperf3s_report_is_read():
    message = offered(report(), {"iperf3 t1: socket full": 40})
    ledger = PacketLedger(entries=(*message.sent, *message.received))
    assert (ledger.sent, ledger.received, ledger.unexplained) == (1000, 960, 0)
    assert message.sender_cpu_percent == 50.0
    newer = report()
    newer["end"]["sum_sent"] = {"packets": 1001}
    assert offered(newer, {}).sent[0].packets == 1001


@pytest.mark.parametrize(
    "document", [{}, {"end": {}}, {"end": {"sum": {}}}, {"error": "no route to host"}]
)
def test_a_failed_iperf3_is_one_line(document):
    with pytest.raises(SetupError) as error:
        offered(json.loads(json.dumps(document)), {})
    assert "\n" not in str(error.value)


def test_foreign_devices_may_leave_packets_unexplained(evidence):
    foreign = evidence(unexplained=9, foreign=True)
    assert reasons(foreign) == ()
    assert any("9 packets unexplained" in doubt for doubt in doubts(foreign))
    assert any("unexplained" in reason for reason in reasons(evidence(unexplained=9)))
    gone = evidence(foreign=True)
    back = Entry(place="kernel e1", kind="loss", packets=-1)
    packets = PacketLedger(entries=(*gone.packets.entries, back))
    assert any("backwards" in one for one in reasons(gone.model_copy(update={"packets": packets})))


@pytest.mark.parametrize(
    ("device", "text", "pushes_back"),
    [
        ("0000:05:00.0", "real ports, 2 × 10 Gb/s", False),
        ("net_memif0", "memif sockets, 100 % is 2 × 10 Gb/s", True),
        ("net_af_packet0", "packet sockets on interfaces, 100 % is 2 × 10 Gb/s", True),
        ("net_af_xdp1", "AF_XDP sockets on interfaces, 100 % is 2 × 10 Gb/s", True),
        ("net_tap2", "tap interfaces, 100 % is 2 × 10 Gb/s", True),
        ("net_null0", "net_null devices, 100 % is 2 × 10 Gb/s", False),
    ],
)
def test_devices_say_what_they_are_and_whether_they_push_back(device, text, pushes_back):
    others = [{"device": "0000:06:00.0"}, {"device": "0000:06:00.1"}]
    document: dict[str, Any] = {
        "wire": "ethdev",
        "link": "10G",
        "tester": {"ports": [{"device": device}, {"device": device[:-1] + "7"}]},
        "dut": {"mode": "io", "ports": others},
    }
    testbed = parse(document, "x")
    assert links.find("ethdev").pushes_back(testbed) == pushes_back
    assert ports_text(testbed) == text
    # On the device's side, too.
    document["dut"]["ports"], document["tester"]["ports"] = (
        document["tester"]["ports"],
        document["dut"]["ports"],
    )
    assert links.find("ethdev").pushes_back(parse(document, "x")) == pushes_back


@pytest.mark.parametrize(
    ("wire", "pushes_back"), [("card", False), ("veth", True), ("af_xdp", True), ("memif", True)]
)
def test_wires_that_push_back(wire, pushes_back):
    assert links.find(wire).pushes_back(with_options(Testbed(), "io", wire=wire)) == pushes_back


EXTERNAL = {"kind": "external", "macs": ["02:00:00:00:0e:00", "02:00:00:00:0e:01"]}


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (
            {"wire": "memif", "dut": EXTERNAL},
            "x: tester.sockets: required for an external device: expected two, as "
            "[/run/vpp/a.sock, /run/vpp/b.sock]",
        ),
        (
            {"wire": "veth", "dut": EXTERNAL},
            "x: tester.interfaces: required for an external device: expected two that are joined "
            "to the device, as [eth1, eth2]",
        ),
        (
            {"wire": "memif", "tester": {"sockets": ["a", "b"]}},
            "x: tester.sockets: expected only with `dut: {kind: external}` on wire memif",
        ),
        (
            {"wire": "memif", "tester": {"sockets": ["a", "b"]}, "dut": {"kind": "external"}},
            "x: dut.macs: required of an external device: expected the addresses of its two ports, "
            "or IP addresses to ask for them: tester.addresses and dut.ports, as "
            "[{name: e0, address: 100.64.1.1/30}, ...]",
        ),
    ],
)
def test_how_an_external_device_is_joined_must_be_given(document, line):
    with pytest.raises(TestbedError) as error:
        parse(document, "x")
    assert error.value.lines == [line]


def external_memif(folder, names=("a.sock", "b.sock"), **tester):
    path = folder / "bed.yaml"
    document = {"wire": "memif", "tester": {"sockets": names, **tester}, "dut": EXTERNAL}
    path.write_text(json.dumps(document))
    return load(path)


def test_memif_sockets_are_joined_where_somebody_listens_and_made_elsewhere():
    # Not in tmp_path: the path of a socket has 107 bytes at most.
    with tempfile.TemporaryDirectory(prefix="lab-") as name:
        folder = Path(name)
        testbed = external_memif(folder)
        assert ports_text(testbed) == f"memif sockets {name}/a.sock and {name}/b.sock, " + (
            "100 % is 2 × 10 Gb/s"
        )
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as peer:
            peer.bind(f"{name}/a.sock")
            peer.listen()
            # Remains of a killed peer are no hindrance.
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as killed:
                killed.bind(f"{name}/b.sock")
            with links.find("memif").joined(testbed) as ends:
                joined, made = (end.port["devargs"] for end in ends.tester)
                assert joined.startswith(f"role=client,id=0,socket={name}/a.sock,")
                assert made.startswith(f"role=server,id=0,socket={name}/b.sock,")
                assert not (folder / "b.sock").exists()
                assert ends.dut is None
            # It was not connected to: some peers do not bear that.
            peer.setblocking(False)
            with pytest.raises(BlockingIOError):
                peer.accept()
        assert (folder / "a.sock").exists()


def test_rx_queues_of_memif_sockets_are_the_ports(tmp_path):
    with links.find("memif").joined(external_memif(tmp_path, ("@a", "@b"), rx_queues=2)) as ends:
        assert [end.port["rx_queues"] for end in ends.tester] == [2, 2]
    with links.find("memif").joined(external_memif(tmp_path, ("@a", "@b"))) as ends:
        assert all("rx_queues" not in end.port for end in ends.tester)


def test_rx_queues_without_sockets_are_refused():
    with pytest.raises(TestbedError) as error:
        parse({"wire": "card", "tester": {"rx_queues": 2}}, "bed.yaml")
    (line,) = error.value.lines
    assert "rx_queues: expected only with `sockets`" in line


def test_a_peer_in_another_namespace_is_found_without_asking_it(monkeypatch, tmp_path):
    head = "Num RefCount Protocol Flags Type St Inode Path\n"
    table = tmp_path / "unix"
    row = "0: 00000002 00000000 00010000 0005 01 {} {}\n"
    table.write_text(head + row.format(1, "/run/vpp/a.sock") + row.format(2, "@abstract"))
    monkeypatch.setattr(_memif_peers, "_other_tables", lambda: iter([table]))
    assert _memif_peers.somebody_listens("/run/vpp/a.sock")
    # It is of that namespace alone.
    assert not _memif_peers.somebody_listens("@abstract")


def test_a_folder_without_room_for_a_socket_is_reported(tmp_path):
    testbed = external_memif(tmp_path, ("none/a.sock", "none/b.sock"))
    with pytest.raises(SetupError) as error, links.find("memif").joined(testbed):
        pass
    assert str(error.value) == (
        f"memif {tmp_path}/none/a.sock: {tmp_path}/none is no folder that we may write to; make "
        "it, or mend tester.sockets"
    )


class Links:
    """Telemetry of an engine with two memifs, whose peers come one at each look."""

    def __init__(self, up):
        self._up = up

    def ask(self, command):
        word, _, number = command.partition(",")
        if word == "/ethdev/list":
            return [4, 5]
        if word == "/ethdev/info":
            return {"name": f"net_memif{int(number) - 4}"}
        self._up -= 1
        return {"status": "DOWN" if self._up > 0 else "UP"}


def as_telemetry(links: Links) -> Telemetry:
    return cast(Telemetry, links)


def test_peers_are_waited_for_and_not_for_ever():
    message = []
    sockets = {"net_memif0": "/a.sock", "net_memif1": "/b.sock"}
    awaited(sockets, 60)(
        as_telemetry(Links(5)), lambda text, seconds: message.append((text, seconds))
    )
    assert message == [("memif /a.sock: waiting for the device", 60)]
    with pytest.raises(SetupError) as error:
        awaited(sockets, 0.2)(as_telemetry(Links(1_000_000)), lambda _text, _seconds: None)
    assert str(error.value).startswith("memif /a.sock: no peer connected within 0.2 s; start the ")


def test_what_the_wire_does_not_take_is_no_ones_fault(evidence):
    slow = evidence(sent=1000, idle=0.5)
    assert any(reason.startswith("offered below asked") for reason in reasons(slow))
    load = slow.load.model_copy(update={"pushes_back": True})
    pushed = slow.model_copy(update={"load": load})
    assert reasons(pushed) == ()
    assert any(doubt.startswith("the wire took") for doubt in doubts(pushed))
