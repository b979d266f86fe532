"""A configuration: what moves the packets, as one line of a comparison.

Forwarding mode × port driver × threading × device × wire, each in one word, and a name
made of those that are not the usual ones: `io`, `router`, `socket-vector-10 lock-free`.
"""

from dataclasses import dataclass, fields
from typing import Any, Literal, cast, get_args

from linerate.base.drivers import WITH_BATCH
from linerate.model.testbed import ENGINE_MODES, ONE_WAY, Testbed, Threading, with_options

Driver = Literal[
    "card",
    "socket-single",
    "socket-vector",
    "socket-mmap",
    "libpcap",
    "io_uring",
    "af_packet",
    "af_xdp",
    "tap",
    "memif",
]
Device = Literal["engine", "kernel", "bridge", "nftables", "testpmd", "iperf3", "box"]
WireKind = Literal["card", "veth", "memif", "af_xdp", "ethdev", "interfaces"]

#: A device that is there already: its testbed is its configuration.
BOX: Device = "box"
#: Default limit of packets in one recvmmsg() or sendmmsg() of socket-vector.
BATCH = 10
BATCH_MAX = 256
WORKERS_MAX = 16

_WORDS: dict[str, tuple[str, ...]] = {
    "mode": (*ENGINE_MODES, *ONE_WAY),
    "driver": get_args(Driver),
    "threading": get_args(Threading),
    "dut": tuple(word for word in get_args(Device) if word != BOX),
    "wire": ("card", "veth", "memif"),
}
_NUMBERS = {"batch": BATCH_MAX, "workers": WORKERS_MAX, "ports": 4, "directions": 2}


class ConfigurationError(ValueError):
    """A configuration that can't be, in one line."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A forwarder, its driver and threading."""

    mode: str = "io"
    driver: Driver = "card"
    threading: Threading = "run-to-completion"
    dut: Device = "engine"
    wire: WireKind = "card"
    #: None: the driver's own.
    batch: int | None = None
    workers: int = 1
    #: 2: one loopback between two ports; 4: two of them.
    ports: int = 2
    #: None: as many as the sweep asks for.
    directions: int | None = None
    given_name: str = ""

    @property
    def name(self) -> str:
        """As the line of a table is headed."""
        if self.given_name:
            return self.given_name
        words = [self._what]
        if self.threading != "run-to-completion":
            words.append(self.threading)
        if self.workers > 1:
            words.append(f"{self.workers} workers")
        if self.ports > 2:
            words.append(f"{self.ports} ports")
        if self.directions == 1:
            words.append("one way")
        if self.wire != _usual_wire(self.driver, self.dut):
            words.append(f"on {self.wire}")
        return " ".join(words)

    @property
    def _what(self) -> str:
        if self.dut != "engine":
            return self.dut
        if self.driver == "card":
            return self.mode
        return self.driver_text if self.mode == "io" else f"{self.driver_text} {self.mode}"

    @property
    def driver_text(self) -> str:
        """The driver, with its batch where that is a choice to tell: `socket-vector-10`."""
        batch = self.batch or (BATCH if self.driver == "socket-vector" else None)
        return self.driver if batch is None else f"{self.driver}-{batch}"

    @property
    def key(self) -> str:
        """The name as part of a file's."""
        return self.name.replace(" ", "-")


def _usual_wire(driver: str, dut: str) -> WireKind:
    if driver == "memif":
        return "memif"
    return "card" if driver == "card" and dut == "engine" else "veth"


def parse(text: str) -> Configuration:
    """Read `mode=io,driver=socket-mmap,threading=locked`; raises ConfigurationError."""
    given: dict[str, Any] = {}
    for part in text.split(","):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not value:
            raise ConfigurationError(f"'{text}': expected KEY=VALUE, as mode=io; not '{part}'")
        if key in given:
            raise ConfigurationError(f"'{text}': {key}: given twice")
        given[key] = _value(text, key, value)
    if "name" in given:
        given["given_name"] = given.pop("name")
    driver, dut = given.get("driver", "card"), given.get("dut", "engine")
    given.setdefault("wire", _usual_wire(driver, dut))
    if given["wire"] == "veth" and "driver" not in given and dut == "engine":
        raise ConfigurationError(f"'{text}': driver: required on veth, as driver=socket-mmap")
    configuration = Configuration(**given)
    _check(text, configuration, given)
    return configuration


