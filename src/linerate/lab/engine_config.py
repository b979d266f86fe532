"""Writes the engine's configuration (docs/engine-configuration.md) for a loadtest on a testbed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from linerate.base.errors import SetupError
from linerate.base.safe_load import DocumentError, read_text
from linerate.lab.links import End, Ends
from linerate.lab.links.card import CARD
from linerate.lab.users_networks import between_networks, in_vlans
from linerate.model.counting import generates
from linerate.model.suites import (
    DUT_MACS,
    DUT_PORTS,
    SECOND_DUT_PORTS,
    SECOND_TESTER_PORTS,
    TESTER_MACS,
    TESTER_PORTS,
    Loadtest,
    on_one_port,
    streams,
    tester_ports,
)
from linerate.model.testbed import Testbed, TesterSpec
from linerate.traffic.profile import has_signature

#: Keys of `dut` that are the forwarder's own.
OF_FORWARDER = {"handoff", "handoff_ring", "queue_batch", "burn", "lose", "delay"}
SECOND_CARD = "card1"
#: Tx queues of a port of the engine.
SENDERS_MAX = 16
#: Devices that have more queues only where it was arranged for: keys of a port in the testbed.
ONE_QUEUE = ("net_memif", "net_af_xdp", "net_af_packet", "net_pcap", "net_tap")
#: A MAC address in a template.
MAC_DIGITS = 12
#: Neighbours of the device under test, as in router.vpp.
NEIGHBORS = ("100.64.1.2", "100.64.2.2")
#: The same in IPv6, and the router's own: /126s that no profile has.
NEIGHBORS6 = ("fd64:1::2", "fd64:2::2")
OWN6 = ("fd64:1::1/126", "fd64:2::1/126")
#: Prefixes behind t0 and behind t1.
Networks = tuple[tuple[str, ...], tuple[str, ...]]
FIRST_PORTS = (*DUT_PORTS, *TESTER_PORTS)
SECOND_PORTS = (*SECOND_DUT_PORTS, *SECOND_TESTER_PORTS)


def bench_config(testbed: Testbed, ends: Ends, loadtest: Loadtest, name: str) -> dict[str, Any]:
    """The whole testbed in one engine, with streams at the full rate of the line."""
    config = _tester_config(testbed, ends, loadtest, name)
    config["ports"] = dut_ports(testbed, ends) + config["ports"]
    config["forwarder"] = _forwarder(testbed, loadtest.traffic.networks)
    return _with_senders(doubled(config, ends.second) if loadtest.loopbacks > 1 else config)


def doubled(config: dict[str, Any], more: Ends | None = None) -> dict[str, Any]:
    """The same once more beside it: two loopbacks over four ports.

    The second one is between the ends of `more`, or else on a second card.
    """
    again = {CARD: SECOND_CARD} | dict(zip(FIRST_PORTS, SECOND_PORTS, strict=True))
    made = {} if more is None else _ports_by_name(more)

    def renamed(value: object) -> object:
        return again.get(value, value) if isinstance(value, str) else value

    def second(part: dict[str, Any]) -> dict[str, Any]:
        return {key: renamed(value) for key, value in part.items()}

    def port_of(part: dict[str, Any]) -> dict[str, Any]:
        head, last = str(part["mac"]).rsplit(":", 1)
        port = second(part)
        return port | made.get(port["name"], {}) | {"mac": f"{head}:{int(last, 16) + 2:02x}"}

    tester, forwarder = config["tester"], config["forwarder"]
    extra_streams = [
        second(stream) | {"name": f"{stream['name']}-second"} for stream in tester["streams"]
    ]
    return config | {
        "cards": [*config.get("cards", []), *map(second, config.get("cards", []))],
        "ports": config["ports"] + [port_of(port) for port in config["ports"]],
        "forwarder": forwarder
        | {"ports": [*forwarder["ports"], *map(renamed, forwarder["ports"])]},
        "tester": tester
        | {
            "ports": [*tester["ports"], *map(renamed, tester["ports"])],
            "streams": tester["streams"] + extra_streams,
        },
    }


def _ports_by_name(more: Ends) -> dict[str, dict[str, Any]]:
    assert more.dut is not None
    return dict(zip(SECOND_PORTS, (end.port for end in (*more.dut, *more.tester)), strict=True))


def tester_config(testbed: Testbed, ends: Ends, loadtest: Loadtest, name: str) -> dict[str, Any]:
    """The tester alone, with streams at the full rate of the line."""
    return _with_senders(_tester_config(testbed, ends, loadtest, name))


def _tester_config(testbed: Testbed, ends: Ends, loadtest: Loadtest, name: str) -> dict[str, Any]:
    macs = dut_macs(testbed)
    if not generates(testbed):
        return _tester_alone(testbed, ends, {"streams": []}, name)
    connections = loadtest.traffic.connections(macs)
    if connections is not None:
        return _tester_alone(testbed, ends, {"connections": connections}, name)
    its_streams = _checked(testbed, streams(loadtest, macs, {"percent": 100}))
    if testbed.hairpin:
        its_streams = on_one_port(its_streams)
    return _tester_alone(testbed, ends, _placed(testbed, loadtest, its_streams), name)


def idle_config(testbed: Testbed, ends: Ends, name: str) -> dict[str, Any]:
    """The tester alone, sending nothing."""
    return _tester_alone(testbed, ends, {"streams": []}, name)


def profiles_config(testbed: Testbed, ends: Ends, name: str) -> dict[str, Any]:
    """A tester that takes profiles while it runs; with our forwarder, where both are one engine."""
    config = idle_config(testbed, ends, name)
    config["tester"]["profiles"] = True
    if ends.dut is not None and testbed.dut.built_in:
        config["ports"] = dut_ports(testbed, ends) + config["ports"]
        config["forwarder"] = _forwarder(testbed, ((), ()))
    return _with_senders(config)


def _checked(testbed: Testbed, its_streams: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The streams; what comes back of signed ones is looked at for damage, if that is asked."""
    if testbed.tester is None or not testbed.tester.check_payload:
        return its_streams
    return [stream | {"check_payload": has_signature(stream)} for stream in its_streams]


