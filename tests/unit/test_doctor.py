"""`linerate doctor` on recorded hosts: exactly what was put there is found."""

import io
import json
import os
import platform
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console
from tests.command import result_of

from linerate.host.doctor import Host, examine, examine_shortly, look_at
from linerate.host.doctor.checks import Form, checks
from linerate.host.doctor.cpus import cpu_list, cpus_of
from linerate.host.doctor.host_view import RecordingHost
from linerate.lab.rig import dpdk_devices
from linerate.model.findings import Finding
from linerate.model.testbed import Testbed
from linerate.report.doctor import command_lines, print_findings
from linerate.report.host import host_line

HOSTS = Path(__file__).parents[1] / "data" / "hosts"
BOOT = {"isolcpus", "nohz_full", "rcu_nocbs"}
FAULTS = {
    "laptop": {
        *BOOT,
        "governor",
        "turbo",
        "smt",
        "c-states",
        "hugepages",
        "memlock",
        "interrupts",
        "busy",
    },
    "server-cx5": {
        "numa af:00.0 ens3f0np0",
        "numa af:00.1 ens3f1np1",
        "pcie link af:00.0 ens3f0np0",
        "pcie read af:00.0 ens3f0np0",
        "flow control af:00.0 ens3f0np0",
        "cqe compression af:00.0 ens3f0np0",
    },
    "box-n6005": {"pcie link 05:00.0", "pcie payload 05:00.0"},
    "box-i226": {
        "governor",
        "binding 02:00.0 enp2s0",
        "binding 03:00.0 enp3s0",
        "queues 02:00.0 enp2s0",
        "rings 02:00.0 enp2s0",
        "link 03:00.0 enp3s0",
    },
    "box-mcx342a": {"iommu", "mlx4 steering 05:00.0 enp5s0"},
    "box-n305": {
        "hugepages",
        "pcie link 0e:00.0 enp14s0f0np0",
        "link 0e:00.1 enp14s0f1np1",
        "firmware 0e:00.1 enp14s0f1np1",
    },
    "cloud-vm": {*BOOT, "hugepages", "thp", "binding 00:06.0 eth1", "interrupts", "steal"},
}
NOTES = {
    "box-n6005": {"kernel log"},
    "laptop": {"hugepage size"},
    "server-cx5": {"flex parser af:00.0 ens3f0np0"},
    "cloud-vm": {"hugepage size", "hugetlbfs", "iommu", "machine"},
}
every_host = pytest.mark.parametrize("name", sorted(FAULTS))


def examined(name):
    return examine(look_at(Host(HOSTS / name)))


def found(findings, state):
    return {one.name for one in findings if one.state == state}


def one(findings, check):
    return next(each for each in findings if each.check == check)


def copied(name, folder):
    return Path(shutil.copytree(HOSTS / name, folder / name))


def test_every_recorded_host_is_known():
    assert {path.name for path in HOSTS.iterdir() if path.is_dir()} == set(FAULTS)


@every_host
def test_faults_put_there_are_found_and_no_others(name):
    findings = examined(name)
    assert found(findings, "fault") == FAULTS[name]
    assert found(findings, "note") == NOTES.get(name, set())
    assert found(findings, "unknown") == set()


def test_every_check_finds_a_fault_on_some_host():
    """But those that say no more than what there is, or are of a testbed's ports."""
    names = {word for faults in FAULTS.values() for word in faults}
    silent = {
        one.name
        for one in checks(Form.LONG)
        if not any(fault == one.name or fault.startswith(one.name + " ") for fault in names)
    }
    of_testbeds = {"ports", "host use"}
    assert (
        silent
        == {"machine", "flex parser", "hugepage size", "hugetlbfs", "kernel log"} | of_testbeds
    )


@every_host
def test_a_fault_says_what_is_wanted_why_and_how_to_mend_it(name):
    for fault in examined(name):
        if fault.state == "fault":
            assert fault.wanted, fault
            assert fault.why, fault
            assert fault.fix or fault.boot or fault.advice, fault
            assert not any("#" in command for command in fault.fix), "a comment cannot be broken"


@every_host
def test_what_is_right_has_nothing_to_mend(name):
    for right in examined(name):
        if right.state == "ok":
            mends = (right.fix, right.advice, right.boot, right.repair, right.heavy)
            assert not any(mends), right


