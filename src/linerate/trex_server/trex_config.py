"""TRex's own configuration file (`trex_cfg.yaml`), as a testbed."""

import re
from pathlib import Path
from typing import Any

from linerate.base.errors import TestbedError
from linerate.base.safe_load import DocumentError, read_yaml
from linerate.model import testbed as testbeds
from linerate.model.testbed import Testbed

FILE_BYTES_MAX = 1 << 20
PORTS_MAX = 2
#: A PCI address that leaves out its domain.
_SHORT_PCI = re.compile(r"[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]")
_HALF = re.compile(r"(.*)/[01]")


def load(path: Path) -> Testbed:
    """A testbed of TRex's file, or one of ours; raises TestbedError."""
    try:
        document = read_yaml(path, FILE_BYTES_MAX)
    except OSError as error:
        raise TestbedError([f"{path}: {(error.strerror or str(error)).lower()}"]) from error
    except DocumentError as error:
        raise TestbedError([f"{path}: {error}"]) from error
    if not isinstance(document, list):
        return testbeds.load(path)
    first = document[0] if document else None
    if not isinstance(first, dict) or not isinstance(first.get("interfaces"), list):
        raise TestbedError([f"{path}: expected a list of one entry with interfaces"])
    return testbeds.parse(_document(path, first), str(path))


def _document(path: Path, entry: dict[str, Any]) -> dict[str, Any]:
    interfaces = [str(one) for one in entry["interfaces"] if one != "dummy"]
    limit = entry.get("port_limit", len(interfaces))
    interfaces = interfaces[: limit if isinstance(limit, int) else None]
    if not 1 <= len(interfaces) <= PORTS_MAX:
        raise TestbedError(
            [f"{path}: interfaces: {len(interfaces)} of them; expected 1 or {PORTS_MAX}"]
        )
    infos = entry.get("port_info")
    infos = infos if isinstance(infos, list) else []
    ports: list[dict[str, Any]] = [{"device": _device(one)} for one in interfaces]
    macs = []
    for port, info in zip(ports, infos, strict=False):
        if isinstance(info, dict) and "src_mac" in info:
            port["mac"] = _mac(path, "src_mac", info["src_mac"])
        if isinstance(info, dict) and "dest_mac" in info:
            macs.append(_mac(path, "dest_mac", info["dest_mac"]))
    device: dict[str, Any] = {"kind": "external"}
    if len(macs) == len(ports):
        device["macs"] = macs
    return {"wire": "ethdev", "tester": {"ports": ports}, "dut": device}


def _device(text: str) -> str:
    """TRex writes the ports of one device as ADDRESS/0 and ADDRESS/1."""
    if halves := _HALF.fullmatch(text):
        text = halves[1]
    return f"0000:{text}" if _SHORT_PCI.fullmatch(text) else text


def _mac(path: Path, key: str, given: object) -> str:
    """Written as six numbers, or with colons."""
    if isinstance(given, str):
        return given
    numbers = given if isinstance(given, list) else []
    if len(numbers) == 6 and all(isinstance(one, int) and 0 <= one <= 255 for one in numbers):
        return ":".join(f"{one:02x}" for one in numbers)
    raise TestbedError([f"{path}: port_info: {key}: expected a MAC address"])
