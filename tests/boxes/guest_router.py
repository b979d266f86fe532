"""A Linux router in a guest under QEMU: a kernel and a CPU of its own, cabled to two interfaces here.

Its NICs are on taps, which QEMU makes and which go with it; a third one is for ssh. QEMU ends with
this process, however that ends, and all that the guest wrote with it.
"""

import itertools
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.boxes.cpu_share import CpuShare, cpu_share
from tests.nics.guest import Guest, Machine
from tests.nics.guest import running as booted
from tests.nics.labs import IMAGE, ROOT, device_of, qemu_with
from tests.system.boxes import (
    MACS,
    NETWORKS,
    TESTER_MACS,
    Box,
    make_keys,
    ssh_client,
    sshd_config,
)
from tests.system.namespaces import run

PORTS = ("e0", "e1")
MANAGEMENT_MAC = "02:00:00:00:0e:0f"
MEMORY_MEGABYTES = 512
#: Where the guest has the files of its ssh server.
INSIDE = Path("/root/box")
_numbers = itertools.count()

ROUTER = f"""\
set -e
for one in /sys/class/net/*; do
    case $(cat $one/address) in
    {MACS[0]}) name=e0;; {MACS[1]}) name=e1;; {MANAGEMENT_MAC}) name=mgmt;; *) continue;;
    esac
    ip link set ${{one##*/}} name $name
done
sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
ip link set e0 up; ip link set e1 up; ip link set mgmt up
ip address add 100.64.1.1/30 dev e0; ip address add 100.64.2.1/30 dev e1
ip neighbor add 100.64.1.2 lladdr {TESTER_MACS[0]} dev e0 nud permanent
ip neighbor add 100.64.2.2 lladdr {TESTER_MACS[1]} dev e1 nud permanent
ip route add {NETWORKS[0]} via 100.64.1.2 dev e0
ip route add {NETWORKS[1]} via 100.64.2.2 dev e1
sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.e0.rp_filter=0 net.ipv4.conf.e1.rp_filter=0
sysctl -qw net.ipv4.ip_forward=1
"""


@dataclass(frozen=True)
class Router:
    """A guest that routes between `e0` and `e1`."""

    guest: Guest
    box: Box
    #: Share of the host's CPU that the guest has.
    cpu: CpuShare

    def run(self, command: str) -> None:
        """Run a command in the guest."""
        self.guest.run(command, 60)


@contextmanager
def guest_router(model: str, folder: Path, accel: str = "tcg") -> Iterator[Router]:
    """Boot the router; `folder` has a short name, for sockets in it."""
    number = next(_numbers)
    mark = f"{os.getpid() % 1000000}{number}"
    taps = {port: f"g{port}{mark}" for port in (*PORTS, "mg")}
    ours = Box("", (taps["e0"], taps["e1"]), PORTS, number).management
    folder.mkdir(parents=True, exist_ok=True)
    keys = folder / "ssh"
    keys.mkdir()
    make_keys(keys, ours[1])
    machine = Machine(
        (*_one_cpu(), *qemu_with(model)),
        IMAGE,
        _tree(folder),
        accel,
        MEMORY_MEGABYTES,
        vcpus=1,
    )
    with ExitStack() as stack:
        guest = stack.enter_context(booted(machine, folder, _nics(model, taps)))
        for name in taps.values():
            run(f"sysctl -qw net.ipv6.conf.{name}.disable_ipv6=1", check=False)
        for name in (taps["e0"], taps["e1"]):
            run(f"ip link set {name} arp off up")
        run(f"ip address add {ours[0]}/30 dev {taps['mg']}")
        run(f"ip link set {taps['mg']} up")
        guest.run(ROUTER)
        _serve_ssh(guest, keys, ours[1])
        box = Box(
            "",
            (taps["e0"], taps["e1"]),
            PORTS,
            number,
            f"ssh://root@{ours[1]}",
            str(ssh_client(keys)),
        )
        yield Router(guest, box, stack.enter_context(cpu_share(guest.qemu.pid)))


def _one_cpu() -> tuple[str, ...]:
    """Words before a command that leave it the last CPU: the tester has the first."""
    return ("taskset", "-c", str(max(os.sched_getaffinity(0))))


def _tree(folder: Path) -> Path:
    """A disk with what a guest runs at its start, and nothing else."""
    disk, root = folder / "tree.img", folder / "tree"
    there = root / "tests" / "nics"
    there.mkdir(parents=True)
    run(f"cp -a {ROOT}/tests/nics/inside {there}")
    words = ["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-d", str(root)]
    subprocess.run([*words, str(disk), "4M"], check=True, capture_output=True, timeout=60)
    return disk


def _nics(model: str, taps: dict[str, str]) -> list[str]:
    of_port = {port: (device_of(model), mac) for port, mac in zip(PORTS, MACS, strict=True)}
    of_port["mg"] = (device_of("virtio-net"), MANAGEMENT_MAC)
    words = []
    for number, (port, (kind, mac)) in enumerate(of_port.items()):
        words += [
            *(
                "-device",
                f"pcie-root-port,id=port-{port},chassis={number + 1},addr={number + 8:#x}",
            ),
            *("-netdev", f"tap,id=net-{port},ifname={taps[port]},script=no,downscript=no"),
            "-device",
            f"{kind},id={port},bus=port-{port},netdev=net-{port},mac={mac},romfile=",
        ]
    return words


def _serve_ssh(guest: Guest, keys: Path, address: str) -> None:
    guest.run(
        f"mkdir -p {INSIDE} /run/sshd; chmod 700 {INSIDE}; ip address add {address}/30 dev mgmt"
    )
    for name in ("host", "host.pub", "authorized_keys"):
        guest.write(f"{INSIDE}/{name}", (keys / name).read_text(encoding="utf-8"))
    guest.write(f"{INSIDE}/sshd_config", sshd_config(INSIDE, address))
    # In the background it listens already.
    guest.run(f"chmod 600 {INSIDE}/*; /usr/sbin/sshd -f {INSIDE}/sshd_config")
