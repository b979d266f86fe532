"""A Linux box over real ssh: asked in each trial, and its losses located."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.command import Done, result_of, run_command
from tests.system.boxes import Box, linux_box, needs_sshd, with_sshd
from tests.system.namespaces import run

from linerate.model.measurement import Measurement

pytestmark = needs_sshd


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    with linux_box() as made, with_sshd(made, tmp_path / "ssh") as reached:
        yield reached


def bench(box: Box, folder: Path, *words: str) -> Done:
    command = ("bench", str(box.file(folder)), "--only", "U2", "--duration", "1s", *words)
    return run_command((*command, "--runs", str(folder / "runs")), folder, box.environment)


def trials(folder: Path) -> list[Measurement]:
    found = sorted((folder / "runs").glob("*/evidence/U2*.json"))
    return [Measurement.model_validate_json(path.read_text()) for path in found]


def test_a_bench_over_ssh_explains_every_packet(box: Box, tmp_path: Path) -> None:
    done = bench(box, tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    assert result_of(done.stdout)
    last = trials(tmp_path)[-1]
    assert last.packets.sent > 0
    assert last.packets.unexplained == 0
    assert last.box is not None
    assert last.box.at == box.at
    moments = {answer.moment for answer in last.box.answers}
    assert moments == {"facts", "before", "load", "after"}


def test_a_run_ends_before_its_trials_where_nothing_comes_through(box: Box, tmp_path: Path) -> None:
    run(f"ip -n {box.namespace} route del 48.0.0.0/24")
    done = bench(box, tmp_path, "--json")
    assert done.returncode == 1
    assert not trials(tmp_path)
    assert "no first packet came through the box from t0 to t1" in done.stderr
    assert "ip: no route" in done.stderr
    assert "linerate testbed check" in done.stderr


def test_the_doctor_looks_at_a_box(box: Box, tmp_path: Path) -> None:
    done = run_command(("doctor", "--at", box.at, "--json"), tmp_path, box.environment)
    assert done.returncode in (0, 1), done.stderr
    found = {one["check"]: one["state"] for one in result_of(done.stdout)["findings"]}
    # The namespace has its own interfaces, and this machine's CPUs and memory.
    assert found["hugepages"] in ("ok", "fault", "note")
    assert found["busy"] != "unknown"
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{box.at}: Linux {os.uname().release}")
    refused = run_command(("doctor", "--at", box.at, "--fix"), tmp_path, box.environment)
    assert refused.returncode == 2
