"""Whatever order repairs, kills and taking back come in: the host ends as it was."""

import json
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.made_sysfs import PAGES, MadeHost

from linerate.host.doctor import journal, repairing
from linerate.model.findings import Bind, Write

DEVICES = ("0000:02:00.0", "0000:02:00.1", "0000:03:00.0", "0000:04:00.0")
NUMBER = f"{PAGES}/nr_hugepages"


class Killed(BaseException):
    """SIGKILL: nothing is tidied up."""


class Kernel:
    """Lets a doctor make a number of steps, then kills it before or after the next."""

    def __init__(self):
        self.left = None
        self.after = False
        #: Leaves a half-written journal.
        self.half_saved = lambda _host: None

    def step(self, make, half=None):
        if self.left is None:
            return make()
        if self.left == 0:
            if self.after:
                (half or make)()
            raise Killed
        self.left -= 1
        return make()


def made(folder):
    host = MadeHost(Path(folder))
    host.add(DEVICES[0], "igc")
    host.add(DEVICES[1], "igc")
    host.add(DEVICES[2], "")
    # By hand, before we came.
    host.add(DEVICES[3], "ixgbe")
    host.put("/sys/bus/pci/drivers/ixgbe/unbind", DEVICES[3])
    host.put(f"/sys/bus/pci/devices/{DEVICES[3]}/driver_override", "vfio-pci")
    host.put("/sys/bus/pci/drivers_probe", DEVICES[3])
    return host


@contextmanager
def kernel_of(host, monkeypatch):
    """Steps of the doctor: what it writes to the host and to its journal."""
    kernel = Kernel()
    save = journal.save

    def half_saved(one):
        folder = one.at(journal.FOLDER)
        (folder / ".doctor.json.new").write_text("{")

    with monkeypatch.context() as patched:
        patched.setattr(
            repairing, "_put", lambda to, path, value: kernel.step(lambda: to.put(path, value))
        )
        patched.setattr(repairing, "save", lambda one, what: kernel.step(lambda: save(one, what)))
        kernel.half_saved = half_saved
        yield kernel


BINDS = st.builds(
    Bind,
    address=st.sampled_from(DEVICES),
    driver=st.sampled_from(("vfio-pci", "uio_pci_generic")),
)
WRITES = st.builds(Write, path=st.just(NUMBER), value=st.integers(1, 9).map(lambda n: str(64 * n)))
KILLS = st.one_of(st.none(), st.tuples(st.integers(0, 12), st.booleans()))
FIXES = st.tuples(st.just("fix"), st.lists(st.one_of(BINDS, WRITES), min_size=1, max_size=4), KILLS)
UNDOES: st.SearchStrategy[object] = st.tuples(st.just("undo"), st.just([]), KILLS)


@settings(max_examples=150, deadline=None)
@given(events=st.lists(st.one_of(FIXES, UNDOES), max_size=6))
def test_the_host_ends_as_it_was(events):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        host = made(folder)
        before = host.look()
        with kernel_of(host, patch) as kernel:
            for what, repairs, kill in events:
                kernel.left, kernel.after = kill or (None, False)
                try:
                    if what == "fix":
                        repairing.apply(host, repairs)
                    else:
                        repairing.undo(host)
                        assert host.look() == before
                except Killed:
                    pass
            kernel.left = None
            outcomes = repairing.undo(host)
        assert [one.line for one in outcomes if not one.done] == []
        assert host.look() == before
        assert not host.at(journal.FOLDER).exists()


@pytest.mark.parametrize("step", range(9))
@pytest.mark.parametrize("after", [False, True])
def test_killed_at_each_step_of_a_bind(tmp_path, monkeypatch, step, after):
    host = made(tmp_path)
    before = host.look()
    with kernel_of(host, monkeypatch) as kernel:
        kernel.left, kernel.after = step, after
        killed = False
        try:
            repairing.apply(host, [Bind(address=DEVICES[0], driver="vfio-pci")])
        except Killed:
            killed = True
        # Saved, taken off, override, probed, saved.
        assert killed == (step < 5)
        kernel.left = None
        repairing.undo(host)
    assert host.look() == before


def test_a_journal_that_was_half_written_does_no_harm(tmp_path, monkeypatch):
    host = made(tmp_path)
    with kernel_of(host, monkeypatch) as kernel:
        repairing.apply(host, [Write(path=NUMBER, value="64")])
        kernel.half_saved(host)
        repairing.apply(host, [Write(path=NUMBER, value="128")])
        repairing.undo(host)
    assert host.read(NUMBER) == "0"
    assert not host.at(journal.FOLDER).exists()


@pytest.fixture
def host(tmp_path, monkeypatch):
    host = made(tmp_path)
    with kernel_of(host, monkeypatch):
        yield host


