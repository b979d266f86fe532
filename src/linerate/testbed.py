"""What is under test: the testbed file, read with one clear line for each mistake."""

import re
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from linerate.card import DEFAULT, PRESETS, Card, card_option
from linerate.drivers import INTERFACE_DRIVERS, WITH_BATCH
from linerate.flow_table import FlowTable
from linerate.limits import Burn, Delay, Lose, TesterBurn
from linerate.mistakes import mistake, yaml_mistake
from linerate.wire import parse_bps

#: What the engine itself can be: each forwards between the two ports.
SIMPLE_MODES = ("io", "mac", "macswap", "csum", "l2fwd", "l2switch", "xconnect")
ENGINE_MODES = ("router", *SIMPLE_MODES, "flowtable")
#: What forwards nothing: it takes all, or sends by itself.
ONE_WAY = ("rxonly", "txonly")
#: What each kind of device can be, its default first; others are one thing only.
MODES: dict[str, tuple[str, ...]] = {
    "engine": (*ENGINE_MODES, *ONE_WAY),
    "testpmd": ("io", "mac", "macswap", "csum", "5tswap", "flowgen", "rxonly", "txonly"),
}


def _modules(package: str) -> tuple[str, ...]:
    """Names of what has a file each in a package of ours."""
    folder = Path(__file__).parent / package
    return tuple(sorted(path.stem for path in folder.glob("[!_]*.py")))


#: Kinds of wires and of devices under test.
WIRES = _modules("wires")
DUTS = _modules("dut")
TESTERS = _modules("tester")
#: Wires whose ends are the kernel's interfaces, and those of devices that need no interfaces.
INTERFACES = ("veth", "af_xdp")
WIRES_OF = {"testpmd": (*INTERFACES, "memif")}
#: Of wires that have none of their own: what 100 % of the load is.
LINK_BPS = 10_000_000_000
RxMode = Literal["polling", "interrupt", "adaptive"]
RX_MODES: tuple[str, ...] = get_args(RxMode)
Handoff = Literal["auto", "off"]
Threading = Literal["run-to-completion", "locked", "lock-free"]

_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")


class TestbedError(Exception):
    """A testbed file with mistakes; `lines` has one line for each."""

    __test__ = False  # pytest would take it for a test class

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _mac(value: str) -> str:
    value = value.lower()
    if not _MAC.fullmatch(value):
        raise ValueError(f"expected a MAC address as 02:00:00:00:0e:00, not '{value}'")
    return value


Mac = Annotated[str, AfterValidator(_mac)]


def _one_of(words: tuple[str, ...]) -> AfterValidator:
    def check(value: str) -> str:
        if value not in words:
            raise ValueError(f"expected one of {', '.join(words)}, not '{value}'")
        return value

    return AfterValidator(check)


#: Of a port on a kernel's interface.
Driver = Annotated[str, _one_of(INTERFACE_DRIVERS)]


class Port(_Model):
    """A DPDK device: a PCI address (`0000:05:00.0`) or a virtual one (`net_af_packet0`)."""

    device: str = Field(min_length=1)
    devargs: str = ""
    mac: Mac | None = None


class TesterSpec(_Model):
    """The tester's two ports (wire: ethdev) or their driver, and how slow it shall be."""

    kind: Annotated[str, _one_of(TESTERS)] = "engine"
    ports: tuple[Port, Port] | None = None
    #: Of ports on the kernel's interfaces.
    driver: Driver | None = None
    burn: TesterBurn | None = None


def _power_of_two(value: int) -> int:
    if value & (value - 1):
        raise ValueError(f"expected a power of two from 32 to 32768, not {value}")
    return value


HandoffRing = Annotated[int, Field(ge=32, le=32768), AfterValidator(_power_of_two)]


