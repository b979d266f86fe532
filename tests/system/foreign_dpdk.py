"""DPDK programs of other projects as boxes, each in a namespace over packet sockets."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.system import labs
from tests.system.foreign import LINK, MACS, Links, two_links
from tests.system.namespaces import run

from linerate.model.measurement import Measurement

VSWITCHD = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
#: A program that polls has the last CPU: the tester takes the first.
CPU = max(os.sched_getaffinity(0))
PORT = "net_af_packet{number},iface={name},qdisc_bypass=1"
START_SECONDS = 30


@dataclass(frozen=True)
class Box:
    """A box that runs, and how a testbed names it."""

    links: Links
    kind: str
    socket: str
    ports: tuple[str, str]

    def testbed(self, link: str) -> dict[str, object]:
        """A testbed file's document."""
        return {
            "wire": "veth",
            "link": link,
            "tester": {"interfaces": self.links.here},
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
        (folder / "bed.yaml").write_text(json.dumps(self.testbed(LINK)))
        words = ("--only", test, "--duration", "1s", "--runs", str(folder / "runs"))
        with labs.lab("bench", str(folder / "bed.yaml"), *words, "--accept-suspect") as lab:
            _, wrong = lab.communicate(timeout=300)
        found = sorted((folder / "runs").glob(f"*/evidence/{test}*.json"))
        assert found, wrong
        return Measurement.model_validate_json(found[-1].read_text())


@contextmanager
def testpmd() -> Iterator[Box]:
    """dpdk-testpmd, which answers at its telemetry socket."""
    prefix = f"linerate-test-{os.getpid()}"
    runtime = Path("/var/run/dpdk") / prefix
    with two_links() as links:
        vdevs = [
            f"--vdev={PORT.format(number=number, name=name)}"
            for number, name in enumerate(links.there)
        ]
        lcores = f"0@{min(os.sched_getaffinity(0))},1@{CPU}"
        eal = ["--lcores", lcores, "--no-pci", "--no-huge", "-m", "256", "--file-prefix", prefix]
        app = ["-i", "--forward-mode=mac", "--total-num-mbufs=16384", "--auto-start"]
        command = ["ip", "netns", "exec", links.namespace, "dpdk-testpmd", *eal, *vdevs, "--", *app]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                socket = runtime / "dpdk_telemetry.v2"
                labs.wait_for(socket.is_socket)
                _favour(process.pid)
                yield Box(links, "testpmd", str(socket), ("net_af_packet0", "net_af_packet1"))
            finally:
                process.kill()
                process.wait()
                shutil.rmtree(runtime, ignore_errors=True)


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
    folder = Path(tempfile.mkdtemp(prefix="lr-ovs-"))
    prefix = f"linerate-ovs-{os.getpid()}"
    programs = (folder / "ovs-vswitchd.pid", folder / "ovsdb-server.pid")
    with two_links() as links:
        switch = Switch(links, "ovs", str(folder / "db.sock"), ("p0", "p1"), folder)
        try:
            _start(switch, prefix)
            yield switch
        finally:
            for pid_file in programs:
                with suppress(OSError, ValueError):
                    _end(int(pid_file.read_text()))
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(Path("/var/run/dpdk") / prefix, ignore_errors=True)


def _start(switch: Switch, prefix: str) -> None:
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
         f"options:dpdk-devargs={json.dumps(PORT.format(number=number, name=interface))}")
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
