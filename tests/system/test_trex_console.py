"""TRex's console at a terminal, over a router on a virtual card."""

import re
import shutil
import sys
from pathlib import Path

import pytest
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


def test_a_session_at_the_console(tmp_path: Path) -> None:
    with serving(tmp_path) as ports:
        sync, wake = map(str, ports)
        words = ("-s", "127.0.0.1", "-p", sync, "--async_port", wake)
        command = (sys.executable, str(SCRIPTS / "console.py"), *words)
        with Terminal(command, tmp_path, environment()) as console:
            console.wait("Server mode:", "Stateless", PROMPT)
            _sends(console)
            _pings_and_captures(console, tmp_path)
            console.line("tui", "Press 'ESC' for navigation panel", "opackets")
            console.keys("C-d")
            console.wait("Exiting TUI", PROMPT)
            console.line("quit", "Pane is dead (status 0")


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