def parse_all(texts: list[str]) -> tuple[Configuration, ...]:
    """Read several; their names must differ."""
    found = tuple(parse(text) for text in texts)
    names = [one.key for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigurationError(f"'{twice}' is there twice: give one another name, as name=other")
    return found


def _value(text: str, key: str, value: str) -> str | int:
    if key in _WORDS:
        if value not in _WORDS[key]:
            expected = ", ".join(_WORDS[key])
            raise ConfigurationError(f"'{text}': {key}: expected one of {expected}; not '{value}'")
        return value
    if key in _NUMBERS:
        most = _NUMBERS[key]
        if not value.isascii() or not value.isdigit() or not 1 <= int(value) <= most:
            raise ConfigurationError(f"'{text}': {key}: expected 1 to {most}, not '{value}'")
        return int(value)
    if key == "name":
        if not value.replace(" ", "").replace("-", "").replace("_", "").isalnum():
            raise ConfigurationError(
                f"'{text}': name: expected letters, digits, blanks, '-' and '_', not '{value}'"
            )
        return value
    raise ConfigurationError(f"'{text}': no key '{key}'; expected some of {', '.join(keys())}")


def keys() -> list[str]:
    """Keys of a configuration."""
    own = [field.name for field in fields(Configuration) if field.name != "given_name"]
    return [*own, "name"]


def words(key: str) -> tuple[str, ...]:
    """Values that a key may have; none when it is a number or a name."""
    return _WORDS.get(key, ())


def _check(text: str, one: Configuration, given: dict[str, Any]) -> None:
    """Refuse what excludes each other."""
    if one.dut != "engine":
        own = [key for key in ("driver", "threading", "batch") if key in given]
        if own:
            raise ConfigurationError(f"'{text}': {own[0]}: is the engine's, not of dut={one.dut}")
        if one.wire == "card":
            raise ConfigurationError(f"'{text}': wire: {one.dut} can't be on a virtual card")
    elif (one.driver == "card") != (one.wire == "card"):
        raise ConfigurationError(f"'{text}': driver {one.driver} can't be on wire {one.wire}")
    if "batch" in given and one.driver not in WITH_BATCH:
        expected = " or ".join(WITH_BATCH)
        raise ConfigurationError(f"'{text}': batch: expected driver={expected}, not {one.driver}")
    if one.ports not in (2, 4):
        raise ConfigurationError(f"'{text}': ports: expected 2 or 4, not {one.ports}")
    if one.ports > 2 and (one.dut != "engine" or one.wire == "memif"):
        raise ConfigurationError(f"'{text}': ports: expected 2 with {one.dut} on {one.wire}")


def applied(base: Testbed, one: Configuration) -> Testbed:
    """The testbed that a configuration makes of another one; raises TestbedError."""
    if one.dut == BOX:
        return base
    interface = one.dut == "engine" and one.wire == "veth"
    made = with_options(
        base,
        dut=_device(one),
        workers=max(one.workers, _workers_at_least(one)),
        wire=one.wire,
        tester="iperf3" if one.dut == "iperf3" else None,
        dut_driver=one.driver if interface else None,
    )
    dut = made.dut.model_copy(update={"threading": one.threading, "batch": one.batch})
    return made.model_copy(update={"dut": dut})


def _device(one: Configuration) -> str:
    """Name what forwards, as `--dut` does; what iperf3 sends goes through the kernel."""
    return {"engine": one.mode, "iperf3": "kernel"}.get(one.dut, one.dut)


def _workers_at_least(one: Configuration) -> int:
    """A reader and a writer, where they are separate."""
    return 1 if one.threading == "run-to-completion" else 2


def configuration_of(testbed: Testbed) -> Configuration:
    """The configuration that a testbed is by itself; raises ConfigurationError."""
    kind, driver = testbed.dut.kind, testbed.dut.driver
    if testbed.dut.there_already:
        wire = cast("WireKind", testbed.wire)
        return Configuration(dut=BOX, wire=wire, given_name=testbed.dut.name)
    if testbed.wire not in _WORDS["wire"] or kind not in _WORDS["dut"]:
        raise ConfigurationError(f"{testbed.name}: wire {testbed.wire} can't be swept yet")
    given = [f"dut={kind}", f"wire={testbed.wire}"]
    if kind == "engine":
        given += [f"mode={testbed.dut.mode}", f"workers={testbed.dut.workers}"]
        given += [f"driver={driver or 'socket-mmap'}"] if testbed.wire == "veth" else []
    return parse(",".join(given))
