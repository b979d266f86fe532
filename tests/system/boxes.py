"""A Linux box: a router in a network namespace, cabled to two interfaces here, with its own sshd.

`linux_box()` makes the namespace and its cables, `with_sshd()` an ssh server in it with keys of its
own: nothing of the user's or the system's ssh is read or written. `Box.testbed()` is its testbed.
"""

import itertools
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.system.namespaces import run

TOOLS = ("ip", "ethtool", "ssh", "ssh-keygen")
#: Not on the path of every user.
SSHD = Path("/usr/sbin/sshd")
PORT = 22
#: Addresses of the tester's ports, and the networks behind them.
MACS = ("02:00:00:00:0e:00", "02:00:00:00:0e:01")
TESTER_MACS = ("50:7c:6f:20:30:70", "50:7c:6f:20:30:71")
NETWORKS = ("16.0.0.0/24", "48.0.0.0/24")
#: Links of veth have no rate: what two CPUs forward with ease.
LINK = "20M"

needs_boxes = pytest.mark.skipif(
    os.geteuid() != 0 or any(shutil.which(tool) is None for tool in TOOLS),
    reason=f"needs root and {', '.join(TOOLS)}",
)
needs_sshd = pytest.mark.skipif(
    os.geteuid() != 0 or not SSHD.exists() or any(shutil.which(tool) is None for tool in TOOLS),
    reason=f"needs root, openssh-server and {', '.join(TOOLS)}",
)

_numbers = itertools.count()


@dataclass(frozen=True)
class Box:
    """A namespace that routes between `e0` and `e1`."""

    namespace: str
    #: The tester's ends of the cables, and the box's ports: one, two, or more that packets cross
    #: one after the other.
    here: tuple[str, ...]
    there: tuple[str, ...] = ("e0", "e1")
    #: Another one for each box of this host.
    number: int = 0
    #: `dut.at` of a testbed file.
    at: str = ""
    #: Where the tests' `ssh` is, to be searched first; empty without an ssh server.
    programs: str = ""

    def run(
        self, command: str, check: bool = True, seconds: float = 60
    ) -> subprocess.CompletedProcess[str]:
        return run(f"ip netns exec {self.namespace} {command}", check, seconds)

    @property
    def environment(self) -> dict[str, str]:
        """Environment of a lab that is to reach the box."""
        path = os.environ.get("PATH", "")
        return {"PATH": f"{self.programs}:{path}"} if self.programs else {}

    @property
    def management(self) -> tuple[str, str]:
        """Addresses of the link for ssh: ours, and the box's; of RFC 2544's range for tests."""
        first = 4 * ((os.getpid() * 8 + self.number) % (1 << 15))
        base = (198 << 24) + (18 << 16) + first
        ours, its = (socket.inet_ntoa((base + host).to_bytes(4, "big")) for host in (1, 2))
        return ours, its

    def testbed(self, dut: Mapping[str, Any] | None = None, **changes: object) -> dict[str, Any]:
        """A testbed file's document; `dut` has further keys of the box."""
        its = {
            "kind": "linux",
            "at": self.at,
            "ports": [{"name": name} | self._addresses.get(name, {}) for name in self.there],
            "macs": list(MACS[: len(self.here)]),
        }
        return {
            "name": "linuxbox",
            "wire": "veth",
            "link": LINK,
            "tester": {"interfaces": list(self.here)},
            "dut": its | dict(dut or {}),
            **changes,
        }

    @property
    def _addresses(self) -> dict[str, dict[str, str]]:
        """By port that is cabled to one of the tester's."""
        ends = dict.fromkeys((self.there[0], self.there[-1]))
        return {
            name: {"address": f"100.64.{number}.1/30"} for number, name in enumerate(ends, start=1)
        }

    def file(self, folder: Path, dut: Mapping[str, Any] | None = None, **changes: object) -> Path:
        """The same as a file in a folder."""
        path = folder / "box.yaml"
        path.write_text(json.dumps(self.testbed(dut, **changes)), encoding="utf-8")
        return path


@contextmanager
def linux_box(configured: bool = True) -> Iterator[Box]:
    """Make the box; not `configured`: its ports are up, and nothing more."""
    number = next(_numbers)
    mark = f"{os.getpid() % 1000000}{number}"
    box = Box(f"lrt-box-{mark}", (f"bx0{mark}", f"bx1{mark}"), number=number)
    box = replace(box, at=f"netns:{box.namespace}")
    with ExitStack() as stack:
        run(f"ip netns add {box.namespace}")
        stack.callback(run, f"ip netns delete {box.namespace}", check=False)
        run(f"ip -n {box.namespace} link set lo up")
        # No neighbour discovery among the trial's frames.
        box.run("sysctl -qw net.ipv6.conf.all.disable_ipv6=1", check=False)
        for mine, its, mac in zip(box.here, box.there, MACS, strict=True):
            run(f"ip link add {mine} type veth peer name {its} netns {box.namespace}")
            stack.callback(run, f"ip link delete {mine}", check=False)
            run(f"sysctl -qw net.ipv6.conf.{mine}.disable_ipv6=1", check=False)
            run(f"ip link set {mine} arp off up")
            run(f"ip -n {box.namespace} link set {its} address {mac} up")
        if configured:
            configure(box)
        yield box