def ceiling_config(testbed: Testbed, ends: Ends, loadtest: Loadtest, name: str) -> dict[str, Any]:
    """The tester alone, as fast as it can."""
    its_streams = _checked(testbed, streams(loadtest, DUT_MACS, {"max": True}))
    config = _tester_alone(testbed, ends, _placed(testbed, loadtest, its_streams), name)
    return _with_senders(config)


def _placed(
    testbed: Testbed, loadtest: Loadtest, its_streams: list[dict[str, Any]]
) -> dict[str, Any]:
    """Streams between the user's networks, unless their addresses are a profile's own."""
    networks = testbed.tester.networks if testbed.tester is not None else None
    if networks is None or loadtest.traffic.has_own_addresses:
        return {"streams": its_streams}
    return {"streams": between_networks(its_streams, networks)}


def bare_config(testbed: Testbed, ends: Ends, loadtest: Loadtest, name: str) -> dict[str, Any]:
    """The tester alone at the rate that a device is offered, on links of the same rate."""
    config = tester_config(testbed, ends, loadtest, name)
    cards = [card | {"link_bps": testbed.line_bps} for card in config.get("cards", ())]
    return config | ({"cards": cards} if cards else {})


def dut_config(
    testbed: Testbed, ends: Ends, name: str, networks: Networks = ((), ())
) -> dict[str, Any]:
    """The forwarder alone."""
    config = _common(testbed, name)
    config["ports"] = dut_ports(testbed, ends)
    config["forwarder"] = _forwarder(testbed, networks)
    return config


def cards_of(config: dict[str, Any]) -> tuple[str, ...]:
    """Names of a configuration's virtual cards."""
    return tuple(str(card["name"]) for card in config.get("cards", ()))


