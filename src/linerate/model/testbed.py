"""The testbed file, read with one clear line for each mistake."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Tag,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, core_schema

from linerate.base.drivers import INTERFACE_DRIVERS, WITH_BATCH
from linerate.base.errors import TestbedError
from linerate.base.frozen_model import StrictModel
from linerate.base.line_rate import parse_bps
from linerate.base.memory_size import MEGABYTES
from linerate.base.pci import check_device, is_address
from linerate.base.published import published
from linerate.base.safe_load import DocumentError, read_yaml
from linerate.base.validation import mistake
from linerate.model import external_ports, tester_addresses
from linerate.model.box import At, BoxPort, Command
from linerate.model.flow_table_config import FlowTable
from linerate.model.impairments import Burn, Delay, Lose, TesterBurn
from linerate.model.nic_presets import Card, card_option, preset
from linerate.model.port_queues import PortQueues, QueueCount
from linerate.model.power_sources import Power
from linerate.model.tester_addresses import Addresses, TesterAddresses

#: Modes of the engine itself: each forwards between the two ports.
SIMPLE_MODES = ("io", "mac", "macswap", "csum", "l2fwd", "l2switch", "xconnect")
ENGINE_MODES = ("router", *SIMPLE_MODES, "flowtable")
#: Modes that do not forward: they consume all packets, or generate them.
ONE_WAY = ("rxonly", "txonly")
#: Modes of each kind of device, its default first; others have one only.
MODES: dict[str, tuple[str, ...]] = {
    "engine": (*ENGINE_MODES, *ONE_WAY),
    "testpmd": ("io", "mac", "macswap", "csum", "5tswap", "flowgen", "rxonly", "txonly"),
}


def _modules(package: str) -> tuple[str, ...]:
    """Names of what has a file each in a package of ours."""
    folder = Path(__file__).parent.parent / package
    return tuple(sorted(path.stem for path in folder.glob("[!_]*.py")))


#: Kinds of wires, of devices under test that the lab starts, and of boxes that it asks.
WIRES = _modules("lab/links")
STARTED = _modules("lab/dut")
BOXES = _modules("parsers/boxes")
DUTS = tuple(sorted({*STARTED, *BOXES}))
#: Those that are named by their kind, not by a mode.
DUTS_BY_NAME = tuple(name for name in DUTS if name != "engine")
TESTERS = _modules("lab/tester")
#: Wires whose ends are the kernel's interfaces, and those of devices that need no interfaces.
INTERFACES = ("veth", "af_xdp")
WIRES_OF = {"testpmd": (*INTERFACES, "memif"), "vpp": ("memif",)}
#: The tester that is somebody's server, and its wire.
TREX, CABLED = "trex", "cabled"
ServerPort = Annotated[int, Field(ge=0, le=255)]
#: Default rate of 100 % load for links without a rate of their own.
LINK_BPS = 10_000_000_000
RxMode = Literal["polling", "interrupt", "adaptive"]
RX_MODES: tuple[str, ...] = get_args(RxMode)
Handoff = Literal["auto", "off"]
Threading = Literal["run-to-completion", "locked", "lock-free"]

_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")


def _mac(value: str) -> str:
    value = value.lower()
    if not _MAC.fullmatch(value):
        raise ValueError(f"expected a MAC address as 02:00:00:00:0e:00, not '{value}'")
    if int(value[:2], 16) & 1:
        raise ValueError(f"expected the address of one port: {value} is a group's (multicast)")
    return value


Mac = Annotated[str, AfterValidator(_mac)]


@dataclass(frozen=True, slots=True)
class _OneOf:
    """A word of several, which an editor completes by the schema."""

    words: tuple[str, ...]

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(schema) | {"enum": list(self.words)}

    def _check(self, value: str) -> str:
        if value not in self.words:
            raise ValueError(f"expected one of {', '.join(self.words)}, not '{value}'")
        return value


#: Driver of a port on a kernel interface.
Driver = Annotated[str, _OneOf(INTERFACE_DRIVERS)]


#: A socket's path has 107 bytes at most; what separates devargs can't be in it.
Socket = Annotated[str, Field(pattern=r"^[^,\s]{1,107}$")]
Interface = Annotated[str, Field(pattern=r"^[^/\s,]{1,15}$")]


def _off(value: object) -> object:
    """YAML reads the word `off` as false."""
    return "off" if value is False else value


FlowControl = Annotated[
    Literal["off", "rx", "tx", "full"],
    BeforeValidator(_off, json_schema_input_type=Literal["off", "rx", "tx", "full", False]),
]


class Port(PortQueues):
    """A DPDK device: a PCI address (`0000:05:00.0`) or a virtual one (`net_af_packet0`)."""

    #: PCI address, or a virtual device of DPDK.
    device: Annotated[str, AfterValidator(check_device)] = Field(min_length=1)
    #: Arguments of its DPDK driver.
    devargs: str = ""
    #: MAC address; else its own.
    mac: Mac | None = None
    #: IEEE 802.3 PAUSE frames that it obeys (rx), sends (tx), both.
    flow_control: FlowControl = "off"
    #: Largest frame, FCS included.
    max_frame_bytes: int | None = Field(default=None, ge=64, le=9728)

    @property
    def on_pci(self) -> bool:
        """Whether it is a NIC's: DPDK opens it where it is, and makes no device."""
        return is_address(self.device)


