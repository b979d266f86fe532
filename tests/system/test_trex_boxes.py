"""A box behind TRex: a client's session asks it as a bench does, and so does the lab with a server.

The box is a Linux router whose rule drops a tenth of what goes one way.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.boxes.linux import rule
from tests.host import HOST_BUSY
from tests.system.boxes import LINK, MACS, Box, linux_box, needs_boxes
from tests.system.trex_server import server, serving
from tests.trex_client import CLIENT, run_client

from linerate.results.store import Result, load_measurement, load_run

pytestmark = [
    needs_boxes,
    pytest.mark.skipif(CLIENT is None, reason="needs TRex's client: make setup-test"),
]
PLACE = "nft lost f: rule"
END_SECONDS = 60


@contextmanager
def lossy_box() -> Iterator[Box]:
    with linux_box() as box:
        subprocess.run(
            ("ip", "netns", "exec", box.namespace, "sh", "-c",
             rule("ip daddr 48.0.0.0/24 numgen inc mod 10 == 0 counter drop")[0]),
            check=True,
        )  # fmt: skip
        yield box


def lost_at_the_rule(result: Result) -> int:
    """Packets, of which the ledger has no other."""
    ((place, packets),) = result.packets.losses.items()
    assert place.startswith(PLACE), place
    assert result.packets.sent == result.packets.received + packets
    return packets


def test_a_clients_session_names_the_box_s_places_of_loss(tmp_path: Path) -> None:
    with lossy_box() as box:
        file = box.file(tmp_path)
        with server(tmp_path / "runs", str(file)) as (process, ports):
            made = run_client("trafficgen", ports)
            run_client("csit", ports)
            process.terminate()
            _, err = process.communicate(timeout=END_SECONDS)
    assert process.returncode == 0, err
    if "counters are not known" in err:
        pytest.skip(f"{HOST_BUSY}: the box had no CPU to answer in time")
    assert made["group_received"] == [3600, 4000]
    folders = sorted(one.parent for one in (tmp_path / "runs").glob("*/run.json"))
    (first,), (second,) = (load_run(one).results for one in folders)
    assert lost_at_the_rule(first) == 400
    assert lost_at_the_rule(second) > 0
    measured = load_measurement(folders[0], first.trial)
    assert measured.box is not None
    assert [answer.moment for answer in measured.box.answers if answer.question == "nft"][:2] == [
        "before", "after",
    ]  # fmt: skip
    assert "rule" in first.verdict.sentence


def test_a_box_that_does_not_answer_holds_no_client(tmp_path: Path) -> None:
    """The session is served, and kept without the box's counters."""
    programs = tmp_path / "bin"
    programs.mkdir()
    with lossy_box() as box:
        # An ssh whose box says what it is, and hangs when it is asked for its counters.
        (programs / "ssh").write_text(
            "#!/bin/sh\nfor command; do :; done\n"
            f'case "$command" in *"/proc/net/"*) [ -e {tmp_path}/hang ] && exec sleep 60;; esac\n'
            f'exec ip netns exec {box.namespace} sh -c "$command"\n',
            encoding="utf-8",
        )
        (programs / "ssh").chmod(0o755)
        file = box.file(tmp_path, {"at": "ssh://root@box"})
        (tmp_path / "hang").touch()
        os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"
        try:
            with server(tmp_path / "runs", str(file)) as (process, ports):
                made = run_client("trafficgen", ports)
                process.terminate()
                _, err = process.communicate(timeout=END_SECONDS)
        finally:
            os.environ["PATH"] = os.environ["PATH"].partition(":")[2]
    assert made["group_received"] == [3600, 4000]
    assert "T1: the box's counters are not known: no answer in 2 s" in err
    (folder,) = (one.parent for one in (tmp_path / "runs").glob("*/run.json"))
    assert load_run(folder).results, err
    (result,) = load_run(folder).results
    # Lost somewhere, as it is of a device that no one asks.
    assert not result.packets.losses
    assert result.packets.unexplained == 400


def test_the_lab_before_a_box_by_a_trex_server(tmp_path: Path) -> None:
    with lossy_box() as box:
        outside = tmp_path / "outside.yaml"
        outside.write_text(
            json.dumps(
                {
                    "wire": "veth",
                    "link": LINK,
                    "tester": {"interfaces": list(box.here)},
                    "dut": {"kind": "external", "macs": list(MACS)},
                }
            )
        )
        with serving(tmp_path / "served", str(outside)) as (sync, wake):
            document = box.testbed() | {"link": "2M"}
            del document["wire"]
            document["tester"] = {"kind": "trex", "server": f"127.0.0.1:{sync}:{wake}"}
            bed = tmp_path / "bed.yaml"
            bed.write_text(json.dumps(document))
            done = subprocess.run(
                [sys.executable, "-m", "linerate", "bench", bed, "--only", "U2", "--duration",
                 "1s", "--json", "--runs", tmp_path / "runs"],
                capture_output=True, text=True, check=False, timeout=END_SECONDS,
                env=os.environ | {"LINERATE_TREX_CLIENT": str(CLIENT)},
            )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (folder,) = (one.parent for one in (tmp_path / "runs").glob("*/run.json"))
    (result,) = load_run(folder).results
    assert lost_at_the_rule(result) == pytest.approx(result.packets.sent / 10, abs=2)