@every_host
@pytest.mark.parametrize("every", [False, True])
def test_eighty_columns(name, every, tmp_path):
    path = tmp_path / "out.txt"
    with path.open("w") as file:
        print_findings(Console(file=file, width=80, highlight=False), examined(name), every)
    lines = path.read_text().splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[-1].endswith(f"in {len(examined(name))} checks")


@every_host
def test_broken_commands_are_the_same_for_a_shell(name):
    for finding in examined(name):
        for command in finding.fix:
            lines = list(command_lines(command))
            joined = "".join(line.removesuffix("\\") for line in lines)
            assert joined.split() == ["fix:", *command.split()]
            assert all(line.endswith(" \\") for line in lines[:-1])


def test_published_figures_of_a_narrow_slot():
    """The kernel's line in the reference says 16.0 of 32.0 Gb/s."""
    narrow = one(examined("box-n6005"), "pcie link")
    assert narrow.found == "5 GT/s x4 (16.0 Gb/s)"
    assert narrow.wanted == "5 GT/s x8 (32.0 Gb/s)"
    assert narrow.heavy
    assert "2 ports at 10 Gb/s carry 29.8" in narrow.why


def test_a_link_known_from_dmesg_only_is_found_unknown_without_it(tmp_path):
    host = copied("box-n6005", tmp_path)
    (host / "commands" / "dmesg.txt").unlink()
    lost = one(examine(look_at(Host(host))), "pcie link")
    assert lost.state == "unknown"
    assert "dmesg" in lost.found


def test_the_hosts_own_card_is_left_alone():
    looked = look_at(Host(HOSTS / "box-i226"))
    assert [nic.address for nic in looked.nics] == ["0000:02:00.0", "0000:03:00.0"]
    chosen = look_at(Host(HOSTS / "box-i226"), chosen_nics=("enp1s0", "02:00.0"))
    assert [nic.address for nic in chosen.nics] == ["0000:01:00.0", "0000:02:00.0"]
    bindings = [one for one in examine(chosen) if one.check == "binding"]
    assert [bool(one.repair) for one in bindings] == [False, True]


def test_a_card_that_shares_its_group_is_not_bound():
    bindings = [one for one in examined("box-i226") if one.check == "binding"]
    assert [bool(one.repair) for one in bindings] == [True, False]


def test_workers_on_the_cards_node_are_right():
    findings = examine(look_at(Host(HOSTS / "server-cx5"), workers=(9, 10)))
    assert {one.state for one in findings if one.check == "numa"} == {"ok"}
    assert one(findings, "isolcpus").state == "fault"


@every_host
def test_a_short_look_runs_no_command(name, monkeypatch):
    def run(*_):
        raise AssertionError("a command before each bench")

    cards = tuple(nic.address for nic in look_at(Host(HOSTS / name)).nics)
    monkeypatch.setattr(Host, "_run", run)
    short = examine_shortly(Host(HOSTS / name), (1, 2), cards)
    assert {each.name for each in checks(Form.SHORT)} >= {each.check for each in short}
    assert one(short, "steal").state != "unknown"


def test_threads_that_run_are_seen_by_a_short_look(tmp_path):
    host = copied("box-n305", tmp_path)
    assert one(examine_shortly(Host(host), (1,)), "running").state == "ok"
    (host / "proc" / "loadavg").write_text("2.10 2.00 1.90 3/312 4711\n")
    busy = examine_shortly(Host(host), (1,))
    assert one(busy, "running").found == "2 other threads running"
    assert host_line(busy).startswith("host: running: 2 other threads running")


def test_header_says_nothing_of_a_host_that_is_right():
    assert host_line(examine_shortly(Host(HOSTS / "box-n6005"), (1, 2))) == ""


def test_header_fits_and_cannot_steer_a_terminal():
    heavy = Finding(check="governor", state="fault", found="power\x1b[2J" * 20, heavy=True)
    line = host_line([heavy, heavy])
    assert line.endswith("and 1 more (linerate doctor)")
    assert len(line) <= 80
    assert "\x1b" not in line


def test_files_of_proc_sys_are_read():
    """The kernel takes no read of 4 MiB there."""
    assert Host().read("/proc/sys/kernel/osrelease") == platform.release()


