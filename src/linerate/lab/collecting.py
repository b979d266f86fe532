"""Outputs of a host's tools, collected under load for `linerate explain`: commands that only read.

Counters are read twice, so that rates between the two can be computed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from linerate.lab.box.access import Access, BoxError

#: Longest wait for one command.
SECONDS_MAX = 30.0
#: Longest output that is kept of one.
CHARACTERS_MAX = 2_000_000
#: Network interfaces with a device below them.
_CARDS = "for n in $(ls /sys/class/net); do [ -e /sys/class/net/$n/device ] || continue; {}; done"


@dataclass(frozen=True, slots=True)
class Command:
    """One command line of a shell."""

    #: Name of the file that has its output.
    name: str
    line: str
    #: Program without which it is left out; empty: always there.
    program: str = ""
    #: Counters: read at the begin and at the end.
    twice: bool = False


def _of_cards(option: str) -> str:
    words = f"ethtool {option} $n" if option else "ethtool $n"
    return _CARDS.format(f'echo "$ {words}"; {words}')


COMMANDS: tuple[Command, ...] = (
    Command("uname.txt", "uname -srvm"),
    Command("cpuinfo.txt", "sed '/^$/q' /proc/cpuinfo"),
    Command("lscpu.txt", "lscpu", "lscpu"),
    Command("pcie.dmesg.txt", "dmesg | grep -i -E 'pcie|link is (up|down)'", "dmesg"),
    Command("lspci.txt", "lspci -vv -d ::0200", "lspci"),
    Command("ethtool.txt", _of_cards(""), "ethtool"),
    Command("ethtool-i.txt", _of_cards("-i"), "ethtool"),
    Command("ethtool-l.txt", _of_cards("-l"), "ethtool"),
    Command("ethtool-g.txt", _of_cards("-g"), "ethtool"),
    Command("ethtool-S.txt", _of_cards("-S"), "ethtool", twice=True),
    Command("ip-link.txt", "ip -s -s link", "ip", twice=True),
    Command("softnet_stat.txt", "cat /proc/net/softnet_stat", twice=True),
    Command("interrupts.txt", "cat /proc/interrupts", twice=True),
    Command("nstat.txt", "nstat -az", "nstat", twice=True),
    Command("qdisc.txt", "tc -s qdisc", "tc", twice=True),
    Command("conntrack.txt", "conntrack -S", "conntrack", twice=True),
    Command("mpstat.txt", "mpstat -P ALL 1 2", "mpstat"),
    Command("vpp-version.txt", "vppctl show version", "vppctl"),
    Command("vpp-runtime.txt", "vppctl show runtime", "vppctl", twice=True),
    Command("vpp-hardware.txt", "vppctl show hardware-interfaces", "vppctl", twice=True),
    Command("vpp-interface.txt", "vppctl show interface", "vppctl", twice=True),
    Command("vpp-errors.txt", "vppctl show errors", "vppctl", twice=True),
    Command("vpp-placement.txt", "vppctl show interface rx-placement", "vppctl"),
    Command("ovs-pmd-stats.txt", "ovs-appctl dpif-netdev/pmd-stats-show", "ovs-appctl", twice=True),
    Command("ovs-pmd-perf.txt", "ovs-appctl dpif-netdev/pmd-perf-show", "ovs-appctl"),
    Command("ovs-pmd-rxq.txt", "ovs-appctl dpif-netdev/pmd-rxq-show", "ovs-appctl"),
    Command("ovs-coverage.txt", "ovs-appctl coverage/show", "ovs-appctl", twice=True),
    Command("ovs-interface.txt", "ovs-vsctl list interface", "ovs-vsctl", twice=True),
    Command("grout-stats.txt", "grcli stats show software", "grcli", twice=True),
)


@dataclass(frozen=True, slots=True)
class Collected:
    """Outputs by file name, and what was left out."""

    files: dict[str, str]
    left_out: dict[str, str]


def collect(access: Access, wait: Callable[[], None], heard: Callable[[str], None]) -> Collected:
    """Run all commands, counters a second time after a wait. Raises BoxError.

    `heard` is given each command's line before it runs.
    """
    there = set(_programs(access))
    files: dict[str, str] = {}
    left_out = {
        one.line: f"{one.program} is not installed there"
        for one in COMMANDS
        if one.program and one.program not in there
    }
    wanted = [one for one in COMMANDS if one.line not in left_out]
    for one in [one for one in wanted if one.twice]:
        _read(access, one, files, left_out, heard)
    wait()
    for one in wanted:
        if one.line not in left_out:
            _read(access, one, files, left_out, heard)
    return Collected(files, left_out)


def _programs(access: Access) -> Iterator[str]:
    names = sorted({one.program for one in COMMANDS if one.program})
    asked = "; ".join(f"command -v {name} >/dev/null && echo {name}" for name in names)
    ran = access.run(f"PATH=$PATH:/usr/sbin:/sbin; {asked}; true", SECONDS_MAX)
    yield from ran.text.split()


def _read(
    access: Access,
    one: Command,
    files: dict[str, str],
    left_out: dict[str, str],
    heard: Callable[[str], None],
) -> None:
    heard(one.line)
    try:
        ran = access.run(f"PATH=$PATH:/usr/sbin:/sbin; {one.line}", SECONDS_MAX)
    except BoxError as error:
        left_out[one.line] = str(error)
        return
    text = ran.text[:CHARACTERS_MAX]
    if not text.strip():
        lines = ran.error.strip().splitlines()
        left_out[one.line] = lines[-1][:200] if lines else "it printed nothing"
        return
    files[one.name] = f"{files[one.name]}\n{text}" if one.name in files else text
