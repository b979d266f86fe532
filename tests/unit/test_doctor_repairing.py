"""`linerate doctor --fix` and `--undo`, on copies of recorded hosts."""

import shutil
from pathlib import Path

import pytest
from tests.command import result_of
from tests.unit.made_sysfs import MadeHost
from typer.testing import CliRunner

from linerate.cli.app import app
from linerate.cli.commands import doctor
from linerate.host.doctor import Host, examine, look_at, repairing
from linerate.host.doctor.journal import load as load_journal
from linerate.host.doctor.nics import PCI
from linerate.model.findings import Bind, Write

HOSTS = Path(__file__).parents[1] / "data" / "hosts"
GOVERNOR = "/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor"
CARD = "0000:02:00.0"


@pytest.fixture
def host(tmp_path):
    return Host(Path(shutil.copytree(HOSTS / "box-i226", tmp_path / "host")))


@pytest.fixture
def kernel(host, monkeypatch):
    """Does what the kernel does when a driver's files are written; returns what was written."""
    written, overrides = [], {}
    put = repairing._put

    def kernels(to, path, value):
        written.append((path.rpartition("/")[2], value.strip()))
        driver = to.at(f"{PCI}/{value}/driver")
        if path.endswith("/unbind"):
            driver.unlink()
        elif path.endswith("driver_override"):
            overrides[path] = value.strip()
        elif path.endswith("/drivers_probe"):
            driver.write_text((overrides[f"{PCI}/{value}/driver_override"] or "igc") + "\n")
        else:
            put(to, path, value)

    monkeypatch.setattr(repairing, "_put", kernels)
    monkeypatch.setattr(repairing, "_load_module", lambda name: written.append(("module", name)))
    return written


def repairs(host, *checks):
    return [
        repair
        for finding in examine(look_at(host))
        if finding.check in checks
        for repair in finding.repair
    ]


def journal(host):
    return host.at(repairing.JOURNAL)


def test_governor_is_set_and_taken_back(host):
    made = repairing.apply(host, repairs(host, "governor"))
    assert [outcome.done for outcome in made] == [True]
    assert host.read(GOVERNOR) == "performance"
    assert "governor" not in {one.check for one in examine(look_at(host)) if one.state == "fault"}
    back = repairing.undo(host)
    assert [outcome.line for outcome in back] == [f"{GOVERNOR}: performance → powersave"]
    assert host.read(GOVERNOR) == "powersave"
    assert not journal(host).exists()
    assert repairing.undo(host) == []


def test_hugepages_are_added_to_those_in_use(tmp_path):
    host = Host(Path(shutil.copytree(HOSTS / "box-n305", tmp_path / "host")))
    (write,) = repairs(host, "hugepages")
    # 512 pages are there, 100 of them free: 288 free are wanted.
    assert write == Write(
        path="/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", value="700"
    )
    repairing.apply(host, [write])
    assert host.read(write.path) == "700"
    repairing.undo(host)
    assert host.read(write.path) == "512"


def test_hugepages_are_not_taken_from_a_host_without_memory(tmp_path):
    host = Host(Path(shutil.copytree(HOSTS / "box-n305", tmp_path / "host")))
    host.at("/proc/meminfo").write_text("MemAvailable:    400000 kB\n")
    assert repairs(host, "hugepages") == []


def test_a_card_changes_its_driver_and_gets_it_back(host, kernel):
    (bind,) = repairs(host, "binding")
    assert bind == Bind(address=CARD, driver="vfio-pci")
    assert [outcome.done for outcome in repairing.apply(host, [bind])] == [True]
    assert host.target(f"{PCI}/{CARD}/driver") == "vfio-pci"
    assert kernel == [("unbind", CARD), ("driver_override", "vfio-pci"), ("drivers_probe", CARD)]
    assert [outcome.done for outcome in repairing.undo(host)] == [True]
    assert host.target(f"{PCI}/{CARD}/driver") == "igc"
    # Without an override, as before: the line's end alone takes it away.
    assert kernel[3:] == [("unbind", CARD), ("driver_override", ""), ("drivers_probe", CARD)]


@pytest.mark.parametrize("taken", [True, False])
def test_a_card_gets_its_own_mac_back(tmp_path, monkeypatch, taken):
    host = MadeHost(tmp_path)
    monkeypatch.setattr(repairing, "_put", lambda to, path, value: to.put(path, value))
    host.add("0000:0b:00.0", "ixgbe", interface="eth7")
    address = host.at("/sys/class/net/eth7/address")
    address.write_text("00:0c:29:00:00:01\n")
    outcomes = repairing.apply(host, [Bind(address="0000:0b:00.0", driver="vfio-pci")])
    assert [outcome.done for outcome in outcomes] == [True]
    # An engine that was killed left another in the device.
    address.write_text("50:7c:6f:20:30:70\n")
    asked = []

    def run(command):
        asked.append(" ".join(command))
        return "" if taken else None

    monkeypatch.setattr(host, "_run", run)
    (outcome,) = repairing.undo(host)
    assert "ip link set dev eth7 address 00:0c:29:00:00:01" in asked
    assert outcome.done == taken
    assert ("eth7 has another address than before, 00:0c:29:00:00:01" in outcome.line) != taken


