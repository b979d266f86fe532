"""A router's ports on DPDK devices: frames reach them at the address that each device has.

No rate is asserted: on a busy machine a trial may be invalid, but each packet is accounted for.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.command import result_of
from tests.system import labs

from linerate.results.store import Run, load_run

DUT = [f"02:aa:00:00:00:0{here}" for here in range(2)]
TESTER = [f"02:bb:00:00:00:0{here}" for here in range(2)]


@pytest.fixture
def sockets() -> Iterator[Path]:
    """A folder whose path is short enough for a socket's."""
    folder = Path(tempfile.mkdtemp(prefix="linerate-macs-"))
    yield folder
    shutil.rmtree(folder)


def bench(folder: Path, *words: str) -> Run:
    words = ("bench", *words, "--only", "U2,U4", "--duration", "1s", "--json")
    with labs.lab(*words, "--runs", str(folder)) as lab:
        text, wrong = lab.communicate(timeout=300)
    assert text, wrong
    document = result_of(text)
    assert document["status"] == "complete", wrong
    return load_run(Path(document["run"]))


def assert_forwards(run: Run) -> None:
    assert {result.test for result in run.results} == {"U2", "U4"}
    for result in run.results:
        assert result.packets.received > 0, result.packets.entries
        assert result.packets.unexplained == 0, result.packets.entries
        assert not [entry for entry in result.packets.entries if "mac mismatch" in entry.place]


def memif(number: int, role: str, here: int, sockets: Path, mac: str) -> dict[str, Any]:
    socket = f"socket={sockets}/{here}.sock,socket-abstract=no"
    return {"device": f"net_memif{number}", "devargs": f"role={role},id={here},{socket},mac={mac}"}


@pytest.mark.smoke
def test_a_router_in_a_process_of_its_own_forwards_over_memif(tmp_path: Path) -> None:
    assert_forwards(bench(tmp_path, "--wire", "memif", "--dut", "router"))


def test_devices_that_keep_their_addresses_are_forwarded_between(
    tmp_path: Path, sockets: Path
) -> None:
    testbed = {
        "name": "pair",
        "wire": "ethdev",
        "link": "10G",
        "dut": {
            "mode": "router",
            "ports": [memif(here, "server", here, sockets, DUT[here]) for here in range(2)],
        },
        "tester": {
            "ports": [memif(2 + here, "client", here, sockets, TESTER[here]) for here in range(2)]
        },
    }
    path = tmp_path / "pair.yaml"
    path.write_text(yaml.safe_dump(testbed))
    run = bench(tmp_path / "runs", str(path))
    assert_forwards(run)
    (written,) = (tmp_path / "runs").rglob("U2.config.json")
    config = json.loads(written.read_text())
    assert [port["mac"] for port in config["ports"]] == [*DUT, *TESTER]
    (stream,) = config["tester"]["streams"]
    assert stream["layers"][0] == {"ethernet": {"src": TESTER[0], "dst": DUT[0]}}
    for here in range(2):
        assert f"100.64.{here + 1}.2 {TESTER[here]}" in config["forwarder"]["router"]["cli"]