class TesterPort(Port):
    """One of the tester's."""

    #: Addresses of the port itself on its link.
    address: Addresses | None = None


#: Both ports of the tester, or the one that a hairpin has.
PORTS_OF_TESTER = Field(min_length=1, max_length=2)


class TesterSpec(TesterAddresses):
    """The tester's ports (wire: ethdev) or their driver, and how slow it shall be.

    There are two ports; one where a box has one, that both sends and receives a packet.
    """

    #: Program that sends and receives.
    kind: Annotated[str, _OneOf(TESTERS)] = "engine"
    #: With `kind: trex`: its host; where its ports are not 4501 and 4500, HOST:SYNC:ASYNC.
    server: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._-]{1,253}(:\d{1,5}:\d{1,5})?$")
    #: Numbers of its ports that are t0 and t1.
    server_ports: tuple[ServerPort, ServerPort] = (0, 1)
    #: With `wire: ethdev`: DPDK devices, t0 and t1; one of a hairpin.
    ports: Annotated[tuple[TesterPort, ...], PORTS_OF_TESTER] | None = None
    #: With `wire: memif` and an external device: paths of the sockets; `@name` is abstract.
    sockets: Annotated[tuple[Socket, ...], PORTS_OF_TESTER] | None = None
    #: Rx queues of each of those: a device that sends with several threads has a queue for each.
    rx_queues: QueueCount | None = None
    #: So long is waited for peers of memif sockets: VPP's client tries again every few seconds.
    wait_seconds: float = Field(default=10, gt=0, le=3600)
    #: With `wire: veth` or `af_xdp` and an external device: existing interfaces.
    interfaces: Annotated[tuple[Interface, ...], PORTS_OF_TESTER] | None = None
    #: Driver of ports on the kernel's interfaces.
    driver: Driver | None = None
    #: Threads that send and receive; else as many as the line needs and there are CPUs for. Ports
    #: are spread over them, and rx queues of those that have several; both ports of a virtual card
    #: stay with one. Where there are more than ports, several send on each, by tx queues of their
    #: own.
    workers: int | None = Field(default=None, ge=1, le=32)
    #: Cycles that it wastes, to try what a slow tester looks like.
    burn: TesterBurn | None = None
    #: Whether received frames are checked for damage, by their checksums.
    check_payload: bool = False

    @model_validator(mode="after")
    def _addresses_once(self) -> Self:
        if self.addresses and any(port.address for port in self.ports or ()):
            raise ValueError("addresses: given in `ports` too; give them in one place")
        return self

    @model_validator(mode="after")
    def _queues_of_sockets(self) -> Self:
        if self.rx_queues is not None and self.sockets is None:
            raise ValueError("rx_queues: expected only with `sockets`; of cards it is in `ports`")
        return self

    @model_validator(mode="after")
    def _server_of_trex(self) -> Self:
        if (self.kind == TREX) != (self.server is not None):
            raise ValueError(f"server: expected with `kind: {TREX}`, as `server: 192.0.2.1`")
        if self.server_ports[0] == self.server_ports[1]:
            raise ValueError("server_ports: expected two that differ, as [0, 1]")
        return self

    @property
    def server_address(self) -> tuple[str, int, int]:
        """The server's host, and the numbers of its ports for calls and events."""
        host, *ports = (self.server or "").split(":")
        sync_port, async_port = map(int, ports or (4501, 4500))
        return host, sync_port, async_port

    @property
    def own_addresses(self) -> tuple[Addresses, ...]:
        """Addresses of the ports; empty where a port has none."""
        if self.ports is None:
            return self.addresses or ((), ())
        return self.addresses or tuple(port.address or () for port in self.ports)

    @property
    def hairpin(self) -> bool:
        """Whether it has one port, that receives what it sends."""
        joined = self.ports or self.sockets or self.interfaces
        return joined is not None and len(joined) == 1


