"""`linerate testbed check` against a Linux box in a namespace: every fault is named, with its remedy."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.command import Done, result_of, run_command
from tests.system.box_paths import hairpin_box, snake_box
from tests.system.boxes import Box, linux_box, needs_boxes, needs_sshd, with_sshd
from tests.system.namespaces import run


def check(box: Box, folder: Path, *words: str, **dut: Any) -> Done:
    file = str(box.file(folder, dut))
    return run_command(("testbed", "check", file, *words), folder, box.environment)


def checked(box: Box, folder: Path, **dut: Any) -> dict[str, Any]:
    done = check(box, folder, "--json", **dut)
    document: dict[str, Any] = result_of(done.stdout)
    assert done.returncode == (0 if document["passed"] else 1), done.stderr
    return document


def faults(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (one["check"], one["subject"]) for one in document["findings"] if one["state"] == "fault"
    ]


@needs_sshd
def test_a_box_that_is_right_passes_over_ssh(tmp_path: Path) -> None:
    with linux_box() as made, with_sshd(made, tmp_path / "ssh") as box:
        done = check(box, tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "no faults" in done.stdout
    for line in (f"ok     login                   {box.at}: Linux", "reaches e0", "reaches e1"):
        assert line in done.stdout
    assert "first packets t0 to t1" in done.stdout
    assert "missing on the box" not in done.stdout


@needs_boxes
@pytest.mark.smoke
def test_missing_lines_are_printed_and_applied_when_that_is_asked(tmp_path: Path) -> None:
    with linux_box(configured=False) as box:
        document = checked(box, tmp_path)
        assert document["language"] == "linux"
        assert ("forwarding", "") in faults(document)
        assert ("first packets", "t0 to t1") in faults(document)
        assert ("cable", "t0") not in faults(document)
        # Nothing is changed unless that is asked.
        assert "100.64" not in run(f"ip -n {box.namespace} addr").stdout
        done = check(box, tmp_path, "--fix", "--yes")
        assert done.returncode == 0, done.stdout + done.stderr
        shown = done.stdout.index("ip route replace 16.0.0.0/24 via 100.64.1.2 dev e0")
        assert shown < done.stdout.index("no faults")
        assert faults(checked(box, tmp_path)) == []


def _swap(box: Box) -> None:
    """Exchange the names of the box's ports, as if the cables were."""
    inside = f"ip -n {box.namespace} link set"
    for old, new in (("e0", "ex"), ("e1", "e0"), ("ex", "e1")):
        run(f"{inside} {old} down")
        run(f"{inside} {old} name {new}")
        run(f"{inside} {new} up")


def _third(box: Box) -> None:
    """Cable the second wire to a port that the testbed does not name."""
    inside = f"ip -n {box.namespace}"
    run(f"{inside} link set e1 down")
    run(f"{inside} link set e1 name e3")
    run(f"{inside} link set e3 up")
    run(f"{inside} link add e1 type veth peer name e1x")
    run(f"{inside} link set e1 up")


INJECTED: dict[str, tuple[Callable[[Box], object], set[tuple[str, str]], str]] = {
    "port down": (
        lambda box: run(f"ip -n {box.namespace} link set e1 down"),
        {("port", "e1")},
        "ip link set e1 up",
    ),
    "no route": (
        lambda box: run(f"ip -n {box.namespace} route del 48.0.0.0/24"),
        {("route", "48.0.0.0/24"), ("first packets", "t0 to t1")},
        "ip route replace 48.0.0.0/24 via 100.64.2.2 dev e1",
    ),
    "route that drops": (
        lambda box: run(f"ip -n {box.namespace} route replace blackhole 48.0.0.0/24"),
        {("route", "48.0.0.0/24"), ("first packets", "t0 to t1")},
        "ip route replace 48.0.0.0/24 via 100.64.2.2 dev e1",
    ),
    "wrong neighbour": (
        lambda box: run(
            f"ip -n {box.namespace} neigh replace 100.64.1.2 lladdr 02:00:00:00:00:99 dev e0"
        ),
        {("neighbor", "100.64.1.2")},
        "ip neighbour replace 100.64.1.2 lladdr 50:7c:6f:20:30:70 dev e0 nud permanent",
    ),
    "no forwarding": (
        lambda box: box.run("sysctl -qw net.ipv4.ip_forward=0"),
        {("forwarding", ""), ("first packets", "t0 to t1"), ("first packets", "t1 to t0")},
        "sysctl -w net.ipv4.ip_forward=1",
    ),
    "other MAC address": (
        lambda box: run(f"ip -n {box.namespace} link set e0 address 02:00:00:00:00:42"),
        {("mac", "e0"), ("first packets", "t0 to t1")},
        "",
    ),
    "short MTU": (
        lambda box: run(f"ip -n {box.namespace} link set e0 mtu 1400"),
        {("mtu", "e0")},
        "",
    ),
    "cables exchanged": (_swap, {("cable", "t0"), ("cable", "t1")}, ""),
    "another port": (_third, {("cable", "t1")}, ""),
}


