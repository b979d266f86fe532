"""The bare hand-over between two cores: a stamp, and what the card is held against."""

import json
import subprocess

from bench.peers.model import NotMeasuredError, Place, Stamp
from linerate.engine.engine_process import companion

NAME = "linerate-handover"
MILLISECONDS = 100
TIMEOUT_SECONDS = 20.0


def take_stamp(place: Place) -> Stamp:
    """Measure how near the CPUs are, and what mbufs over two rings do there now."""
    program = companion(NAME)
    cpus = (str(place.main_cpu), str(place.work_cpu))
    try:
        output = subprocess.run(
            [program, *cpus, str(MILLISECONDS)],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=True,
        )
        document = json.loads(output.stdout)
        return Stamp(float(document["roundtrip_ns"]), float(document["mpps"]) * 1e6)
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        raise NotMeasuredError(f"{NAME}: {error}") from error
