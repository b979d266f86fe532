"""Cases of the matrix: every configuration of the comparison, as data."""

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import get_args

from linerate.model.sut_config import Configuration, Device, Driver
from linerate.model.testbed import Threading

#: Devices of the comparison: name, mode, ports.
MODES: dict[str, tuple[str, int]] = {
    "rx-only": ("rxonly", 2),
    "tx-only": ("txonly", 2),
    "loopback-2": ("io", 2),
    "loopback-4": ("io", 4),
    "l2-switch": ("l2switch", 2),
}

LOOPBACK = "loopback-2"

DPDK_DRIVERS: tuple[Driver, ...] = ("af_packet", "af_xdp")

LINUX_DRIVERS: tuple[Driver, ...] = (
    "socket-single",
    "socket-vector",
    "socket-mmap",
    "libpcap",
    "io_uring",
)

FOREIGN: tuple[Device, ...] = ("kernel", "bridge", "nftables", "testpmd")

#: The only mode of iperf3, which is its own tester: one direction. Others do the same beside it.
ONE_WAY = "one-way"

THREADINGS: tuple[Threading, ...] = get_args(Threading)
HANDED_OVER = THREADINGS[1:]

#: Keys that select cases, beside their names.
CHOSEN_BY = ("mode", "driver", "threading", "wire", "dut")

#: Modes in which nothing is received, so that nothing can be handed over.
ALONE = ("txonly",)


@dataclass(frozen=True, slots=True)
class Case:
    """One configuration of the comparison, and where it stands in the report."""

    configuration: Configuration
    #: A key of `MODES`, or a mode of its own.
    mode: str
    #: Its name among those of the same wire and mode.
    label: str
    #: Name of the case that it is compared with: DPDK on the same wire, in the same mode.
    dpdk: str = ""

    @property
    def wire(self) -> str:
        """The wire that it is on."""
        return self.configuration.wire

    def words(self, key: str) -> tuple[str, ...]:
        """Values by which `--only KEY=…` chooses it; raises AttributeError."""
        given = getattr(self.configuration, key)
        return (self.mode, str(given)) if key == "mode" else (str(given),)


def cases() -> tuple[Case, ...]:
    """All of them, in the order of the report: by wire, then by mode."""
    return (*_on_card(), *_on_veth(), *_on_memif())


def _on_card() -> list[Case]:
    """Our own card, where no kernel is in the way."""
    made = [
        Configuration(mode=mode, ports=ports, given_name=name)
        for name, (mode, ports) in MODES.items()
    ]
    made += [Configuration(mode=mode) for mode in ("macswap", "router")]
    made += [
        Configuration(threading=threading, given_name=f"{LOOPBACK} {threading}")
        for threading in HANDED_OVER
    ]
    return [Case(one, one.name.partition(" ")[0], one.name, LOOPBACK) for one in made]


def _on_veth() -> list[Case]:
    """Every driver that a kernel's interface can be given to, then other people's devices."""
    found = []
    for mode in MODES:
        found += [_driven(driver, mode, THREADINGS[0]) for driver in DPDK_DRIVERS]
        found += [
            _driven(driver, mode, threading)
            for driver in LINUX_DRIVERS
            for threading in THREADINGS
            if threading not in HANDED_OVER or MODES[mode][0] not in ALONE
        ]
        if mode == LOOPBACK:
            others = [Configuration(dut=dut, wire="veth") for dut in FOREIGN]
            found += [Case(one, mode, one.name, _dpdk_on_veth(mode)) for one in others]
    return found + _one_way()


def _one_way() -> list[Case]:
    """Frames in one direction: by iperf3, and by our tester over the same way."""
    dpdk = Configuration(driver=DPDK_DRIVERS[0], wire="veth", directions=1)
    kernel = Configuration(dut="kernel", wire="veth", directions=1)
    iperf3 = Configuration(dut="iperf3", wire="veth")
    labelled = {DPDK_DRIVERS[0]: dpdk, "kernel": kernel, "iperf3": iperf3}
    return [
        Case(replace(one, given_name=f"{label} {ONE_WAY}"), ONE_WAY, label, _dpdk_on_veth(ONE_WAY))
        for label, one in labelled.items()
    ]


def _driven(driver: Driver, mode: str, threading: Threading) -> Case:
    kind, ports = MODES[mode]
    word = Configuration(driver=driver, wire="veth").driver_text
    handed = f" {threading}" if threading in HANDED_OVER else ""
    one = Configuration(
        mode=kind,
        driver=driver,
        threading=threading,
        wire="veth",
        ports=ports,
        given_name=f"{word} {mode}{handed}",
    )
    return Case(one, mode, f"{word}{handed}", _dpdk_on_veth(mode))


def _dpdk_on_veth(mode: str) -> str:
    return f"{DPDK_DRIVERS[0]} {mode}"


def _on_memif() -> list[Case]:
    """Two processes: the tester's, and the device's."""
    ours = [
        Configuration(driver="memif", wire="memif", mode=mode, given_name=f"memif {mode}")
        for mode in ("io", "macswap")
    ]
    testpmd = Configuration(dut="testpmd", wire="memif", given_name="memif testpmd")
    return [
        Case(one, "two processes", one.name.partition(" ")[2], "memif io")
        for one in (*ours, testpmd)
    ]


def select(only: str | None) -> tuple[Case, ...]:
    """All cases, or those that any of the words names; raises ValueError.

    A word is a name, one with `*` and `?` in it, or KEY=VALUE of the configuration.
    """
    known = cases()
    if only is None:
        return known
    wanted = [word.strip().lower() for word in only.split(",") if word.strip()]
    if not wanted:
        raise ValueError("only: no case named; --list says which there are")
    for word in wanted:
        if not any(_is(case, word) for case in known):
            raise ValueError(f"only: no case '{word}'; --list says which there are")
    return tuple(case for case in known if any(_is(case, word) for word in wanted))


def _is(case: Case, word: str) -> bool:
    key, equals, value = word.partition("=")
    if equals:
        return key in CHOSEN_BY and any(fnmatchcase(one, value) for one in case.words(key))
    names = (case.configuration.name.lower(), case.configuration.key.lower())
    return any(fnmatchcase(name, word) for name in names)
