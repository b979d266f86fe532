"""What is under test: the testbed file, read with one clear line for each mistake."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails

from linerate.card import DEFAULT, PRESETS, Card
from linerate.wire import parse_bps

Mode = Literal[
    "router", "io", "mac", "macswap", "csum", "l2fwd", "l2switch", "xconnect", "external"
]
#: What the engine itself can be: each forwards between the two ports.
ENGINE_MODES: tuple[str, ...] = tuple(mode for mode in get_args(Mode) if mode != "external")
Wire = Literal["card", "ethdev"]
RxMode = Literal["polling", "interrupt", "adaptive"]
RX_MODES: tuple[str, ...] = get_args(RxMode)

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


class Port(_Model):
    """A DPDK device: a PCI address (`0000:05:00.0`) or a virtual one (`net_af_packet0`)."""

    device: str = Field(min_length=1)
    devargs: str = ""
    mac: Mac | None = None


class TesterSpec(_Model):
    """The tester's two ports (wire: ethdev)."""

    ports: tuple[Port, Port]


class Dut(_Model):
    """What forwards."""

    mode: Mode = "router"
    workers: int = Field(default=1, ge=1, le=16)
    #: How workers find what came in.
    rx_mode: RxMode = "polling"
    cli_file: Path | None = None
    ports: tuple[Port, Port] | None = None
    #: Of an external one: the MAC addresses of its two ports.
    macs: tuple[Mac, Mac] | None = None


class Memory(_Model):
    """Packet memory, in the engine's words."""

    pages: Literal["auto", "hugepages", "thp", "4k"] = "auto"
    megabytes: int = Field(default=512, ge=64)


class Testbed(_Model):
    """Wire, device under test and tester."""

    __test__ = False

    name: str = Field(default="card", pattern=r"^[A-Za-z0-9_-]{1,40}$")
    wire: Wire = "card"
    card: Card = DEFAULT
    #: Of ethdev ports: what their link can do.
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
        if self.wire == "card" and self.dut.mode == "external":
            raise ValueError("dut.mode: an external one needs `wire: ethdev`")
        if self.wire == "ethdev":
            for key, missing in (
                ("tester.ports", self.tester is None),
                ("link", self.link_bps is None),
                ("dut.macs", self.dut.mode == "external" and self.dut.macs is None),
                ("dut.ports", self.dut.mode != "external" and self.dut.ports is None),
            ):
                if missing:
                    raise ValueError(f"{key}: required with `wire: ethdev`{_example(key)}")
        return self

    @property
    def line_bps(self) -> int:
        """L1 rate of one direction."""
        return self.card.link_bps if self.wire == "card" else (self.link_bps or 0)


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
        raise TestbedError([f"{path}: {_yaml_mistake(error)}"]) from error
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
    mode: str | None = None,
    card: str | None = None,
    workers: int | None = None,
    rx_mode: str | None = None,
) -> Testbed:
    """The same testbed with what the command line says instead; raises TestbedError."""
    document = testbed.model_dump(by_alias=True)
    changes = {"mode": mode, "workers": workers, "rx_mode": rx_mode}
    document["dut"] |= {key: value for key, value in changes.items() if value is not None}
    if card is not None:
        document["card"] = card
    return parse(document, "the command line")


def check_cpus(testbed: Testbed, allowed: tuple[int, ...]) -> None:
    """Raise TestbedError when workers would have to take turns on a CPU.

    One CPU for tester and forwarder together is slow but fair, and is allowed.
    """
    workers, cpus = testbed.dut.workers, testbed.cpus or allowed
    if testbed.dut.mode != "external" and workers > 1 and workers >= len(cpus):
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
        raise TestbedError([_mistake(source, one) for one in error.errors()]) from error


def _yaml_mistake(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: expected YAML: {error.problem}"
    return "expected YAML"


def _mistake(source: str, error: ErrorDetails) -> str:
    """One line: file, key, what was expected."""
    key = ".".join(str(part) for part in error["loc"])
    expected = _expected(error)
    return f"{source}: {key}: {expected}" if key else f"{source}: {expected}"


#: What was expected, by pydantic's type of error; {given} and pydantic's context are filled in.
_EXPECTED = {
    "missing": "required, but absent",
    "extra_forbidden": "no such key",
    "value_error": "{error}",
    "literal_error": "expected {expected}, not {given}",
    "int_parsing": "expected a whole number, not {given}",
    "int_type": "expected a whole number, not {given}",
    "int_from_float": "expected a whole number, not {given}",
    "float_parsing": "expected a number, not {given}",
    "float_type": "expected a number, not {given}",
    "bool_parsing": "expected true or false, not {given}",
    "bool_type": "expected true or false, not {given}",
    "string_type": "expected text, not {given}",
    "string_too_short": "expected a text that is not empty",
    "string_pattern_mismatch": "expected 1 to 40 letters, digits, '-' and '_', not {given}",
    "greater_than": "expected more than {gt}, not {given}",
    "greater_than_equal": "expected {ge} or more, not {given}",
    "less_than_equal": "expected {le} or less, not {given}",
    "model_type": "expected keys and values, not {given}",
    "model_attributes_type": "expected keys and values, not {given}",
    "tuple_type": "expected a list, not {given}",
    "too_long": "expected a list of {max_length}, not of {actual_length}",
}


def _expected(error: ErrorDetails) -> str:
    context: dict[str, Any] = error.get("ctx", {})
    text = _EXPECTED.get(error["type"])
    if text is None:
        return f"{error['msg'][:1].lower()}{error['msg'][1:]}, not {_short(error['input'])}"
    return text.format(**context | {"given": _short(error["input"])})


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
