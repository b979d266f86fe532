"""TRex's unmodified client, and its server's program, over a router on a virtual card."""

import contextlib
import os
import re
import signal
import subprocess
import sys

import pytest
from tests.trex_client import CLIENT, run_client

pytestmark = pytest.mark.skipif(CLIENT is None, reason="needs TRex's client: make setup-test")
COMMAND = (sys.executable, "-m", "linerate", "trex", "--sync-port", "0", "--async-port", "0")


@contextlib.contextmanager
def serving():
    """The server's two ports, while it serves; it ends without a complaint."""
    with subprocess.Popen(
        COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        lines = []
        try:
            for line in server.stdout:
                lines.append(line)
                if line.startswith("-Per port stats table"):
                    break
            found = re.search(r"ports (\d+) and (\d+)", "".join(lines))
            assert found is not None, server.stderr.read()
            yield found[1], found[2]
            server.send_signal(signal.SIGTERM)
            assert server.wait(30) == 0
        finally:
            server.kill()


@pytest.mark.smoke
def test_frames_of_clients_come_back_through_the_router():
    with serving() as ports:
        made = run_client("trafficgen", ports)
        assert made["sent"] == made["group_sent"] == [4000, 4000]
        assert all(0 < received <= 4000 for received in made["group_received"])
        made = run_client("csit", ports)
        assert all(0 < timed <= 2 * 1250 for timed in made["timed"])
        assert all(average > 0 for average in made["average_us"])
        made = run_client("session", ports)
        assert made["bursts"] == 150
        assert made["pushed"] == 2
