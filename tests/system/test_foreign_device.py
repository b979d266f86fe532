"""A foreign device that spoils frames at random: the tester counts what it did, to the frame."""

import collections
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.system import labs
from tests.system.namespaces import run as shell

from linerate.measurement import Measurement

DISTURBER = Path(__file__).parents[1] / "fake" / "disturber.py"
MACS = ["02:00:00:00:0e:00", "02:00:00:00:0e:01"]

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None, reason="needs root and ip"
)


@contextmanager
def two_links() -> Iterator[tuple[str, list[str], list[str]]]:
    """A namespace for the device, the tester's interfaces, and the device's."""
    number = f"{os.getpid() % 100000}"
    netns, here, there = f"spoil-{number}", [f"spt{i}{number}" for i in (0, 1)], ["e0", "e1"]
    with ExitStack() as stack:
        shell(f"ip netns add {netns}")
        stack.callback(shell, f"ip netns delete {netns}", check=False)
        for mine, its in zip(here, there, strict=True):
            shell(f"ip link add {mine} type veth peer name {its} netns {netns}")
            stack.callback(shell, f"ip link delete {mine}", check=False)
            shell(f"sysctl -qw net.ipv6.conf.{mine}.disable_ipv6=1", check=False)
            shell(f"ip netns exec {netns} sysctl -qw net.ipv6.conf.{its}.disable_ipv6=1")
            shell(f"ip link set {mine} arp off up")
            shell(f"ip -n {netns} link set {its} arp off up")
        yield netns, here, there


@contextmanager
def disturber(netns: str, names: list[str], *words: str) -> Iterator[subprocess.Popen[str]]:
    """Start the device; it is ended however the test ends."""
    command = ["ip", "netns", "exec", netns, sys.executable, str(DISTURBER), *names, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as device:
        try:
            assert device.stdout is not None
            assert device.stdout.readline() == "ready\n"
            yield device
        finally:
            device.kill()


def what_it_did(device: subprocess.Popen[str]) -> dict[str, int]:
    device.send_signal(signal.SIGTERM)
    said, _ = device.communicate(timeout=30)
    return {str(kind): int(count) for kind, count in json.loads(said).items()}


def measure(folder: Path, interfaces: list[str], test: str) -> collections.Counter[str]:
    """What the tester counted in all trials of a bench, valid or not: by kind of its ledger."""
    bed = {
        "wire": "veth",
        # Some 7,000 frames a second, for a device in Python.
        "link": "5M",
        "tester": {"interfaces": interfaces, "check_payload": True},
        "dut": {"kind": "external", "macs": MACS},
    }
    (folder / "bed.yaml").write_text(json.dumps(bed))
    words = ("--only", test, "--duration", "500ms", "--runs", str(folder / "runs"))
    with labs.lab("bench", str(folder / "bed.yaml"), *words) as lab:
        _, wrong = lab.communicate(timeout=300)
    counted: collections.Counter[str] = collections.Counter()
    trials = [
        Measurement.model_validate_json(path.read_text())
        for path in (folder / "runs").glob(f"*/evidence/{test}*.json")
    ]
    assert trials, wrong
    for trial in trials:
        for entry in trial.packets.entries:
            counted[entry.kind] += entry.packets
        counted["unexplained"] += trial.packets.unexplained
        counted["late"] += sum(stream["out_of_order"] for stream in trial.streams.values())
    return counted


CASES = {
    "drop": ("drop=0.05",),
    "duplicate": ("duplicate=0.05",),
    "drop and duplicate": ("drop=0.01", "duplicate=0.01"),
    "reorder": ("reorder=0.05",),
    "delay": ("delay=0.05",),
    "corrupt": ("corrupt=0.05",),
    "truncate": ("truncate=0.05",),
    "rewrite": ("rewrite=0.2",),
    "split": ("split=0.05",),
    "inject": ("inject=0.05",),
    "all": tuple(
        f"{kind}=0.02"
        for kind in (
            "drop", "duplicate", "reorder", "delay", "corrupt",
            "truncate", "rewrite", "split", "inject",
        )
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_a_device_does_is_counted_to_the_frame(tmp_path: Path, case: str) -> None:
    with (
        two_links() as (netns, here, there),
        disturber(netns, there, "1", *CASES[case]) as device,
    ):
        counted = measure(tmp_path, here, "B2" if case == "all" else "U2")
        did = what_it_did(device)
    kinds = ("drop", "duplicate", "corrupt", "truncate", "split", "inject", "late")
    drop, duplicate, corrupt, truncate, split, inject, late = (did.get(kind, 0) for kind in kinds)
    taken = sum(count for kind, count in did.items() if kind != "late")
    assert {kind: count for kind, count in counted.items() if count} == {
        kind: count
        for kind, count in {
            "sent": taken,
            "received": taken - drop - corrupt - truncate - split,
            "duplicated": duplicate,
            "corrupted": corrupt,
            "other": truncate + 2 * split + inject,
            "unexplained": drop + truncate + split,
            "late": late,
        }.items()
        if count
    }
    for word in CASES[case]:
        assert did[word.partition("=")[0]] > 0