def configure(box: Box) -> None:
    """Make it the router that the standard suite wants."""
    for number, (name, mac, network) in enumerate(
        zip(box.there, TESTER_MACS, NETWORKS, strict=True), start=1
    ):
        inside = f"ip -n {box.namespace}"
        run(f"{inside} address add 100.64.{number}.1/30 dev {name}")
        run(f"{inside} neighbour add 100.64.{number}.2 lladdr {mac} dev {name} nud permanent")
        run(f"{inside} route add {network} via 100.64.{number}.2 dev {name}")
        box.run(f"sysctl -qw net.ipv4.conf.{name}.rp_filter=0")
    box.run("sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0")


@contextmanager
def with_sshd(box: Box, folder: Path) -> Iterator[Box]:
    """Run an ssh server in the box; the result is the same box, reached by ssh."""
    folder.mkdir(parents=True, exist_ok=True)
    ours, its = box.management
    with ExitStack() as stack:
        _management_link(stack, box, ours, its)
        make_keys(folder, its)
        process = stack.enter_context(_sshd(box, folder, its))
        _await_sshd(process, its, folder / "sshd.log")
        programs = ssh_client(folder)
        yield replace(box, at=f"ssh://root@{its}", programs=str(programs))


def _management_link(stack: ExitStack, box: Box, ours: str, its: str) -> None:
    name = f"mg{os.getpid() % 1000000}{box.number}"
    run(f"ip link add {name} type veth peer name mgmt netns {box.namespace}")
    stack.callback(run, f"ip link delete {name}", check=False)
    run(f"sysctl -qw net.ipv6.conf.{name}.disable_ipv6=1", check=False)
    run(f"ip address add {ours}/30 dev {name}")
    run(f"ip link set {name} up")
    run(f"ip -n {box.namespace} address add {its}/30 dev mgmt")
    run(f"ip -n {box.namespace} link set mgmt up")


def make_keys(folder: Path, address: str) -> None:
    """Make keys of a host and of its user in the folder, and the files that name them."""
    public = {}
    for name in ("host", "user"):
        words = [
            "ssh-keygen",
            "-q",
            "-t",
            "ed25519",
            "-N",
            "",
            "-C",
            name,
            "-f",
            str(folder / name),
        ]
        subprocess.run(words, check=True, timeout=60)
        public[name] = (folder / f"{name}.pub").read_text(encoding="utf-8")
    (folder / "authorized_keys").write_text(public["user"], encoding="utf-8")
    (folder / "known_hosts").write_text(f"{address} {public['host']}", encoding="utf-8")


@contextmanager
def _sshd(box: Box, folder: Path, address: str) -> Iterator["subprocess.Popen[bytes]"]:
    # sshd(8) refuses to start without it; the system's own start makes it.
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    (folder / "sshd_config").write_text(sshd_config(folder, address), encoding="utf-8")
    command = ["ip", "netns", "exec", box.namespace, str(SSHD), "-D", "-e", "-f"]
    with (
        (folder / "sshd.log").open("wb") as log,
        subprocess.Popen([*command, str(folder / "sshd_config")], stderr=log) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def sshd_config(folder: Path, address: str) -> str:
    """Settings of an ssh server whose keys are in the folder, as it calls it."""
    settings = {
        "ListenAddress": address,
        "Port": PORT,
        "HostKey": folder / "host",
        "AuthorizedKeysFile": folder / "authorized_keys",
        "PidFile": "none",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "PermitRootLogin": "prohibit-password",
        # The folders above it are the tests' own.
        "StrictModes": "no",
        "LogLevel": "VERBOSE",
    }
    return "".join(f"{key} {value}\n" for key, value in settings.items())


def _await_sshd(process: "subprocess.Popen[bytes]", address: str, log: Path) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection((address, PORT), timeout=5).close()
        except OSError:
            assert process.poll() is None, log.read_text(encoding="utf-8")
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return


def ssh_client(folder: Path) -> Path:
    """A folder with an `ssh` that reads no configuration but this."""
    settings = {
        "IdentityFile": folder / "user",
        "IdentitiesOnly": "yes",
        "IdentityAgent": "none",
        "UserKnownHostsFile": folder / "known_hosts",
        "GlobalKnownHostsFile": "none",
        "StrictHostKeyChecking": "yes",
    }
    lines = "".join(f"{key} {value}\n" for key, value in settings.items())
    (folder / "ssh_config").write_text(lines, encoding="utf-8")
    programs = folder / "bin"
    programs.mkdir()
    script = f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh_config "$@"\n'
    (programs / "ssh").write_text(script, encoding="utf-8")
    (programs / "ssh").chmod(0o755)
    return programs
