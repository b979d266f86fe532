"""Files of a box for the doctor: as the shell prints them, and nothing beside their folder."""

import json
from pathlib import Path

import pytest
from tests.command import result_of

from linerate.host.doctor import Host
from linerate.lab.box import host_files
from linerate.lab.box.access import Access, BoxError, Ran, opened


class Answering(Access):
    """A box that answers as a function of the mark."""

    answer = ""

    def run(self, command: str, timeout_s: float) -> Ran:
        mark = command.split("printf '\\n")[1].partition(" ")[0]
        return Ran(self.answer.replace("MARK", mark), "bash: no such shell\n", 0)


def fetched(answer: str, folder: Path) -> Host:
    box = type("Box", (Answering,), {"answer": answer})("box", ())
    host_files.fetch(box, folder)
    return Host(folder)


def test_files_links_folders_and_commands_are_a_recorded_host(tmp_path: Path):
    answer = (
        "\nMARK f /proc/cmdline\nquiet isolcpus=1\n"
        "\nMARK f /sys/bus/pci/devices/0000:05:00.0/driver\n../../../bus/pci/drivers/ice\n"
        "\nMARK d /sys/bus/pci/devices/0000:05:00.0/net/eth1\n"
        "\nMARK c ethtool -i eth1\ndriver: ice\n"
        "\nMARK later\n\nMARK f /proc/uptime\n2.0 1.0\n\nMARK end\n"
    )
    host = fetched(answer, tmp_path)
    assert host.read("/proc/cmdline") == "quiet isolcpus=1"
    assert host.target("/sys/bus/pci/devices/0000:05:00.0/driver") == "ice"
    assert host.names("/sys/bus/pci/devices/0000:05:00.0/net") == ("eth1",)
    assert host.output("ethtool", "-i", "eth1") == "driver: ice"
    later = host.later(0)
    assert later is not None
    assert later.read("/proc/uptime") == "2.0 1.0"


@pytest.mark.parametrize(
    "name",
    ["/proc/../../out", "../out", "/home/x/.ssh/id", "/sys/a\x00b", "/", "/proc/" + "x" * 300],
)
def test_a_box_writes_nothing_elsewhere(tmp_path: Path, name: str):
    inside = tmp_path / "in"
    inside.mkdir()
    fetched(f"\nMARK f {name}\nowned\n\nMARK end\n", inside)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("answer", ["", "Username:", "\nMARK f /proc/stat\ncpu 1 2\n"])
def test_half_an_answer_is_an_error_of_one_line(tmp_path: Path, answer: str):
    with pytest.raises(BoxError, match=r"^box: bash: no such shell$"):
        fetched(answer, tmp_path)


def test_this_host_is_fetched(tmp_path: Path):
    with opened("local") as access:
        host_files.fetch(access, tmp_path)
    assert (Host(tmp_path).read("/proc/cpuinfo") or "").startswith("processor")
    assert (tmp_path / "later/proc/stat").is_file()


def test_a_box_that_can_not_be_reached_is_one_line(linerate):
    done = linerate("doctor", "--at", "netns:there-is-no-such-namespace")
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_kernel_cpu_and_microcode_stand_in_the_json(linerate):
    done = linerate("doctor", "--at", "local", "--json")
    assert done.returncode in (0, 1), done.stderr
    kernel = Path("/proc/sys/kernel/osrelease").read_text(encoding="utf-8").strip()
    assert result_of(done.stdout)["host"]["kernel"] == kernel


def test_cards_of_a_boxs_ports_are_looked_at(linerate, tmp_path: Path):
    bed = {
        "wire": "veth",
        "tester": {"interfaces": ["eth1", "eth2"]},
        "dut": {"kind": "linux", "at": "local", "ports": [{"name": "no0"}, {"name": "no1"}],
                "macs": ["02:00:00:00:0e:00", "02:00:00:00:0e:01"]},
    }  # fmt: skip
    (tmp_path / "box.yaml").write_text(json.dumps(bed), encoding="utf-8")
    done = linerate("doctor", str(tmp_path / "box.yaml"), "--at", "local", "--json")
    assert done.returncode in (0, 1), done.stderr
    assert "no0: no card on PCI" in done.stderr
    subjects = {one["check"] for one in result_of(done.stdout)["findings"]}
    assert "governor" in subjects
    assert "binding" not in subjects
