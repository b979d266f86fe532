"""TRex's console at a terminal, over a router on a virtual card."""

import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.system.boxes import linux_box, needs_boxes
from tests.system.trex_server import serving
from tests.tmux import Terminal
from tests.trex_client import CLIENT, SCRIPTS, environment

pytestmark = [
    pytest.mark.skipif(CLIENT is None, reason="needs TRex's client: make setup-test"),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux"),
]
PROFILE = Path(__file__).parents[1] / "data" / "trex" / "one_packet.py"
DONE = "[SUCCESS]"
PROMPT = "trex>"
SERVICE_PROMPT = "trex(service)>"


@pytest.mark.smoke
def test_a_session_at_the_console(tmp_path: Path) -> None:
    with serving(tmp_path) as ports, _console(ports, tmp_path) as console:
        _sends(console)
        _pings_and_captures(console, tmp_path)
        console.line("tui", "Press 'ESC' for navigation panel", "opackets")
        console.keys("C-d")
        console.wait("Exiting TUI", PROMPT)
        console.line("quit", "ended with 0")


@contextmanager
def _console(ports: tuple[str, str], folder: Path) -> Iterator[Terminal]:
    """TRex's console, connected."""
    sync, wake = map(str, ports)
    words = ("-s", "127.0.0.1", "-p", sync, "--async_port", wake)
    command = (sys.executable, str(SCRIPTS / "console.py"), *words)
    with Terminal(command, folder, environment()) as console:
        console.wait("Server mode:", "Stateless", PROMPT)
        yield console


def test_a_map_of_ports_that_are_joined(tmp_path: Path) -> None:
    with serving(tmp_path, "--dut", "io") as ports, _console(ports, tmp_path) as console:
        console.line("map", "port 0 <--> port 1", "Mapping unknown")
        console.line("quit", "ended with 0")


@needs_boxes
def test_a_scan_finds_the_router_of_a_box(tmp_path: Path) -> None:
    with linux_box() as box:
        box.run("sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.e0.disable_ipv6=0")
        box.run("sysctl -qw net.ipv6.conf.all.forwarding=1")
        file = box.file(tmp_path)
        with serving(tmp_path, str(file)) as ports, _console(ports, tmp_path) as console:
            console.line("service", SERVICE_PROMPT)
            # The address that the kernel makes of its MAC address.
            found = console.line("scan6 -p 0 -t 3", "IPv6 search result", "fe80::ff:fe00:e00")
            assert "Router" in found
            console.line("map", "Mapping unknown", "port 0", "port 1")
            console.line("service --off", PROMPT)
            console.line("quit", "ended with 0")


def _sends(console: Terminal) -> None:
    console.line(f"start -f {PROFILE} -m 1kpps -p 0", "Starting traffic", DONE)
    console.line("stats --port 0", "TRANSMITTING")
    console.line("streams -p 0", "Continuous")
    console.line("update -m 2kpps -p 0", "Updating traffic", DONE)
    console.line("pause -p 0", "Pausing traffic", DONE)
    console.line("stats --port 0", "PAUSE")
    console.line("resume -p 0", "Resume traffic", DONE)
    console.line("stop -p 0", "Stopping traffic", DONE)
    console.line("stats --port 0", "IDLE")


def _pings_and_captures(console: Terminal, folder: Path) -> None:
    console.line("service", SERVICE_PROMPT)
    console.line("l3 -p 0 --src 100.64.1.2 --dst 100.64.1.1", "ARP reply from")
    begun = console.line("capture record start --rx 0 --limit 50", "Capturing ID is set to '")
    found = re.search(r"ID is set to '(\d+)'", begun)
    assert found is not None
    console.line("ping -p 0 -d 100.64.1.1 -n 2", "Reply from 100.64.1.1")
    shown = console.line("capture show", "ACTIVE")
    assert "[2/50]" in shown
    console.line("capture monitor start --rx 0 -f icmp", "capture monitor stop")
    console.line("ping -p 0 -d 100.64.1.1 -n 1", "Port: 0", "ICMP")
    console.line("capture monitor stop", DONE)
    file = folder / "captured.pcap"
    console.line(f"capture record stop --id {found[1]} -o {file}", "Removing PCAP capture", DONE)
    assert file.stat().st_size > 24
    console.line("service --off", PROMPT)