def test_the_live_host_is_recorded_as_it_was_seen(tmp_path):
    """The recording gives the same findings as the host when it was made."""
    look = look_at(RecordingHost(tmp_path / "host"))
    seen = examine(look)
    again = examine(look_at(Host(tmp_path / "host")))
    assert [(one.name, one.state, one.found) for one in seen if one.state != "unknown"] == [
        (one.name, one.state, one.found) for one in again if one.state != "unknown"
    ]


# ---- the command


def test_command_on_a_recorded_host(linerate):
    done = linerate("doctor", "--root", str(HOSTS / "box-n305"), "--json")
    assert (done.returncode, done.stderr) == (1, "")
    document = result_of(done.stdout)
    assert document["workers"] == [1, 2, 3, 4, 5, 6, 7]
    assert document["faults"] == len(FAULTS["box-n305"])
    faulty = [each for each in document["findings"] if each["state"] == "fault"]
    names = {f"{each['check']} {each['subject']}".strip() for each in faulty}
    assert names == FAULTS["box-n305"]


def test_command_finds_nothing_on_a_host_that_was_mended(linerate, tmp_path):
    host = copied("box-n6005", tmp_path)
    kernel = host / "commands" / "dmesg.txt"
    kernel.write_text(kernel.read_text().replace("x4 link", "x8 link"))
    pci = host / "commands" / "lspci_-Dvv.txt"
    pci.write_text(pci.read_text().replace("MaxPayload 128", "MaxPayload 256"))
    done = linerate("doctor", "--root", str(host))
    assert (done.returncode, done.stderr) == (0, "")
    assert "no faults in" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--root", "/nowhere"), "no such folder"),
        (("--cpus", "a-b"), "expected a list of CPUs"),
        (("--root", str(HOSTS / "laptop"), "--fix"), "recorded host"),
        (("--root", str(HOSTS / "laptop"), "--undo"), "recorded host"),
        (("--fix", "--undo"), "one of them"),
        (("--fix", "--json"), "--yes"),
        (("--root", str(HOSTS / "laptop"), "--nic", "99:00.0"), "no such card: 99:00.0"),
        (("--record", str(HOSTS)), "is there already"),
    ],
)
def test_mistakes_on_the_command_line(linerate, arguments, message):
    done = linerate("doctor", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_a_bench_keeps_what_a_short_look_found(linerate, tmp_path):
    linerate("bench", "--only", "U2", "--duration", "100ms", "--runs", str(tmp_path / "runs"))
    (path,) = (tmp_path / "runs").glob("*/run.json")
    kept = json.loads(path.read_text())["host"]
    of_host = {"isolcpus", "governor", "smt", "hugepages", "thp", "steal", "running"}
    # Other programs are listed only while they run.
    assert {each["check"] for each in kept} - {"busy"} == of_host


def test_a_bench_on_real_ports_looks_at_their_cards():
    ports = [{"device": "0000:05:00.0"}, {"device": "0000:05:00.1"}]
    macs = ["02:aa:00:00:00:01", "02:aa:00:00:00:02"]
    document = {"wire": "ethdev", "link": "10G", "tester": {"ports": ports}}
    testbed = Testbed.model_validate(document | {"dut": {"kind": "external", "macs": macs}})
    kept = examine_shortly(Host(HOSTS / "box-n305"), (1,), dpdk_devices(testbed))
    assert "pcie link" not in {each.check for each in kept}
    kept = examine_shortly(Host(HOSTS / "box-mcx342a"), (1,), dpdk_devices(testbed))
    assert one(kept, "pcie link").found == "8 GT/s x4 (31.5 Gb/s)"
    assert dpdk_devices(Testbed()) == ()


# ---- broken hosts


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0-3,8", {0, 1, 2, 3, 8}),
        ("", set()),
        ("(null)", set()),
        ("3", {3}),
        ("0-99999999999", None),
        ("3-1", None),
        ("²", None),
        ("a", None),
        (None, None),
    ],
)
def test_cpu_lists(text, cpus):
    assert cpus_of(text) == cpus


@given(st.frozensets(st.integers(0, 300)))
def test_cpu_lists_read_what_they_write(cpus):
    assert cpus_of(cpu_list(cpus)) == cpus