def test_what_was_changed_by_hand_is_left_and_reported(host):
    repairing.apply(
        host, [Bind(address=DEVICES[0], driver="vfio-pci"), Write(path=NUMBER, value="64")]
    )
    host.put("/sys/bus/pci/drivers/vfio-pci/unbind", DEVICES[0])
    host.put(f"/sys/bus/pci/devices/{DEVICES[0]}/driver_override", "uio_pci_generic")
    host.put("/sys/bus/pci/drivers_probe", DEVICES[0])
    host.put(NUMBER, "100")
    theirs = host.look()
    lines = [one.line for one in repairing.undo(host)]
    assert lines == [
        f"{NUMBER}: left at 100, somebody changed it since",
        f"{DEVICES[0]}: left at uio_pci_generic, somebody changed it since",
    ]
    assert host.look() == theirs
    assert repairing.undo(host) == []


def test_after_a_restart_nothing_is_taken_back(host):
    repairing.apply(
        host, [Bind(address=DEVICES[0], driver="vfio-pci"), Write(path=NUMBER, value="64")]
    )
    # The boot gave the card back, and its own parameters the pages.
    host.put("/sys/bus/pci/drivers/vfio-pci/unbind", DEVICES[0])
    host.put(f"/sys/bus/pci/devices/{DEVICES[0]}/driver_override", "\n")
    host.put("/sys/bus/pci/drivers_probe", DEVICES[0])
    host.restart("second")
    lines = [one.line for one in repairing.undo(host)]
    assert lines == [f"{NUMBER}: left at 64, set anew since the host was restarted"]
    assert host.read(NUMBER) == "64"
    assert not host.at(journal.FOLDER).exists()


def test_a_fix_after_a_restart_forgets_what_the_restart_undid(host):
    repairing.apply(host, [Write(path=NUMBER, value="64")])
    host.put(NUMBER, "32")
    host.restart("second")
    repairing.apply(host, [Write(path=NUMBER, value="96")])
    assert len(journal.load(host).entries) == 1
    repairing.undo(host)
    assert host.read(NUMBER) == "32"


def test_pages_in_use_stay_in_the_journal(host):
    repairing.apply(host, [Write(path=NUMBER, value="64")])
    repairing.apply(host, [Write(path=NUMBER, value="128")])
    host.used_pages = 100
    (outcome,) = repairing.undo(host)
    assert outcome.line == (
        f"{NUMBER}: it is 100 now, not 64; stop what uses it and take it back again"
    )
    host.used_pages = 0
    assert [one.done for one in repairing.undo(host)] == [True, True]
    assert host.read(NUMBER) == "0"


def equal_entries(host):
    repairing.apply(host, [Write(path=NUMBER, value="64")])
    found = journal.load(host)
    found.entries *= 2
    journal.save(host, found)


def test_equal_entries_are_both_taken_back_once(host):
    equal_entries(host)
    (outcome,) = repairing.undo(host)
    assert outcome.line == f"{NUMBER}: 64 → 0"
    assert host.read(NUMBER) == "0"
    assert not host.at(journal.FOLDER).exists()


def test_equal_entries_are_left_with_one_line(host):
    equal_entries(host)
    host.put(NUMBER, "100")
    lines = [one.line for one in repairing.undo(host)]
    assert lines == [f"{NUMBER}: left at 100, somebody changed it since"]
    assert not host.at(journal.FOLDER).exists()


def test_equal_entries_while_the_host_changes(host, monkeypatch):
    """The pages are set to ours again between the two: the second takes that back as well."""
    equal_entries(host)
    host.put(NUMBER, "0")
    save = journal.save

    def saved(one, what):
        save(one, what)
        if len(what.entries) == 1:
            monkeypatch.setattr(repairing, "save", save)
            host.put(NUMBER, "64")

    monkeypatch.setattr(repairing, "save", saved)
    assert [one.done for one in repairing.undo(host)] == [True]
    assert host.read(NUMBER) == "0"
    assert not host.at(journal.FOLDER).exists()


def test_the_journal_is_its_owners_alone(host):
    repairing.apply(host, [Write(path=NUMBER, value="64")])
    folder, file = host.at(journal.FOLDER), host.at(journal.JOURNAL)
    assert (folder.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)
    assert json.loads(file.read_text())["boot_id"] == "first"
    for path in (folder, file):
        mode = path.stat().st_mode & 0o777
        path.chmod(mode | 0o020)
        with pytest.raises(repairing.RepairError, match="others may write it"):
            repairing.undo(host)
        path.chmod(mode)
    file.rename(folder / "elsewhere")
    file.symlink_to("elsewhere")
    with pytest.raises(repairing.RepairError):
        repairing.undo(host)
    assert host.read(NUMBER) == "64"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_journal_of_somebody_else_is_not_believed(host):
    repairing.apply(host, [Write(path=NUMBER, value="64")])
    os.chown(host.at(journal.JOURNAL), 65534, 65534)
    with pytest.raises(repairing.RepairError, match="belongs to user 65534"):
        repairing.undo(host)
    assert host.read(NUMBER) == "64"


def test_two_doctors_at_once(host):
    with (
        journal.locked(host),
        pytest.raises(repairing.RepairError, match="another linerate doctor is at work"),
    ):
        repairing.apply(host, [Write(path=NUMBER, value="64")])
    assert host.read(NUMBER) == "0"
