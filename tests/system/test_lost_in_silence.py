"""Devices that lose all, half, or one flow: no verdict claims that all packets were received.

On each wire, and of devices that count what they drop and of such that do not.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.command import result_of
from tests.system import labs
from tests.system.conftest import StartEngine
from tests.system.foreign import LINK, MACS, device, two_links

#: A trial that the machine disturbed has no verdict: it is tried again.
TRIES = 6

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or any(shutil.which(tool) is None for tool in ("ip", "dpdk-testpmd")),
    reason="needs root, ip, dpdk-testpmd",
)


def bench(folder: Path, document: dict[str, Any]) -> tuple[int, dict[str, Any], str]:
    """Measure U2 until a trial is valid: exit code, the test's row, the output."""
    path = folder / "bed.yaml"
    path.write_text(json.dumps(document))
    words = ("bench", str(path), "--only", "U2", "--duration", "300ms", "--json")
    for _ in range(TRIES):
        with labs.lab(*words, "--runs", str(folder / "runs")) as lab:
            message, wrong = lab.communicate(timeout=300)
        (row,) = result_of(message)["trials"]
        if row["valid"]:
            return lab.returncode, row, wrong
    pytest.fail(f"no valid trial: {wrong} {row}")


def check(done: tuple[int, dict[str, Any], str], loses: str, limit: str) -> str:
    """Check what a run came to; returns the verdict's sentence."""
    code, row, wrong = done
    assert row["verdict"]["limit"] == limit, row["verdict"]
    # Configured losses may occur at the line rate.
    allowed = {"line"} if limit == "configuration" and loses in ("some", "one-flow") else set()
    assert not ({"line", "tester", "none"} - allowed) & set(row["verdict"]["also"])
    if loses == "all":
        assert code == 1
        assert "U2: received nothing of " in wrong
    else:
        assert code == 0, wrong
        assert 0 < row["ledger"]["received"] < row["ledger"]["sent"]
    return str(row["verdict"]["sentence"])


ROUTER = (
    "set int state e0 up", "set int state e1 up",
    "set int ip address e0 100.64.1.1/30", "set int ip address e1 100.64.2.1/30",
    "ip neighbor e0 100.64.1.2 50:7c:6f:20:30:70",
    "ip neighbor e1 100.64.2.2 50:7c:6f:20:30:71",
)  # fmt: skip
ROUTES = {
    "all": (),
    "half": ("ip route add 48.0.0.0/25 via 100.64.2.2",),
    "one-flow": tuple(
        f"ip route add 48.0.0.{first}/{32 - bits} via 100.64.2.2"
        for first, bits in ((2, 1), (4, 2), (8, 3), (16, 4), (32, 5), (64, 6), (128, 7))
    ),
}


@pytest.mark.parametrize("loses", ROUTES)
def test_a_router_without_a_route_says_so(tmp_path: Path, loses: str) -> None:
    (tmp_path / "router.vpp").write_text("\n".join([*ROUTER, *ROUTES[loses], ""]))
    dut = {"mode": "router", "cli_file": "router.vpp"}
    done = bench(tmp_path, {"card": {"link": "100M"}, "dut": dut})
    assert "no route" in check(done, loses, "configuration")


@pytest.mark.parametrize(("loses", "probability"), [("all", 1.0), ("half", 0.5), ("some", 0.02)])
@pytest.mark.parametrize("wire", ["card", "memif"])
def test_what_our_device_is_asked_to_lose_is_configured(
    tmp_path: Path, wire: str, loses: str, probability: float
) -> None:
    dut = {"mode": "io", "lose": {"probability": probability}}
    rate = {"card": {"link": "100M"}} if wire == "card" else {"link": "100M"}
    done = bench(tmp_path, {"wire": wire, "dut": dut} | rate)
    assert "lost at random" in check(done, loses, "configuration")


@contextmanager
def memif_peer(start_engine: StartEngine, loses: str) -> Iterator[tuple[str, str]]:
    """The sockets of an engine that the lab knows nothing of."""
    with tempfile.TemporaryDirectory(prefix="lrt-") as folder:
        sockets = (f"{folder}/0.sock", f"{folder}/1.sock")
        start_engine(
            {
                "memory": {"megabytes": 256},
                "ports": [
                    {
                        "name": f"e{i}",
                        "driver": "ethdev",
                        "device": f"net_memif{i}",
                        "devargs": f"role=server,socket={name},socket-abstract=no",
                        "mac": MACS[i],
                    }
                    for i, name in enumerate(sockets)
                ],
                "forwarder": {"ports": ["e0", "e1"], **SILENT[loses]},
            }
        )
        yield sockets


#: Silent losses of an engine.
SILENT: dict[str, dict[str, Any]] = {
    "all": {"mode": "rxonly"},
    "half": {"mode": "io", "lose": {"probability": 0.5}},
    "one-flow": {
        "mode": "router",
        "router": {"cli": "\n".join([*ROUTER, *ROUTES["one-flow"], ""])},
    },
}


@needs_root
@pytest.mark.parametrize("loses", SILENT)
def test_a_memif_peer_that_loses_in_silence(
    tmp_path: Path, start_engine: StartEngine, loses: str
) -> None:
    with memif_peer(start_engine, loses) as sockets:
        bed = {
            "wire": "memif",
            "link": LINK,
            "tester": {"sockets": sockets},
            "dut": {"kind": "external", "macs": MACS},
        }
        message = check(bench(tmp_path, bed), loses, "unexplained")
    assert "between sent by the tester" in message


def interfaces_of(wire: str, interfaces: tuple[str, str]) -> dict[str, Any]:
    if wire in ("veth", "af_xdp"):
        return {"interfaces": interfaces}
    devargs = [f"iface={name}" for name in interfaces]
    return {
        "ports": [
            {"device": f"net_af_packet{i}", "devargs": text} for i, text in enumerate(devargs)
        ]
    }


@needs_root
@pytest.mark.parametrize("loses", ["all", "half", "one-flow"])
@pytest.mark.parametrize("wire", ["veth", "af_xdp", "ethdev"])
def test_a_foreign_device_that_loses_in_silence(tmp_path: Path, wire: str, loses: str) -> None:
    with two_links() as links, device(links, "forwarder.py", loses):
        bed = {
            "wire": wire,
            "link": LINK,
            "tester": interfaces_of(wire, links.here),
            "dut": {"kind": "external", "macs": MACS},
        }
        message = check(bench(tmp_path, bed), loses, "unexplained")
    assert "between sent by the tester" in message