def test_a_card_that_got_an_address_since_stays(host, kernel):
    (bind,) = repairs(host, "binding")
    routes = host.at("/proc/net/route")
    routes.write_text(routes.read_text() + "enp2s0\t0002A8C0\t00000000\t0001\n")
    (outcome,) = repairing.apply(host, [bind])
    assert not outcome.done
    assert "routes" in outcome.line
    assert kernel == []
    assert not journal(host).exists()


def test_what_cannot_be_written_is_reported_and_not_in_the_journal(host):
    gone = Write(path="/sys/nowhere", value="1")
    made = repairing.apply(host, [gone, *repairs(host, "governor")])
    assert [outcome.done for outcome in made] == [False, True]
    assert "/sys/nowhere: no such file" in made[0].line
    assert len(load_journal(host).entries) == 1


def test_what_somebody_changed_since_is_left(host):
    repairing.apply(host, repairs(host, "governor"))
    host.at(GOVERNOR).write_text("schedutil\n")
    (outcome,) = repairing.undo(host)
    assert not outcome.done
    assert "schedutil" in outcome.line
    assert host.read(GOVERNOR) == "schedutil"
    assert not journal(host).exists()


def test_a_repair_that_was_killed_half_way_is_taken_back(host, monkeypatch):
    class Killed(BaseException):
        pass

    def make(to, repair):
        to.at(repair.path).write_text(repair.value)
        raise Killed

    monkeypatch.setattr(repairing, "_make", make)
    with pytest.raises(Killed):
        repairing.apply(host, repairs(host, "governor"))
    assert host.read(GOVERNOR) == "performance"
    repairing.undo(host)
    assert host.read(GOVERNOR) == "powersave"


def test_a_kernel_that_gives_less_is_reported(host, monkeypatch):
    def make(to, repair):
        to.at(repair.path).write_text("7")

    monkeypatch.setattr(repairing, "_make", make)
    (outcome,) = repairing.apply(host, repairs(host, "governor"))
    assert not outcome.done
    assert outcome.line.endswith("it is 7 now")
    monkeypatch.undo()
    repairing.undo(host)
    assert host.read(GOVERNOR) == "powersave"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"entries": [{"repair": 1}]}', "\x00"])
def test_a_broken_journal_is_one_line(host, text):
    journal(host).parent.mkdir(parents=True)
    journal(host).write_text(text)
    with pytest.raises(repairing.RepairError, match="no journal"):
        repairing.undo(host)
    with pytest.raises(repairing.RepairError, match="no journal"):
        repairing.apply(host, repairs(host, "governor"))
    assert host.read(GOVERNOR) == "powersave"


# ---- the command


@pytest.fixture
def command(host, monkeypatch):
    """Run the command on the copy as if it were this host."""

    class Live(Host):
        live = True

        def later(self, seconds):
            return Host(self.root / "later")

        def _run(self, command):
            return Host(self.root).output(*command)

    monkeypatch.setattr(doctor, "_host", lambda *_: Live(host.root))

    def run(*arguments, typed=""):
        return CliRunner().invoke(app, ["doctor", *arguments], input=typed)

    return run


def test_nothing_is_mended_without_a_yes(host, command, kernel):
    done = command("--fix", typed="n\nn\n")
    assert done.exit_code == 1
    assert kernel == []
    assert "  write performance to " + GOVERNOR in done.stderr
    assert f"  bind {CARD} to vfio-pci" in done.stderr
    assert not journal(host).exists()


def test_what_is_wanted_is_mended_and_looked_at_again(host, command, kernel):
    done = command("--fix", typed="y\nn\n")
    assert done.exit_code == 1
    assert kernel == [("scaling_governor", "performance")]
    assert "powersave on CPUs 2" not in done.stdout
    back = command("--undo")
    assert (back.exit_code, back.stdout) == (0, f"done: {GOVERNOR}: performance → powersave\n")
    assert host.read(GOVERNOR) == "powersave"


def test_scripts_say_yes_to_all(host, command, kernel):
    done = command("--fix", "--yes", "--json")
    document = result_of(done.stdout)
    left = {(each["check"], each["subject"]) for each in document["findings"] if each["repairable"]}
    assert left == set()
    assert len(load_journal(host).entries) == 2
    assert kernel[1] == ("module", "vfio-pci")


def test_who_may_not_write_is_reported_in_one_line(command, monkeypatch):
    def refuse(*_):
        raise repairing.RepairError("/run/linerate/doctor.json: not permitted, run it with sudo")

    monkeypatch.setattr(doctor, "apply", refuse)
    done = command("--fix", "--yes")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1].endswith("not permitted, run it with sudo")
    assert "Traceback" not in done.output