@needs_boxes
@pytest.mark.parametrize("case", INJECTED)
def test_a_fault_is_named_with_its_remedy(tmp_path: Path, case: str) -> None:
    inject, expected, line = INJECTED[case]
    with linux_box() as box:
        inject(box)
        document = checked(box, tmp_path)
    assert expected <= set(faults(document)), document["findings"]
    if line:
        assert line in document["lines"]


@needs_boxes
def test_a_wrong_port_is_named(tmp_path: Path) -> None:
    with linux_box() as box:
        _third(box)
        document = checked(box, tmp_path)
    (found,) = [
        one["found"] for one in document["findings"] if (one["check"], one["subject"]) == ("cable", "t1")
    ]  # fmt: skip
    assert found == "t1 is cabled to e3, the testbed says e1"


@needs_boxes
def test_a_port_that_the_box_has_not(tmp_path: Path) -> None:
    with linux_box() as box:
        ports = [{"name": "e0"}, {"name": "eth7"}]
        document = checked(box, tmp_path, ports=ports)
    assert ("port", "eth7") in faults(document)
    assert ("counters", "") in faults(document)


@needs_boxes
def test_the_users_set_up_is_there_while_it_is_checked(tmp_path: Path) -> None:
    with linux_box() as box:
        run(f"ip -n {box.namespace} route del 48.0.0.0/24")
        route = "48.0.0.0/24 via 100.64.2.2 dev e1"
        document = checked(
            box, tmp_path, setup=[f"ip route add {route}"], teardown=[f"ip route del {route}"]
        )
        assert faults(document) == []
        assert "48.0.0.0" not in run(f"ip -n {box.namespace} route").stdout


@needs_boxes
def test_a_dry_run_changes_and_asks_nothing(tmp_path: Path) -> None:
    with linux_box() as box:
        done = check(box, tmp_path, "--dry-run", setup=["touch /dev/null"], at="netns:not-there")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "netns:not-there: touch /dev/null"
    assert "netns:not-there: cat /proc/net/snmp" in lines


@needs_boxes
def test_a_box_that_is_not_there_is_one_fault(tmp_path: Path) -> None:
    with linux_box() as box:
        document = checked(box, tmp_path, at="netns:not-there")
    assert faults(document) == [("box", "")]


@needs_boxes
def test_interfaces_that_are_cabled_to_a_box_are_a_wire(tmp_path: Path) -> None:
    with linux_box() as box:
        file = str(box.file(tmp_path, wire="interfaces"))
        done = run_command(("testbed", "check", file), tmp_path, {})
        assert done.returncode == 0, done.stdout + done.stderr
        run(f"ip link set {box.here[1]} down")
        done = run_command(("bench", file, "--only", "U2"), tmp_path, {})
    assert done.returncode == 2
    assert f"needs interface {box.here[1]} to be up: ip link set" in done.stderr


@needs_sshd
def test_a_new_file_is_one_that_the_check_accepts(tmp_path: Path) -> None:
    file = str(tmp_path / "new.yaml")
    with linux_box() as made, with_sshd(made, tmp_path / "ssh") as box:
        words = ("--at", box.at, "--tester", ",".join(box.here), "--link", "20M")
        done = run_command(("testbed", "new", file, *words), tmp_path, box.environment)
        assert done.returncode == 0, done.stderr
        # The port that we are logged in by is not offered.
        assert "mgmt" not in Path(file).read_text(encoding="utf-8")
        again = run_command(("testbed", "new", file, *words), tmp_path, box.environment)
        assert (again.returncode, again.stdout) == (2, "")
        done = run_command(("testbed", "check", file), tmp_path, box.environment)
        assert done.returncode == 0, done.stdout + done.stderr


@needs_boxes
def test_without_a_terminal_a_new_file_needs_its_options(tmp_path: Path) -> None:
    with linux_box() as box:
        at = ("--at", box.at)
        for words, option in (((), "--at"), (at, "--tester")):
            done = run_command(("testbed", "new", "x.yaml", *words), tmp_path, {})
            assert done.returncode == 2
            assert f"{option}: required" in done.stderr
            assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "x.yaml").exists()


@needs_boxes
@pytest.mark.parametrize("make", [hairpin_box, partial(snake_box, 2)], ids=["hairpin", "snake"])
def test_a_new_file_of_another_path_is_one_that_the_check_accepts(
    tmp_path: Path, make: Callable[[], AbstractContextManager[Box]]
) -> None:
    file = str(tmp_path / "new.yaml")
    with make() as box:
        words = ("--at", box.at, "--tester", ",".join(box.here), "--link", "20M",
                 "--ports", ",".join(box.there))  # fmt: skip
        done = run_command(("testbed", "new", file, *words), tmp_path, {})
        assert done.returncode == 0, done.stderr
        done = run_command(("testbed", "check", file), tmp_path, {})
    assert done.returncode == 0, done.stdout + done.stderr
    # Some 200, as many as the wire took; all of them.
    assert re.search(r"\b([12]\d\d) of \1 came through", done.stdout)
