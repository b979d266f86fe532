"""Run in the guest: one engine, trials on it one after the other; prints what came of each.

    trials.py PLAN.json      {"config": {…}, "trials": [{"seconds": 1, "mark": "/tmp/sending"}]}

A trial's `mark` is a file that is made when its first packets have been sent.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from linerate.base.errors import SetupError
from linerate.engine.engine_process import Engine, EngineError, Files
from linerate.engine.telemetry import Telemetry
from linerate.lab.tester._links import PortLinks, await_links

#: Emulated CPUs take turns on the host's: by the wall clock a trial is much longer.
STRETCH = 20
MORE_SECONDS = 60
LINK_SECONDS = 60


def read_ledger(telemetry: Telemetry) -> dict[tuple[str, str], int]:
    rows = telemetry.table("/linerate/ledger")
    return {(row["place"], row["kind"]): row["packets"] for row in rows}


def run_trial(telemetry: Telemetry, asked: dict[str, Any]) -> dict[str, Any]:
    # A NIC that was just started has no link yet.
    await_links(PortLinks(telemetry, {}, None, lambda _message: None), LINK_SECONDS)
    before = read_ledger(telemetry)
    seconds = float(asked["seconds"])
    telemetry.ask(f"/linerate/trial/start,duration_us={int(seconds * 1e6)},scale_ppm=1000000")
    deadline = time.monotonic() + STRETCH * seconds + MORE_SECONDS
    mark = asked.get("mark")
    while (status := telemetry.ask("/linerate/trial"))["state"] != "done":
        if mark is not None and status["elapsed_us"] > 0:
            Path(mark).touch()
            mark = None
        if time.monotonic() > deadline:
            raise TimeoutError(f"the trial does not end: {status}")
        time.sleep(0.02)
    after = read_ledger(telemetry)
    grown = [
        {"place": place, "kind": kind, "packets": count - before.get((place, kind), 0)}
        for (place, kind), count in after.items()
    ]
    return {"status": status, "ledger": [row for row in grown if row["packets"]]}


def main(path: str) -> None:
    """Print one JSON document, also when the engine does not start."""
    plan = json.loads(Path(path).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        files = Files(Path(folder) / "engine.json", Path(folder) / "engine.log")
        text: dict[str, Any] = {"trials": [], "error": ""}
        try:
            with Engine(plan["config"], files) as engine, engine.connect() as telemetry:
                text["ready"] = engine.ready
                text["trials"] = [run_trial(telemetry, asked) for asked in plan["trials"]]
                names = [port["name"] for port in plan["config"]["ports"]]
                text["ports"] = {name: telemetry.ask(f"/linerate/port,{name}") for name in names}
        except (EngineError, SetupError) as error:
            text["error"] = str(error)
        text["log"] = files.log.read_text(encoding="utf-8", errors="replace")
    print(json.dumps(text))


if __name__ == "__main__":
    main(sys.argv[1])
