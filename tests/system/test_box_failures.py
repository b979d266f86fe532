"""A box that vanishes, hangs or answers rubbish in the midst of a trial: one line, and all is kept."""

import json
from pathlib import Path

import pytest
from tests.command import run_command
from tests.system.boxes import linux_box, needs_boxes

from linerate.lab.box import asked_box
from linerate.model.measurement import Measurement

pytestmark = needs_boxes

#: An `ssh` whose box is a namespace; from the first question within a load on it is as FAULT says.
SSH = """#!/bin/sh
for command; do :; done
printf '%s\\n' "$*" >> {folder}/asked
case "$*" in *"-O exit"*) exit 0;; esac
case "$command" in *"/proc/softirqs"*) touch {folder}/spoilt;; esac
if [ -e {folder}/spoilt ]; then
  {fault}
fi
exec ip netns exec {namespace} sh -c "$command"
"""
FAULTS = {
    "vanishes": ("echo 'Connection to box closed by remote host.' >&2; exit 255", "box"),
    "refuses": ("echo 'root@box: Permission denied (publickey).' >&2; exit 255", "login refused"),
    "hangs": ("exec sleep 600", "no answer within"),
    "answers rubbish": ("head -c 3000 /dev/urandom; exit 0", "ssh://root@box"),
    "is cut off": ('sh -c "$command" | head -c 200; exit 255', "ssh://root@box"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_box_that_fails_in_a_trial_ends_the_run_in_a_line(
    tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked_box, "ASK_SECONDS", 2.0)
    monkeypatch.setattr(asked_box, "SETUP_SECONDS", 2.0)
    fault, words = FAULTS[case]
    programs = tmp_path / "bin"
    programs.mkdir()
    with linux_box() as box:
        script = SSH.format(folder=tmp_path, fault=fault, namespace=box.namespace)
        (programs / "ssh").write_text(script, encoding="utf-8")
        (programs / "ssh").chmod(0o755)
        dut = {"at": "ssh://root@box", "setup": ["true # up"], "teardown": ["true # down"]}
        file = str(box.file(tmp_path, dut))
        path = f"{programs}:/usr/sbin:/usr/bin:/sbin:/bin"
        bench = ("bench", file, "--only", "U2", "--duration", "1s", "--json", "--runs", "runs")
        done = run_command(bench, tmp_path, {"PATH": path})
    assert done.returncode == 1, done.stderr
    lines = [line for line in done.stderr.splitlines() if "ssh://root@box: about" not in line]
    line = next(line for line in lines if line.startswith("linerate: "))
    assert words in line, done.stderr
    assert "Traceback" not in done.stderr
    # Everything that was measured by then is kept.
    (run,) = (tmp_path / "runs").iterdir()
    assert json.loads((run / "run.json").read_text(encoding="utf-8"))["status"] == "failed"
    kept = [
        Measurement.model_validate_json(one.read_text(encoding="utf-8"))
        for one in (run / "evidence").glob("U2*.json")
    ]
    assert kept
    assert kept[0].packets.sent > 0
    assert kept[0].box is not None
    assert kept[0].box.problems
    # Teardown is tried, whatever the box does; ssh may never ask for a password.
    asked = (tmp_path / "asked").read_text(encoding="utf-8")
    assert "true # down" in asked
    assert asked.count("BatchMode=yes") >= asked.count("-- root@box")