def _whose(ports: object) -> str:
    """Ports of a box have names; devices of ours have none."""
    first = next(iter(ports), None) if isinstance(ports, list | tuple) else None
    named = first is None or (isinstance(first, dict) and "name" in first)
    return OF_BOX if named or isinstance(first, BoxPort) else OF_ENGINE


#: In brackets: no key of the file, and left out of errors.
OF_BOX, OF_ENGINE = "(box)", "(engine)"
#: A box has two for each time that a packet crosses it.
BOX_PORTS_MAX = 64
BoxPorts = Annotated[tuple[BoxPort, ...], Field(min_length=1, max_length=BOX_PORTS_MAX)]
DutPorts = Annotated[
    Annotated[tuple[Port, Port], Tag(OF_ENGINE)] | Annotated[BoxPorts, Tag(OF_BOX)],
    Discriminator(_whose),
]


def _power_of_two(value: int) -> int:
    if value & (value - 1):
        raise ValueError(f"expected a power of two from 32 to 32768, not {value}")
    return value


HandoffRing = Annotated[int, Field(ge=32, le=32768), AfterValidator(_power_of_two)]


class Dut(StrictModel):
    """The forwarder under test."""

    #: Our engine, a program that the lab starts, or a kind of box (docs/boxes-kinds.md).
    kind: Annotated[str, _OneOf(DUTS)] = "engine"
    #: Mode, of the kinds that have several.
    mode: str = ""
    #: Driver of ports on the kernel's interfaces.
    driver: Driver | None = None
    #: Packets a system call, of the drivers that take several at once.
    batch: int | None = Field(default=None, ge=1, le=256)
    #: Threads that forward.
    workers: int = Field(default=1, ge=1, le=16)
    #: Method by which workers detect received packets.
    rx_mode: RxMode = "polling"
    #: Spread packets over workers by software where there are too few rx queues.
    handoff: Handoff | None = None
    #: Packets that a ring between two workers holds.
    handoff_ring: HandoffRing | None = None
    #: Readers and writers with a queue between them, or each worker does all.
    threading: Threading = "run-to-completion"
    #: Packets that a reader or writer moves through that queue at once.
    queue_batch: int | None = Field(default=None, ge=1, le=256)
    #: Cycles wasted on each packet, a limit set on purpose.
    burn: Burn | None = None
    #: Loss set on purpose.
    lose: Lose | None = None
    #: Delay set on purpose.
    delay: Delay | None = None
    #: File of commands for the router, routes and neighbours among them.
    cli_file: Path | None = None
    #: File of routes for the router, `PREFIX/LENGTH NEXT-HOP` a line (docs/routes.md).
    routes_file: Path | None = None
    #: Flow table of mode `flowtable`.
    flowtable: FlowTable | None = None
    #: DPDK devices of the engine's, or ports of a box by their names there: two, one where packets
    #: go out as they come in, or more in the order in which a packet comes by.
    ports: DutPorts | None = None
    #: MAC addresses of the ports of an external device that the tester's are cabled to.
    macs: Annotated[tuple[Mac, ...], Field(min_length=1, max_length=2)] | None = None
    #: Where commands of a box run: `local`, `netns:NAME`, `container:NAME`, `ssh://LOGIN@HOST`.
    at: At | None = None
    #: Commands run on a box before the first trial; of a device that the lab starts between
    #: interfaces, in its namespace, once it is there.
    setup: tuple[str, ...] = ()
    #: Commands after the last trial, whatever happened; before a device goes that the lab started.
    teardown: tuple[str, ...] = ()
    #: Questions of the user's, beside those of the kind.
    commands: tuple[Command, ...] = ()
    #: Socket of the box's command line, or of its telemetry, where it is not the usual one.
    socket: str | None = Field(default=None, pattern=r"^/[\w./@+-]{1,200}$")
    #: Whether the box's own counters may be cleared before a trial.
    clear: bool = False
    #: Whether its kernel is sampled within each load: cycles by part of it, and drop reasons.
    profile: bool = False
    #: Meter of its power.
    power: Power | None = None
    #: Whether a run ends at once where none of the first packets comes through a box.
    first_packets: bool = True

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
            others = ", or a kind: " + ", ".join(DUTS_BY_NAME) if kind == "engine" else ""
            raise ValueError(f"expected {expected}{others}, not '{value}'")
        return value

    @model_validator(mode="after")
    def _batch_of_driver(self) -> Self:
        if self.batch is not None and self.driver not in WITH_BATCH:
            raise ValueError(f"batch: expected only with driver {' or '.join(WITH_BATCH)}")
        return self

    @property
    def name(self) -> str:
        """Short name: `router`, `kernel`, `testpmd-io`."""
        if self.kind == "engine":
            return self.mode
        # Only what the lab starts has a mode that it knows.
        moded = self.mode and not self.is_box
        return f"{self.kind}-{self.mode}" if moded else self.kind

    @property
    def built_in(self) -> bool:
        """Whether it is of ours, so that each packet must be accounted for."""
        return self.kind == "engine"

    @property
    def is_box(self) -> bool:
        """Whether somebody else set it up, and it is asked by commands.

        Kinds that the lab can start are boxes where their place or their ports are named.
        """
        named = self.at is not None or self.box_ports is not None
        return self.kind in BOXES and (self.kind not in STARTED or named)

    @property
    def there_already(self) -> bool:
        """Whether the lab does not start it."""
        return self.is_box or self.kind == "external"

    @property
    def devices(self) -> tuple[Port, Port] | None:
        """Its DPDK devices, where the engine has them."""
        if self.ports is None or self.box_ports is not None:
            return None
        first, second = self.ports
        return (first, second) if isinstance(first, Port) and isinstance(second, Port) else None

    @property
    def box_ports(self) -> tuple[BoxPort, ...] | None:
        """Ports of a box, in the order in which a packet of t0 comes by."""
        named = tuple(port for port in self.ports or () if isinstance(port, BoxPort))
        return named or None

    @property
    def facing(self) -> tuple[BoxPort, ...]:
        """Ports of a box that the tester's are cabled to."""
        ports = self.box_ports or ()
        return ports if len(ports) < 2 else (ports[0], ports[-1])

    @property
    def port_names(self) -> dict[str, str]:
        """Names that a box has for its ports, by those of ledgers: `e0`, `e1`."""
        return {f"e{number}": port.name for number, port in enumerate(self.box_ports or ())}

    @property
    def passes(self) -> int:
        """Number of times that a packet crosses it."""
        return max(1, len(self.box_ports or ()) // 2)

    @model_validator(mode="after")
    def _ports_of_kind(self) -> Self:
        if self.is_box and self.box_ports is None:
            raise ValueError(
                f"ports: required of kind {self.kind}: expected its two ports by name, as "
                "[{name: eth1}, {name: eth2}]"
            )
        if self.box_ports is not None and not self.there_already:
            raise ValueError(f"ports: expected devices, as {{device: ...}}, of kind {self.kind}")
        of_box = [key for key in ("at", "commands") if getattr(self, key)]
        if of_box and not self.is_box:
            raise ValueError(f"{of_box[0]}: expected of a box alone ({', '.join(BOXES)})")
        commands = [key for key in ("setup", "teardown") if getattr(self, key)]
        if commands and self.kind in ("engine", "external"):
            raise ValueError(
                f"{commands[0]}: expected of a box, or of a device that the lab starts in a "
                f"namespace, not of {self.kind}"
            )
        return self


class Memory(StrictModel):
    """Packet memory, in the engine's words."""

    #: Pages that it is of; `auto`: hugepages where there are enough.
    pages: Literal["auto", "hugepages", "thp", "4k"] = "auto"
    #: Size for each engine.
    megabytes: int = Field(default=MEGABYTES, ge=64)


@published("testbed", "A testbed file in YAML, of users", form="written")
class Testbed(StrictModel):
    """Wire, device under test and tester."""

    __test__ = False

    #: Name of the testbed, in reports.
    name: str = Field(default="card", pattern=r"^[A-Za-z0-9_-]{1,40}$")
    #: Kind of the links between tester and device.
    wire: Annotated[str, _OneOf(WIRES)] = "card"
    #: Virtual card: a preset's name, or `{preset: NAME, …}` with what differs from it.
    card: Card = Field(default_factory=Card)
    #: Nominal link rate of links other than the card's.
    link_bps: int | None = Field(default=None, gt=0, alias="link")
    #: Tester; left out, it is our engine with ports of the wire.
    tester: TesterSpec | None = None
    #: Device under test.
    dut: Dut = Field(default_factory=Dut)
    #: CPUs that may be used; else those that the process may use.
    cpus: tuple[int, ...] | None = None
    #: Packet memory of our engines.
    memory: Memory = Field(default_factory=Memory)

    model_config = ConfigDict(populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _wire_of_server(cls, value: object) -> object:
        """A server's ports are cabled: there is no other wire."""
        tester = value.get("tester") if isinstance(value, dict) else None
        if isinstance(value, dict) and isinstance(tester, dict) and tester.get("kind") == TREX:
            return {"wire": CABLED} | value
        return value

    @field_validator("card", mode="before", json_schema_input_type=str | dict[str, Any])
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

    @field_validator("link_bps", mode="before", json_schema_input_type=int | str | None)
    @classmethod
    def _bit_rate(cls, value: object) -> object:
        return parse_bps(value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        kind = self.dut.kind
        outside = self.dut.there_already
        if kind != "engine" and not outside and self.wire not in WIRES_OF.get(kind, INTERFACES):
            expected = " or ".join(WIRES_OF.get(kind, INTERFACES))
            box = "; a box has its `ports` by name" if kind in BOXES else ""
            raise ValueError(f"wire: expected {expected} for {kind}, not '{self.wire}'{box}")
        if self.by_tool and self.wire not in INTERFACES:
            expected = " or ".join(INTERFACES)
            raise ValueError(f"wire: expected {expected} for other testers, not '{self.wire}'")
        if self.by_server != (self.wire == CABLED):
            raise ValueError(f"wire: expected {CABLED} with `tester: {{kind: {TREX}}}` alone")
        if self.by_server and self.dut.macs is None:
            raise ValueError("dut.macs: required with a TRex server: expected two addresses")
        joined = {
            key: self.tester and getattr(self.tester, key) for key in external_ports.JOINED_BY
        }
        external_ports.check(outside, self.wire, joined, self.dut.macs or self.neighbors)
        self._check_path()
        if not outside and (given := self._of_user):
            raise ValueError(
                f"tester.{given}: expected with a device that is there already "
                f"({', '.join(('external', *BOXES))}), not with {kind}"
            )
        if self.wire == "ethdev":
            tester_ports = self.tester and self.tester.ports
            external_ports.check_ethdev(
                tester_ports, self.link_bps or self._negotiates, self.dut.ports or outside
            )
            external_ports.check_devices(
                [port.device for port in (*(tester_ports or ()), *(self.dut.devices or ()))]
            )
        if self.pci_ports and self.memory.pages in ("thp", "4k"):
            raise ValueError(
                "memory.pages: expected hugepages or auto with a PCI port, not "
                f"'{self.memory.pages}': a NIC cannot reach other pages"
            )
        return self

    def _check_path(self) -> None:
        """Raise ValueError where the ports of tester and device make no path."""
        if self.hairpin and not self.dut.there_already:
            raise ValueError("tester: one port is enough for a box alone: expected two")
        box = None if self.dut.box_ports is None else [port.name for port in self.dut.box_ports]
        external_ports.check_path(self.hairpin, box, self.dut.macs)
        if self.tester is not None and not self.hairpin:
            for key in self.tester.of_user:
                if len(getattr(self.tester, key)) < 2:
                    raise ValueError(f"tester.{key}: expected two, one for each of its ports")

    @property
    def hairpin(self) -> bool:
        """Whether the port of the tester that sends packets receives them."""
        return self.tester is not None and self.tester.hairpin

    def checking_payload(self) -> Self:
        """The same, with our tester looking at what comes back for damage."""
        if self.by_tool:
            return self
        tester = (self.tester or TesterSpec()).model_copy(update={"check_payload": True})
        return self.model_copy(update={"tester": tester})

    @property
    def _of_user(self) -> str:
        """A key of the tester's addresses that is given, or nothing."""
        if self.tester is None:
            return ""
        in_ports = ["ports.0.address"] * any(self.tester.own_addresses)
        return next(iter(self.tester.of_user + in_ports), "")

    @property
    def neighbors(self) -> tuple[str, ...] | None:
        """Neighbours of the tester's ports whose MAC addresses are asked for, unless given.

        Raises ValueError when one is on no subnet of the tester's.
        """
        if self.dut.macs is not None or self.tester is None or not self.dut.there_already:
            return None
        own = self.tester.own_addresses[: 1 if self.hairpin else None]
        if self.tester.next_hops is not None:
            return tester_addresses.neighbors(own, self.tester.next_hops, "tester.next_hops.{}")
        of_device = [port.address for port in self.dut.facing]
        return tester_addresses.neighbors(own, of_device, "dut.ports.{}.address")

    @property
    def pci_ports(self) -> tuple[Port, ...]:
        """Ports that are a NIC's, the tester's first."""
        if self.wire != "ethdev":
            return ()
        of_tester = self.tester.ports if self.tester and self.tester.ports else ()
        return tuple(port for port in (*of_tester, *(self.dut.devices or ())) if port.on_pci)

    @property
    def _negotiates(self) -> bool:
        """Whether the tester's ports are cards whose links have a speed of their own."""
        ports = self.tester.ports if self.tester is not None else None
        return ports is not None and all(port.on_pci for port in ports)

    @property
    def by_tool(self) -> bool:
        """Whether other people's load generator is the tester."""
        return self.tester is not None and self.tester.kind not in ("engine", TREX)

    @property
    def by_server(self) -> bool:
        """Whether the tester is somebody's TRex server."""
        return self.tester is not None and self.tester.kind == TREX

    @property
    def line_bps(self) -> int:
        """L1 rate of one direction."""
        return self.card.link_bps if self.wire == "card" else (self.link_bps or LINK_BPS)


#: Largest testbed file: a page of text.
TESTBED_BYTES_MAX = 1 << 20


def load(path: Path) -> Testbed:
    """Read a testbed file; raises TestbedError with one line for each mistake."""
    try:
        document = read_yaml(path, TESTBED_BYTES_MAX)
    except OSError as error:
        raise TestbedError([f"{path}: {(error.strerror or str(error)).lower()}"]) from error
    except DocumentError as error:
        raise TestbedError([f"{path}: {error}"]) from error
    if document is None:
        raise TestbedError([f"{path}: empty: expected keys and values, as `wire: card`"])
    testbed = parse(document, str(path))
    if testbed.tester is not None and testbed.tester.sockets is not None:
        sockets = tuple(_beside(path, name) for name in testbed.tester.sockets)
        tester = testbed.tester.model_copy(update={"sockets": sockets})
        testbed = testbed.model_copy(update={"tester": tester})
    for key in ("cli_file", "routes_file"):
        if (named := getattr(testbed.dut, key)) is not None:
            file = path.parent / named
            if not file.is_file():
                raise TestbedError([f"{path}: dut.{key}: no such file: {file}"])
            dut = testbed.dut.model_copy(update={key: file.resolve()})
            testbed = testbed.model_copy(update={"dut": dut})
    return testbed


def _beside(path: Path, socket: str) -> str:
    """A socket's path as seen from here, where the testbed's file says it from its own folder."""
    return socket if socket.startswith("@") else str((path.parent / socket).resolve())


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
    changes = {"wire": wire or _wire_of(dut, testbed), "link": link}
    document |= {key: value for key, value in changes.items() if value is not None}
    if card is not None:
        document["card"] = _card(card)
    return parse(document, "the command line")


def _wire_of(dut: str | None, testbed: Testbed) -> str | None:
    """The first wire that a kind works on, where the one of all others is not it."""
    wires = WIRES_OF.get(str(dut).partition(":")[0], INTERFACES)
    kind = _kind_and_mode(dut)["kind"] if dut is not None else "engine"
    started = kind in STARTED and kind not in ("engine", "external")
    return wires[0] if started and testbed.wire == "card" else None


def _card(words: str) -> str | dict[str, object]:
    try:
        return card_option(words)
    except ValueError as error:
        raise TestbedError([f"the command line: card: {error}"]) from error


def _kind_and_mode(word: str) -> dict[str, str]:
    kind, _, mode = word.partition(":")
    return {"kind": kind, "mode": mode} if kind in DUTS else {"kind": "engine", "mode": word}


def parse(document: object, source: str) -> Testbed:
    """Check what a testbed file holds; `source` is named in each line."""
    if not isinstance(document, dict):
        raise TestbedError([f"{source}: expected keys and values, as `wire: card`"])
    try:
        return Testbed.model_validate(document)
    except ValidationError as error:
        raise TestbedError([mistake(source, one) for one in _first_causes(error)]) from error


def _first_causes(error: ValidationError) -> list[ErrorDetails]:
    """Mistakes but for those of a list that is too short because its members are faulty."""
    places = [one["loc"] for one in error.errors()]
    return [
        one
        for one in error.errors()
        if not any(len(place) > len(one["loc"]) and place[: len(one["loc"])] == one["loc"]
                   for place in places)
    ]  # fmt: skip
