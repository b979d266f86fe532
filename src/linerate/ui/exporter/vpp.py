"""VPP's stats segment, read by VPP's own `vpp_get_stats`, where both are there."""

import os
import shutil
import subprocess
from pathlib import Path

from linerate.model.evidence import Evidence
from linerate.parsers.text import text_of
from linerate.parsers.tools.vpp_stats import stats

#: Where VPP listens for readers of its segment; $LINERATE_VPP_STATS names another place.
SOCKET = Path("/run/vpp/stats.sock")
#: Nodes, interfaces, errors: what metrics are made of.
PATTERNS = ("^/sys/node/", "^/if/", "^/err/")
TIMEOUT_SECONDS = 0.8
#: Size of a VPP with thousands of nodes; more is not read.
DUMP_CHARS_MAX = 16 << 20


def read_segment() -> Evidence | None:
    """Read it; None where there is no VPP, no program to read it with, or no right to."""
    path = Path(os.environ.get("LINERATE_VPP_STATS", str(SOCKET)))
    program = shutil.which("vpp_get_stats")
    if program is None or not os.access(path, os.R_OK | os.W_OK):
        return None
    command = [program, "socket-name", str(path), "dump", *PATTERNS]
    try:
        output = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_SECONDS,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    return stats(text_of(output, program)) if len(output) <= DUMP_CHARS_MAX else None
