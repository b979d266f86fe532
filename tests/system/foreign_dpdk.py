"""Open vSwitch on DPDK as a box: packet sockets in a namespace, or memifs."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.system import labs
from tests.system.foreign import LINK, MACS, Links, two_links
from tests.system.namespaces import run

from linerate.model.measurement import Measurement

VSWITCHD = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
#: A program that polls has the last CPU: the tester takes the first.
CPU = max(os.sched_getaffinity(0))
PORT = "net_af_packet{number},iface={name},qdisc_bypass=1"
MEMIF = "net_memif{number},role=server,id=0,socket={name},socket-abstract=no"
START_SECONDS = 30


@dataclass(frozen=True)
class Box:
    """A box that runs, and how a testbed names it."""

    links: Links
    kind: str
    socket: str
    ports: tuple[str, str]

    @property
    def joined(self) -> dict[str, object]:
        """The tester's side of it."""
        if self.links.here[0].startswith("/"):
            # A queue for each of its threads that send: one that polls, and the main one.
            return {"wire": "memif", "tester": {"sockets": self.links.here, "rx_queues": 2}}
        return {"wire": "veth", "tester": {"interfaces": self.links.here}}

    def testbed(self, link: str) -> dict[str, object]:
        """A testbed file's document."""
        return {
            "link": link,
            **self.joined,
            "dut": {
                "kind": self.kind,
                "at": f"netns:{self.links.namespace}",
                "socket": self.socket,
                "ports": [{"name": name} for name in self.ports],
                "macs": MACS,
            },
        }

    def measured(self, folder: Path, test: str = "U2") -> Measurement:
        """A trial of it."""
        return measured(self.testbed(LINK), folder, test)


def measured(testbed: Mapping[str, Any], folder: Path, test: str = "U2") -> Measurement:
    """A trial on a testbed, by the command line; also where no packet comes through."""
    document = {**testbed, "dut": {**testbed["dut"], "first_packets": False}}
    (folder / "bed.yaml").write_text(json.dumps(document))
    words = ("--only", test, "--duration", "1s", "--runs", str(folder / "runs"))
    with labs.lab("bench", str(folder / "bed.yaml"), *words, "--accept-suspect") as lab:
        _, wrong = lab.communicate(timeout=300)
    found = sorted((folder / "runs").glob(f"*/evidence/{test}*.json"))
    assert found, wrong
    return Measurement.model_validate_json(found[-1].read_text())


@dataclass(frozen=True)
class Switch(Box):
    """Open vSwitch with a bridge of two ports."""

    folder: Path

    def ask(self, *words: str) -> None:
        """A command of its own programs."""
        subprocess.run(
            words, check=True, capture_output=True, timeout=START_SECONDS, env=_of(self.folder)
        )


@contextmanager
def open_vswitch() -> Iterator[Switch]:
    """Open vSwitch on DPDK, with a database of its own; p0 and p1 are joined by flows."""
    with two_links() as links, _switching(links, PORT) as switch:
        yield switch


@contextmanager
def open_vswitch_over_memif() -> Iterator[Switch]:
    """The same, whose ports are memifs: it makes their sockets, and taps in its namespace."""
    namespace = f"foreign-memif-{os.getpid()}"
    with tempfile.TemporaryDirectory(prefix="lr-ovs-memif-") as folder:
        sockets = (f"{folder}/0.sock", f"{folder}/1.sock")
        run(f"ip netns add {namespace}")
        try:
            with _switching(Links(namespace, sockets, sockets), MEMIF) as switch:
                yield switch
        finally:
            run(f"ip netns delete {namespace}", check=False)


@contextmanager
def _switching(links: Links, port: str) -> Iterator[Switch]:
    folder = Path(tempfile.mkdtemp(prefix="lr-ovs-"))
    prefix = f"linerate-ovs-{os.getpid()}"
    programs = (folder / "ovs-vswitchd.pid", folder / "ovsdb-server.pid")
    switch = Switch(links, "ovs", str(folder / "db.sock"), ("p0", "p1"), folder)
    try:
        _start(switch, prefix, port)
        yield switch
    finally:
        for pid_file in programs:
            with suppress(OSError, ValueError):
                _end(int(pid_file.read_text()))
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(Path("/var/run/dpdk") / prefix, ignore_errors=True)


def _start(switch: Switch, prefix: str, port: str) -> None:
    folder, inside = switch.folder, ("ip", "netns", "exec", switch.links.namespace)
    switch.ask("ovsdb-tool", "create", f"{folder}/conf.db", str(SCHEMA))
    quiet = ("--detach", "--no-chdir", "-vconsole:off")
    switch.ask(*inside, "ovsdb-server", f"{folder}/conf.db", f"--remote=punix:{switch.socket}",
               f"--pidfile={folder}/ovsdb-server.pid", f"--unixctl={folder}/db.ctl", *quiet)  # fmt: skip
    memory = f"--no-huge --legacy-mem -m 256 --no-pci --file-prefix={prefix}"
    switch.ask("ovs-vsctl", "--no-wait", "init")
    switch.ask(
        "ovs-vsctl", "--no-wait", "set", "Open_vSwitch", ".", "other_config:dpdk-init=true",
        f"other_config:dpdk-extra={json.dumps(memory)}",
        f"other_config:pmd-cpu-mask={1 << CPU:#x}",
        f"other_config:dpdk-lcore-mask={1 << min(os.sched_getaffinity(0)):#x}",
    )  # fmt: skip
    switch.ask(*inside, VSWITCHD, f"--pidfile={folder}/ovs-vswitchd.pid", *quiet)
    _favour(int((folder / "ovs-vswitchd.pid").read_text()))
    ports = [
        ("--", "add-port", "br0", name, "--", "set", "interface", name, "type=dpdk",
         f"options:dpdk-devargs={json.dumps(port.format(number=number, name=interface))}")
        for number, (name, interface) in enumerate(zip(switch.ports, switch.links.there, strict=True))
    ]  # fmt: skip
    words = ("ovs-vsctl", "add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev")
    switch.ask(*words, *(word for port in ports for word in port))
    switch.ask("ovs-ofctl", "del-flows", "br0")
    for one, other in (switch.ports, switch.ports[::-1]):
        switch.ask("ovs-ofctl", "add-flow", "br0", f"in_port={one},actions=output:{other}")


def _of(folder: Path) -> dict[str, str]:
    return os.environ | {"OVS_RUNDIR": str(folder), "OVS_DBDIR": str(folder),
                         "OVS_LOGDIR": str(folder)}  # fmt: skip


def _favour(pid: int) -> None:
    """Other groups of processes leave its CPU to it, as on a host that only forwards."""
    with suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text("-20")


def _end(pid: int) -> None:
    run(f"kill {pid}", check=False)
    labs.wait_for(lambda: not Path(f"/proc/{pid}/stat").exists())
