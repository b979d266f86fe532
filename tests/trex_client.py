"""TRex's client from PyPI, which `make setup-test` puts beside the venv's own packages.

It brings a copy of scapy, which is GPL, and replaces parts of other libraries: it runs in a process
of its own only.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import zmq

SCRIPTS = Path(__file__).parent / "trex_clients"
_FOLDER = Path(os.environ.get("LINERATE_TREX_CLIENT", Path(sys.prefix) / "trex-client"))
#: Its folder; None without it, or with a Python that it can't run on.
CLIENT = _FOLDER if _FOLDER.is_dir() and sys.version_info < (3, 12) else None
TIMEOUT_S = 120


def run_client(script, ports):
    """The JSON that a script prints, which is given both ports of a server."""
    done = subprocess.run(
        [sys.executable, SCRIPTS / f"{script}.py", *map(str, ports)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        env=os.environ | environment(),
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def environment():
    """Variables with which Python finds it, and nothing of ours."""
    return {"PYTHONPATH": os.pathsep.join((str(CLIENT), *_zmq()))}


def _zmq():
    """The folder of pyzmq, if it is not in the venv itself."""
    folder = Path(zmq.__file__).parent.parent
    return () if folder.is_relative_to(sys.prefix) else (str(folder),)
