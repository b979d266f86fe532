"""contrib/ci/measure with real engines: equal ones, and one whose forwarder burns cycles."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from linerate.engine.engine_process import executable

MEASURE = Path(__file__).parents[2] / "contrib" / "ci" / "measure"
#: Cycles that are planted for each packet, several times what it costs.
BURN = 1000
SLOWER = f"""#!{sys.executable}
import json, os, sys
from pathlib import Path
path = Path(sys.argv[-1])
if path.suffix == ".json" and path.is_file():
    config = json.loads(path.read_text())
    if "forwarder" in config:
        config["forwarder"]["burn"] = {{"clocks": {BURN}, "how": "spin"}}
        path.write_text(json.dumps(config))
os.execv("{executable()}", ["linerate-engine", *sys.argv[1:]])
"""
CHANGE_FOUND = 3


def measured(folder: Path, new: Path, pairs: int) -> tuple[int, str]:
    """Exit code and comment of pairs of short runs."""
    environment = {
        "LINERATE_BASE_ENGINE": str(executable()),
        "LINERATE_NEW_ENGINE": str(new),
        "LINERATE_COMMAND": f"{sys.executable} -m linerate",
        "LINERATE_REPEATS": str(pairs),
        "LINERATE_TRIALS": "1",
        "LINERATE_DURATION": "100ms",
    }
    done = subprocess.run(
        [MEASURE], cwd=folder, env=os.environ | environment, check=False, timeout=1200
    )
    return done.returncode, (folder / "linerate-ci/comment.md").read_text(encoding="utf-8")


@pytest.mark.smoke
def test_one_pair_is_a_comment_that_claims_nothing(tmp_path: Path) -> None:
    """An equal engine gets neither a failure nor a promise."""
    code, comment = measured(tmp_path, executable(), 1)
    heading = comment.splitlines()[1]
    if code == 1:
        # No trial of the one pair was valid.
        assert "have no test in common with a result" in comment
        assert "No verdict on" in heading
        return
    known = {0: "with so few pairs its noise is not known", 4: "Too few repeats to tell of"}
    assert known[code] in heading
    assert "#### new against base" in comment


@pytest.mark.slow
def test_planted_cycles_fail_the_gate(tmp_path: Path) -> None:
    """And the comment has the gate that fails where it is seen at once."""
    slower = tmp_path / "slower-engine"
    slower.write_text(SLOWER, encoding="utf-8")
    slower.chmod(0o755)
    code, comment = measured(tmp_path, slower, 8)
    assert code == CHANGE_FOUND, comment
    assert "More cycles a packet: `cycles>3%` fails" in comment
    shown, _, _ = comment.partition("<details>")
    (row,) = [line for line in shown.splitlines() if "| U2 | all |" in line]
    assert "| FAILS |" in row
