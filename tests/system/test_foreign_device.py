"""A foreign device that spoils frames at random: the tester counts what it did, to the frame."""

import collections
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from tests.system import labs
from tests.system.foreign import LINK, MACS, device, two_links

from linerate.model.measurement import Measurement

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None, reason="needs root and ip"
)


def what_it_did(disturber: "subprocess.Popen[str]") -> dict[str, int]:
    disturber.send_signal(signal.SIGTERM)
    text, _ = disturber.communicate(timeout=30)
    return {str(kind): int(count) for kind, count in json.loads(text).items()}


def measure(folder: Path, interfaces: tuple[str, str], test: str) -> collections.Counter[str]:
    """Counts of the tester in all trials of a bench, valid or not: by kind of its ledger."""
    bed = {
        "wire": "veth",
        "link": LINK,
        "tester": {"interfaces": interfaces, "check_payload": True},
        "dut": {"kind": "external", "macs": MACS},
    }
    (folder / "bed.yaml").write_text(json.dumps(bed))
    words = ("--only", test, "--duration", "500ms", "--runs", str(folder / "runs"))
    with labs.lab("bench", str(folder / "bed.yaml"), *words) as lab:
        _, wrong = lab.communicate(timeout=300)
    counted: collections.Counter[str] = collections.Counter()
    trials = [
        Measurement.model_validate_json(path.read_text())
        for path in (folder / "runs").glob(f"*/evidence/{test}*.json")
    ]
    assert trials, wrong
    for trial in trials:
        for entry in trial.packets.entries:
            counted[entry.kind] += entry.packets
        counted["unexplained"] += trial.packets.unexplained
        counted["late"] += sum(stream["out_of_order"] for stream in trial.streams.values())
    return counted


CASES = {
    "drop": ("drop=0.05",),
    "duplicate": ("duplicate=0.05",),
    "drop and duplicate": ("drop=0.01", "duplicate=0.01"),
    "reorder": ("reorder=0.05",),
    "delay": ("delay=0.05",),
    "corrupt": ("corrupt=0.05",),
    "truncate": ("truncate=0.05",),
    "rewrite": ("rewrite=0.2",),
    "split": ("split=0.05",),
    "inject": ("inject=0.05",),
    "all": tuple(
        f"{kind}=0.02"
        for kind in (
            "drop", "duplicate", "reorder", "delay", "corrupt",
            "truncate", "rewrite", "split", "inject",
        )
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.smoke("drop and duplicate")
def test_what_a_device_does_is_counted_to_the_frame(tmp_path: Path, case: str) -> None:
    with two_links() as links, device(links, "disturber.py", "1", *CASES[case]) as disturber:
        counted = measure(tmp_path, links.here, "B2" if case == "all" else "U2")
        did = what_it_did(disturber)
    kinds = ("drop", "duplicate", "corrupt", "truncate", "split", "inject", "late")
    drop, duplicate, corrupt, truncate, split, inject, late = (did.get(kind, 0) for kind in kinds)
    taken = sum(count for kind, count in did.items() if kind != "late")
    assert {kind: count for kind, count in counted.items() if count} == {
        kind: count
        for kind, count in {
            "sent": taken,
            "received": taken - drop - corrupt - truncate - split,
            "duplicated": duplicate,
            "corrupted": corrupt,
            "other": truncate + 2 * split + inject,
            "unexplained": drop + truncate + split,
            "late": late,
        }.items()
        if count
    }
    for word in CASES[case]:
        assert did[word.partition("=")[0]] > 0