class Dut(_Model):
    """What forwards."""

    kind: Annotated[str, _one_of(DUTS)] = "engine"
    #: Which forwarder, of the kinds that are several.
    mode: str = ""
    #: Of ports on the kernel's interfaces.
    driver: Driver | None = None
    #: Packets a system call, of the drivers that take several at once.
    batch: int | None = Field(default=None, ge=1, le=256)
    workers: int = Field(default=1, ge=1, le=16)
    #: How workers find what came in.
    rx_mode: RxMode = "polling"
    #: Spread packets over workers by software where there are too few rx queues.
    handoff: Handoff | None = None
    #: Packets that a ring between two workers holds.
    handoff_ring: HandoffRing | None = None
    #: Readers and writers with a queue between them, or each worker does all.
    threading: Threading = "run-to-completion"
    #: Packets that a reader or writer moves through that queue at once.
    queue_batch: int | None = Field(default=None, ge=1, le=256)
    burn: Burn | None = None
    lose: Lose | None = None
    delay: Delay | None = None
    cli_file: Path | None = None
    flowtable: FlowTable | None = None
    ports: tuple[Port, Port] | None = None
    #: Of an external one: the MAC addresses of its two ports.
    macs: tuple[Mac, Mac] | None = None

    @model_validator(mode="before")
    @classmethod
    def _default_mode(cls, value: object) -> object:
        if isinstance(value, dict) and not value.get("mode"):
            modes = MODES.get(str(value.get("kind", "engine")), ("",))
            return value | {"mode": modes[0]}
        return value

    @field_validator("mode")
    @classmethod
    def _mode_of_kind(cls, value: str, info: ValidationInfo) -> str:
        kind = info.data.get("kind", "")
        modes = MODES.get(kind, ())
        if kind and value not in modes and (value or modes):
            expected = f"one of {', '.join(modes)}" if modes else f"none, a {kind} has no modes"
            raise ValueError(f"expected {expected}, not '{value}'")
        return value

    @model_validator(mode="after")
    def _batch_of_driver(self) -> Self:
        if self.batch is not None and self.driver not in WITH_BATCH:
            raise ValueError(f"batch: expected only with driver {' or '.join(WITH_BATCH)}")
        return self

    @property
    def name(self) -> str:
        """What it is, in a word: `router`, `kernel`, `testpmd-io`."""
        if self.kind == "engine":
            return self.mode
        return f"{self.kind}-{self.mode}" if self.mode else self.kind

    @property
    def built_in(self) -> bool:
        """Whether it is of ours, so that each packet must be accounted for."""
        return self.kind == "engine"


class Memory(_Model):
    """Packet memory, in the engine's words."""

    pages: Literal["auto", "hugepages", "thp", "4k"] = "auto"
    megabytes: int = Field(default=512, ge=64)


