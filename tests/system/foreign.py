"""A device that is not ours: a program of tests/fake in a namespace, with two interfaces."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.system.namespaces import run

FAKE = Path(__file__).parents[1] / "fake"
MACS = ["02:00:00:00:0e:00", "02:00:00:00:0e:01"]
#: Some 7,000 frames of 64 bytes a second: what a device in Python forwards.
LINK = "5M"


@dataclass(frozen=True)
class Links:
    """Two veth pairs into a namespace."""

    namespace: str
    #: The tester's ends, and the device's.
    here: tuple[str, str]
    there: tuple[str, str] = ("e0", "e1")


@contextmanager
def two_links() -> Iterator[Links]:
    """Make the namespace and the pairs; they are gone afterwards."""
    number = f"{os.getpid() % 100000}"
    links = Links(f"foreign-{number}", (f"frn0{number}", f"frn1{number}"))
    inside = links.namespace
    with ExitStack() as stack:
        run(f"ip netns add {inside}")
        stack.callback(run, f"ip netns delete {inside}", check=False)
        for mine, its in zip(links.here, links.there, strict=True):
            run(f"ip link add {mine} type veth peer name {its} netns {inside}")
            stack.callback(run, f"ip link delete {mine}", check=False)
            run(f"sysctl -qw net.ipv6.conf.{mine}.disable_ipv6=1", check=False)
            run(f"ip netns exec {inside} sysctl -qw net.ipv6.conf.{its}.disable_ipv6=1")
            run(f"ip link set {mine} arp off up")
            run(f"ip -n {inside} link set {its} arp off up")
        yield links


@contextmanager
def device(links: Links, program: str, *words: str) -> Iterator["subprocess.Popen[str]"]:
    """Start the program there, once it is ready; it is ended however the test ends."""
    command = ["ip", "netns", "exec", links.namespace, sys.executable, str(FAKE / program)]
    command += [*links.there, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()