@given(st.text(max_size=40))
def test_no_cpu_list_raises(text):
    cpus_of(text)


def test_an_empty_folder_is_a_host_of_which_nothing_is_known(tmp_path):
    findings = examine(look_at(Host(tmp_path)))
    assert found(findings, "fault") == set()
    assert found(findings, "ok") == set()
    assert found(findings, "unknown") >= {"isolcpus", "hugepages", "memlock", "interrupts"}
    assert all(one.found for one in findings)


def test_hugepages_of_a_host_are_what_an_engine_asks_for(tmp_path):
    host = copied("box-i226", tmp_path)
    for path in host.rglob("free_hugepages"):
        path.write_text("287\n")
    short = one(examine(look_at(Host(host))), "hugepages")
    assert (short.state, short.found, short.wanted) == ("fault", "574 MiB free", "576 MiB free")
    for path in host.rglob("free_hugepages"):
        path.write_text("288\n")
    assert one(examine(look_at(Host(host))), "hugepages").state == "ok"
    pair = examine_shortly(Host(host), (1,), hugepages_megabytes=1152)
    assert one(pair, "hugepages").wanted == "1,152 MiB free"


def test_pages_without_a_counter_are_not_none_free(tmp_path):
    host = copied("laptop", tmp_path)
    for path in host.rglob("free_hugepages"):
        path.write_bytes(b"\xff")
    lost = one(examine(look_at(Host(host))), "hugepages")
    assert (lost.state, lost.repair) == ("unknown", ())


NONSENSE = st.one_of(
    st.binary(max_size=64),
    st.sampled_from(
        [b"", b"-1", b"0", b"9" * 30, b"0-4294967295", b"\xc2\xb2", b"\x00" * 8, b"1\n1\n1", b"nan"]
    ),
)
WAYS = st.sampled_from(["remove", "folder", "fifo", "loop", "cut", "insert", "replace"])


def mangle(path, way, nonsense, at):
    """Do something to a file that is in a test's own folder; how to take it back is returned."""
    before = path.read_bytes()
    cut = at % (len(before) + 1)
    if way in ("remove", "folder", "fifo", "loop"):
        path.unlink()
    if way == "folder":
        path.mkdir()
    elif way == "fifo":
        os.mkfifo(path)
    elif way == "loop":
        path.symlink_to(path.name)
    elif way == "cut":
        path.write_bytes(before[:cut])
    elif way == "insert":
        path.write_bytes(before[:cut] + nonsense + before[cut:])
    elif way == "replace":
        path.write_bytes(nonsense)

    def take_back():
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)
        path.write_bytes(before)

    return take_back


@pytest.fixture(scope="module")
def whole_hosts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hosts")
    return {
        name: (copy, sorted(path for path in copy.rglob("*") if path.is_file()))
        for name in FAULTS
        for copy in [copied(name, folder)]
    }


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), name=st.sampled_from(sorted(FAULTS)))
def test_missing_and_broken_files_never_raise(whole_hosts, data, name):
    root, files = whole_hosts[name]
    chosen = data.draw(st.lists(st.sampled_from(files), min_size=1, max_size=25, unique=True))
    restore = []
    try:
        for path in chosen:
            way, nonsense = data.draw(WAYS), data.draw(NONSENSE)
            restore.append(mangle(path, way, nonsense, data.draw(st.integers(0, 4000))))
        findings = examine(look_at(Host(root)))
        assert len({one.check for one in findings}) >= 10
        print_findings(Console(file=io.StringIO(), width=80), findings, every=True)
        examine_shortly(Host(root), (1, 2), ("0000:05:00.0", "0000:02:00.0"))
    finally:
        for take_back in restore:
            take_back()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), name=st.sampled_from(sorted(FAULTS)))
def test_any_contents_of_each_file_never_raise(data, name):
    """Every file that is read, and every command's output, replaced at a go."""
    nonsense = data.draw(
        st.one_of(st.text(max_size=30), st.sampled_from(["-1", "1", "1 1", "0-0"]))
    )

    class Nonsense(Host):
        def read(self, path):
            return nonsense if super().read(path) is not None else None

    findings = examine(look_at(Nonsense(HOSTS / name)))
    assert findings