def with_macs(config: dict[str, Any], macs: Mapping[str, str]) -> dict[str, Any]:
    """The same with other MAC addresses in place of those that are keys of `macs`.

    In ports, streams, connections and neighbours, written with colons or as the hexadecimal
    digits that a frame's template begins with.
    """
    if not macs:
        return config
    actual = {old.lower(): new for old, new in macs.items()}
    colons = re.compile("|".join(map(re.escape, actual)), re.IGNORECASE)
    digits = {old.replace(":", ""): new.replace(":", "") for old, new in actual.items()}

    def template(text: str) -> str:
        ends = (text[:MAC_DIGITS], text[MAC_DIGITS : 2 * MAC_DIGITS])
        return "".join(digits.get(end.lower(), end) for end in ends) + text[2 * MAC_DIGITS :]

    def renamed(value: Any, key: str = "") -> Any:  # noqa: ANN401 (of JSON)
        if isinstance(value, dict):
            return {name: renamed(part, name) for name, part in value.items()}
        if isinstance(value, list):
            return [renamed(part, key) for part in value]
        if not isinstance(value, str):
            return value
        if key == "template":
            return template(value)
        return colons.sub(lambda found: actual[found.group().lower()], value)

    made: dict[str, Any] = renamed(config)
    return made


def refused_macs(config: dict[str, Any], ports: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Addresses that ports do not have as configured, with those that they report instead.

    `ports` are rows of /linerate/ports.
    """
    reported = {str(row["name"]): str(row["mac"]).lower() for row in ports}
    asked = {str(port["name"]): str(port["mac"]).lower() for port in config["ports"]}
    return {mac: reported[name] for name, mac in asked.items() if reported.get(name, mac) != mac}


def devices_of(config: dict[str, Any]) -> dict[str, str]:
    """By port of a configuration: its device, where it has one."""
    return {port["name"]: str(port["device"]) for port in config["ports"] if "device" in port}


def dut_macs(testbed: Testbed) -> tuple[str, str]:
    """Addresses that frames for the device under test are sent to."""
    if testbed.dut.macs is not None:
        # One way alone is offered to a hairpin, to the first.
        return (testbed.dut.macs[0], testbed.dut.macs[-1])
    if testbed.dut.devices is None:
        return DUT_MACS
    first, second = testbed.dut.devices
    return (first.mac or DUT_MACS[0], second.mac or DUT_MACS[1])


def dut_ports(testbed: Testbed, ends: Ends) -> list[dict[str, Any]]:
    """Ports of the engine's forwarder."""
    return [] if ends.dut is None else _ports(DUT_PORTS, ends.dut, dut_macs(testbed))


def _tester_alone(
    testbed: Testbed, ends: Ends, traffic: dict[str, Any], name: str
) -> dict[str, Any]:
    config = _common(testbed, name)
    if ends.cards:
        config["cards"] = list(ends.cards)
    names = tester_ports(testbed)
    config["ports"] = _ports(names, ends.tester, TESTER_MACS[: len(names)])
    config["tester"] = _tester(testbed, traffic)
    return config


def _with_senders(config: dict[str, Any]) -> dict[str, Any]:
    """The same with a tx queue of the tester's ports for each worker that is to send on one."""
    tester = config["tester"]
    names = tester["ports"]
    senders = min(-(-tester.get("workers", 1) // len(names)), SENDERS_MAX)
    if senders == 1 or not (tester.get("streams") or tester.get("profiles")):
        return config
    return config | {
        "ports": [
            {"tx_queues": senders} | port
            if port["name"] in names and _takes_several(port)
            else port
            for port in config["ports"]
        ]
    }


def _takes_several(port: Mapping[str, Any]) -> bool:
    """Whether its device has several tx queues by itself; one worker sends to a virtual card."""
    return port["driver"] != "wire" and not str(port.get("device", "")).startswith(ONE_QUEUE)


def _common(testbed: Testbed, name: str) -> dict[str, Any]:
    config: dict[str, Any] = {"name": name, "memory": testbed.memory.model_dump()}
    if testbed.cpus is not None:
        config["cpus"] = list(testbed.cpus)
    return config


def _ports(names: Sequence[str], ends: Sequence[End], macs: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"name": name, "mac": mac, **end.port}
        for name, mac, end in zip(names, macs, ends, strict=True)
    ]


def _tester(testbed: Testbed, traffic: dict[str, Any]) -> dict[str, Any]:
    spec = testbed.tester
    ports = tester_ports(testbed)
    tester: dict[str, Any] = {"ports": list(ports)}
    if spec is None:
        return tester | traffic
    if any(spec.own_addresses):
        tester["addresses"] = _addresses(spec, ports)
    if spec.workers is not None and spec.workers > 1:
        tester["workers"] = spec.workers
    if spec.burn is not None:
        tester["burn"] = spec.burn.model_dump()
    if spec.vlans is not None and "streams" in traffic:
        return tester | {"streams": in_vlans(traffic["streams"], spec.vlans)}
    return tester | traffic


def _addresses(tester: TesterSpec, ports: Sequence[str]) -> list[dict[str, Any]]:
    """The tester's own, in the engine's words: those of both ways are a hairpin's one port's."""
    vlans = tester.vlans or ()
    return [
        {"port": ports[min(way, len(ports) - 1)], "address": address}
        | ({"vlan": vlans[min(way, len(vlans) - 1)]} if vlans else {})
        for way, addresses in enumerate(tester.own_addresses)
        for address in addresses
    ]


def _forwarder(testbed: Testbed, networks: Networks) -> dict[str, Any]:
    forwarder: dict[str, Any] = {
        "mode": testbed.dut.mode,
        "ports": list(DUT_PORTS),
        "workers": testbed.dut.workers,
        "rx_mode": testbed.dut.rx_mode,
        **testbed.dut.model_dump(include=OF_FORWARDER, exclude_none=True),
    }
    if testbed.dut.threading != "run-to-completion":
        forwarder["threading"] = testbed.dut.threading
    if testbed.dut.mode == "router":
        forwarder["router"] = {"cli": router_cli(testbed.dut.cli_file, networks)}
        if testbed.dut.routes_file is not None:
            forwarder["router"]["routes_file"] = str(testbed.dut.routes_file.resolve())
    if testbed.dut.mode == "flowtable" and testbed.dut.flowtable is not None:
        forwarder["flowtable"] = testbed.dut.flowtable.model_dump(exclude_none=True)
    return forwarder


def _router_file(path: Path) -> str:
    try:
        return read_text(path)
    except OSError as error:
        raise SetupError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except DocumentError as error:
        raise SetupError(f"{path}: {error}") from error


def router_cli(chosen: Path | None, networks: Networks = ((), ())) -> str:
    """Text of the router's configuration in VPP's CLI: the file given, or our own.

    Ours has routes to the networks too; whoever gives a file says in it what is routed.
    """
    if chosen is not None:
        return _router_file(chosen)
    text = (files("linerate.lab") / "router.vpp").read_text(encoding="utf-8")
    routes = [
        f"ip route add {prefix} via {(NEIGHBORS6 if ':' in prefix else NEIGHBORS)[here]}"
        for here, prefixes in enumerate(networks)
        for prefix in prefixes
    ]
    ip6 = ip6_links() if any(":" in route for route in routes) else []
    return "\n".join([text.rstrip("\n"), *ip6, *routes, ""])


def ip6_links() -> list[str]:
    """Lines that router.vpp has for IPv4 alone."""
    return [
        line
        for here, port in enumerate(DUT_PORTS)
        for line in (
            f"set int ip address {port} {OWN6[here]}",
            f"ip neighbor {port} {NEIGHBORS6[here]} {TESTER_MACS[here]}",
        )
    ]
