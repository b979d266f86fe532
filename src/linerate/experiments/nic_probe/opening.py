"""The port that is probed: a virtual card's, a DPDK device's, or a running engine's."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linerate.base import ownership, pci
from linerate.base.safe_load import json_of
from linerate.engine import engine_process
from linerate.engine.engine_process import Engine, EngineError, Files
from linerate.engine.telemetry import Telemetry
from linerate.experiments.nic_probe.rules import EngineRules

#: Flow tables that the engine knows by name.
CARDS = ("x710", "x710-patched")
CARD = "x710-patched"
PORT = "p0"
MEGABYTES = 160
#: Operations of the asynchronous API that wait at a time, where a device has it.
FLOW_QUEUE = 1024


class TargetError(ValueError):
    """The named target can't be probed, in one line."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A port on which rules can be tried."""

    rules: EngineRules
    text: str
    #: Somebody else uses it: rules of others stand there, and packets come.
    live: bool


@contextmanager
def opened(target: str, engine_name: str | None, queues: int | None) -> Iterator[Opened]:
    """Open what PORT names; raises TargetError, EngineError."""
    config = config_of(target, queues)
    if config is None:
        with _connected(target, engine_name) as telemetry:
            yield Opened(EngineRules(telemetry, target), f"{target} of a running engine", live=True)
        return
    with ownership.temporary_folder("probe") as folder:
        files = Files(Path(folder) / "config.json", Path(folder) / "engine.log")
        with Engine(config, files) as started, started.connect() as telemetry:
            yield Opened(EngineRules(telemetry, PORT), target, live=False)


def config_of(target: str, queues: int | None) -> dict[str, Any] | None:
    """Configure an engine that opens the port and nothing else; None: an engine has it open."""
    if target.startswith(("card:", "{")) or target == "card":
        card = {"name": "card0", "rx_queues": queues or 4, "flow_table": _flow_table(target)}
        port = {"driver": "card", "card": "card0", "index": 0}
        return _alone(port, rx_mode="interrupt") | {"cards": [card]}
    device, _comma, devargs = target.partition(",")
    if pci.is_address(device) or device.startswith(("net_", "eth_")):
        port = {"driver": "ethdev", "device": pci.normalised(device), "rx_queues": queues or 1}
        port["flow_queue"] = FLOW_QUEUE
        return _alone(port | ({"devargs": devargs} if devargs else {}))
    return None


def _alone(port: dict[str, Any], **forwarder: str) -> dict[str, Any]:
    return {
        "name": f"nic-probe-{os.getpid()}",
        "memory": {"megabytes": MEGABYTES},
        "ports": [{"name": PORT, **port}],
        "forwarder": {"mode": "rxonly", "ports": [PORT], **forwarder},
    }


def _flow_table(target: str) -> dict[str, Any]:
    """Read `card`, `card:x710`, `card:{"capacity": 512}` or the JSON alone."""
    words = target.removeprefix("card").removeprefix(":")
    if not words:
        return {"preset": CARD}
    if words in CARDS:
        return {"preset": words}
    if words.startswith("{"):
        try:
            given = json_of(words)
        except ValueError as error:
            raise TargetError(f"the card's flow table: expected JSON: {error}") from error
        return dict(given)
    raise TargetError(f"card: expected {', '.join(CARDS)} or JSON, not '{words}'")


@contextmanager
def _connected(port: str, name: str | None) -> Iterator[Telemetry]:
    """Connect to the engine that has a port of this name."""
    engines = engine_process.live_engines()
    if name is not None and name not in engines:
        raise EngineError(f"no engine is called '{name}'")
    chosen = {name: engines[name]} if name is not None else engines
    having = {each: path for each, path in chosen.items() if port in _ports(path)}
    if not having:
        raise TargetError(
            f"'{port}': expected card, card:PRESET, a PCI address, a device as net_tap0, or a "
            "port of a running engine"
        )
    if len(having) > 1:
        raise EngineError(f"several engines have a port {port}: say --engine {' or '.join(having)}")
    with Telemetry(next(iter(having.values()))) as telemetry:
        yield telemetry


def _ports(path: Path) -> list[str]:
    with Telemetry(path) as telemetry:
        return [str(row["name"]) for row in telemetry.table("/linerate/ports")]
