"""Writes the engine's configuration (docs/engine.md) for a loadtest on a testbed."""

from importlib.resources import files
from pathlib import Path
from typing import Any

from linerate.suite import (
    DUT_MACS,
    DUT_PORTS,
    TESTER_MACS,
    TESTER_PORTS,
    Loadtest,
    streams,
)
from linerate.testbed import Port, Testbed

CARD = "card0"


def bench_config(testbed: Testbed, loadtest: Loadtest, name: str) -> dict[str, Any]:
    """The whole testbed, with streams at the full rate of the line."""
    rate = {"percent": 100}
    config = _common(testbed, name)
    if testbed.wire == "card":
        config["cards"] = [_card(testbed)]
        config["ports"] = _card_ports(testbed)
    else:
        config["ports"] = _ethdev_ports(testbed)
    if testbed.dut.mode != "external":
        config["forwarder"] = _forwarder(testbed)
    config["tester"] = {
        "ports": list(TESTER_PORTS),
        "streams": streams(loadtest, dut_macs(testbed), rate),
    }
    return config


def ceiling_config(testbed: Testbed, loadtest: Loadtest, name: str) -> dict[str, Any]:
    """The tester alone, as fast as it can, over a card that is a bare wire."""
    config = _common(testbed, name)
    config["cards"] = [
        {
            "name": CARD,
            "link_bps": 0,
            "max_frame_bytes": testbed.card.max_frame_bytes,
            "host": "shunt",
        }
    ]
    config["ports"] = _wire_ports()
    config["tester"] = {
        "ports": list(TESTER_PORTS),
        "streams": streams(loadtest, DUT_MACS, {"max": True}),
    }
    return config


def dut_macs(testbed: Testbed) -> tuple[str, str]:
    """Addresses that frames for the device under test are sent to."""
    if testbed.dut.macs is not None:
        return testbed.dut.macs
    if testbed.dut.ports is None:
        return DUT_MACS
    first, second = testbed.dut.ports
    return (first.mac or DUT_MACS[0], second.mac or DUT_MACS[1])


def _common(testbed: Testbed, name: str) -> dict[str, Any]:
    config: dict[str, Any] = {"name": name, "memory": testbed.memory.model_dump()}
    if testbed.cpus is not None:
        config["cpus"] = list(testbed.cpus)
    return config


def _card(testbed: Testbed) -> dict[str, Any]:
    limits = testbed.card.model_dump(exclude_none=True)
    return {"name": CARD, "rx_queues": testbed.dut.workers, **limits, "host": "ports"}


def _wire_ports() -> list[dict[str, Any]]:
    return [
        {"name": name, "driver": "wire", "card": CARD, "index": index, "mac": TESTER_MACS[index]}
        for index, name in enumerate(TESTER_PORTS)
    ]


def _card_ports(testbed: Testbed) -> list[dict[str, Any]]:
    macs = dut_macs(testbed)
    ports = [
        {"name": name, "driver": "card", "card": CARD, "index": index, "mac": macs[index]}
        for index, name in enumerate(DUT_PORTS)
    ]
    return ports + _wire_ports()


def _ethdev_ports(testbed: Testbed) -> list[dict[str, Any]]:
    ports = []
    if testbed.dut.mode != "external" and testbed.dut.ports is not None:
        for name, port, mac in zip(DUT_PORTS, testbed.dut.ports, dut_macs(testbed), strict=True):
            ports.append(_ethdev(testbed, name, port, mac))
    if testbed.tester is not None:
        for name, port, mac in zip(TESTER_PORTS, testbed.tester.ports, TESTER_MACS, strict=True):
            ports.append(_ethdev(testbed, name, port, port.mac or mac))
    return ports


def _ethdev(testbed: Testbed, name: str, port: Port, mac: str) -> dict[str, Any]:
    written: dict[str, Any] = {
        "name": name,
        "driver": "ethdev",
        "device": port.device,
        "mac": mac,
        "link_bps": testbed.line_bps,
    }
    if port.devargs:
        written["devargs"] = port.devargs
    return written


def _forwarder(testbed: Testbed) -> dict[str, Any]:
    forwarder: dict[str, Any] = {
        "mode": testbed.dut.mode,
        "ports": list(DUT_PORTS),
        "workers": testbed.dut.workers,
        "rx_mode": testbed.dut.rx_mode,
    }
    if testbed.dut.mode == "router":
        forwarder["router"] = {"cli": router_cli(testbed.dut.cli_file)}
    return forwarder


def router_cli(chosen: Path | None) -> str:
    """Text of the router's configuration in VPP's CLI: the file given, or our own."""
    if chosen is not None:
        return chosen.read_text(encoding="utf-8")
    return (files("linerate") / "router.vpp").read_text(encoding="utf-8")