class Testbed(_Model):
    """Wire, device under test and tester."""

    __test__ = False

    name: str = Field(default="card", pattern=r"^[A-Za-z0-9_-]{1,40}$")
    wire: Annotated[str, _one_of(WIRES)] = "card"
    card: Card = DEFAULT
    #: Of wires that are not the card's: what 100 % of the load is.
    link_bps: int | None = Field(default=None, gt=0, alias="link")
    tester: TesterSpec | None = None
    dut: Dut = Dut()
    cpus: tuple[int, ...] | None = None
    memory: Memory = Memory()

    model_config = ConfigDict(populate_by_name=True)

    @field_validator("card", mode="before")
    @classmethod
    def _preset(cls, value: object) -> object:
        """`card: cx4-lx`, or `card: {preset: cx4-lx, rx_queues: 1}`."""
        if isinstance(value, str):
            return preset(value)
        if isinstance(value, dict):
            changes = {"link_bps" if key == "link" else key: value[key] for key in value}
            base = preset(str(changes.pop("preset", "default")))
            return base.model_dump() | changes
        return value

    @field_validator("link_bps", mode="before")
    @classmethod
    def _bit_rate(cls, value: object) -> object:
        return parse_bps(value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        kind = self.dut.kind
        if kind not in ("engine", "external") and self.wire not in WIRES_OF.get(kind, INTERFACES):
            expected = " or ".join(WIRES_OF.get(kind, INTERFACES))
            raise ValueError(f"wire: expected {expected} for {kind}, not '{self.wire}'")
        if self.by_tool and self.wire not in INTERFACES:
            expected = " or ".join(INTERFACES)
            raise ValueError(f"wire: expected {expected} for other testers, not '{self.wire}'")
        if self.dut.kind == "external" and self.wire != "ethdev":
            raise ValueError("dut.kind: an external one needs `wire: ethdev`")
        if self.wire == "ethdev":
            for key, missing in (
                ("tester.ports", self.tester is None or self.tester.ports is None),
                ("link", self.link_bps is None),
                ("dut.macs", self.dut.kind == "external" and self.dut.macs is None),
                ("dut.ports", self.dut.kind != "external" and self.dut.ports is None),
            ):
                if missing:
                    raise ValueError(f"{key}: required with `wire: ethdev`{_example(key)}")
        return self

    @property
    def by_tool(self) -> bool:
        """Whether other people's load generator is the tester."""
        return self.tester is not None and self.tester.kind != "engine"

    @property
    def line_bps(self) -> int:
        """L1 rate of one direction."""
        return self.card.link_bps if self.wire == "card" else (self.link_bps or LINK_BPS)


def _example(key: str) -> str:
    return {
        "tester.ports": ': expected two, as [{device: "0000:05:00.0"}, {device: "0000:05:00.1"}]',
        "dut.ports": ': expected two, as [{device: "0000:06:00.0"}, {device: "0000:06:00.1"}]',
        "dut.macs": " of an external device: expected the addresses of its two ports",
        "link": ": expected a bit rate, as 10G",
    }[key]


def preset(name: str) -> Card:
    """Return the card preset of that name; raises ValueError."""
    if name == "default":
        return DEFAULT
    if name not in PRESETS:
        raise ValueError(f"expected one of {', '.join(PRESETS)}, default; not '{name}'")
    return PRESETS[name]


def load(path: Path) -> Testbed:
    """Read a testbed file; raises TestbedError with one line for each mistake."""
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TestbedError([f"{path}: {(error.strerror or str(error)).lower()}"]) from error
    except UnicodeDecodeError as error:
        raise TestbedError([f"{path}: expected text in UTF-8"]) from error
    except yaml.YAMLError as error:
        raise TestbedError([f"{path}: {yaml_mistake(error)}"]) from error
    testbed = parse({} if document is None else document, str(path))
    if testbed.dut.cli_file is not None:
        cli_file = path.parent / testbed.dut.cli_file
        if not cli_file.is_file():
            raise TestbedError([f"{path}: dut.cli_file: no such file: {cli_file}"])
        dut = testbed.dut.model_copy(update={"cli_file": cli_file.resolve()})
        testbed = testbed.model_copy(update={"dut": dut})
    return testbed


def with_options(
    testbed: Testbed,
    dut: str | None = None,
    card: str | None = None,
    workers: int | None = None,
    rx_mode: str | None = None,
    wire: str | None = None,
    tester: str | None = None,
    driver: str | None = None,
    dut_driver: str | None = None,
    link: str | None = None,
) -> Testbed:
    """The same testbed with what the command line says instead; raises TestbedError.

    `dut` is a kind, a kind and its mode (`testpmd:macswap`), or a mode of the engine.
    """
    document = testbed.model_dump(by_alias=True)
    changes = {"workers": workers, "rx_mode": rx_mode, "driver": dut_driver}
    document["dut"] |= {key: value for key, value in changes.items() if value is not None}
    if dut is not None:
        document["dut"] |= _kind_and_mode(dut)
    changes = {"kind": tester, "driver": driver}
    if given := {key: value for key, value in changes.items() if value is not None}:
        document["tester"] = (document["tester"] or {}) | given
    changes = {"wire": wire, "link": link}
    document |= {key: value for key, value in changes.items() if value is not None}
    if card is not None:
        document["card"] = _card(card)
    return parse(document, "the command line")


def _card(words: str) -> str | dict[str, object]:
    try:
        return card_option(words)
    except ValueError as error:
        raise TestbedError([f"the command line: card: {error}"]) from error


def _kind_and_mode(word: str) -> dict[str, str]:
    kind, _, mode = word.partition(":")
    return {"kind": kind, "mode": mode} if kind in DUTS else {"kind": "engine", "mode": word}


def check_cpus(testbed: Testbed, allowed: tuple[int, ...]) -> None:
    """Raise TestbedError when workers would have to take turns on a CPU.

    One CPU for tester and forwarder together is slow but fair, and is allowed. Workers that
    sleep their burnt clocks off can share one beside the tester's.
    """
    workers, cpus = testbed.dut.workers, testbed.cpus or allowed
    if testbed.dut.burn is not None and testbed.dut.burn.shares_cpus and len(cpus) > 1:
        return
    if testbed.dut.threading != "run-to-completion" and len(cpus) > 1:
        # A reader and a writer may take turns: what is compared are the queues between them.
        return
    if testbed.dut.built_in and workers > 1 and workers >= len(cpus):
        raise TestbedError(
            [
                f"dut.workers: {workers} workers and the tester need {workers + 1} CPUs, "
                f"{len(cpus)} may be used and workers would take turns; "
                f"try --workers {max(1, len(cpus) - 1)}"
            ]
        )


def parse(document: object, source: str) -> Testbed:
    """Check what a testbed file holds; `source` is named in each line."""
    if not isinstance(document, dict):
        raise TestbedError([f"{source}: expected keys and values, as `wire: card`"])
    try:
        return Testbed.model_validate(document)
    except ValidationError as error:
        raise TestbedError([mistake(source, one) for one in error.errors()]) from error
