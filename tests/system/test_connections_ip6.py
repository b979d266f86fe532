"""Stateful profiles over IPv6, with tags of ports and several pools, as tshark sees them."""

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import yaml
from tests.system.configs import DUT_MACS
from tests.system.conftest import StartEngine
from tests.system.conversations import CLIENT, SERVER, write_all
from tests.system.test_connections import config, needs_tshark, tshark
from tests.system.trials import run_trial

from linerate.lab.engine_config import router_cli
from linerate.model.suites import Loadtest
from linerate.traffic import find, parse_rate
from linerate.traffic.connections import connections_loadtest

SECONDS = 1.0
CPS = 100
LINK = 10_000_000_000
TAGS = {CLIENT: "100", SERVER: "200"}
#: By template: the first words of its addresses.
POOLS = {
    "http-small": ("2001:db8:1::1000:", "2001:db8:2::3000:"),
    "dns-short": ("2001:db8:1::1100:", "2001:db8:2::3200:"),
}
FIELDS = (
    "_ws.malformed", "tcp.analysis.flags", "tcp.checksum.status", "udp.checksum.status",
    "vlan.id", "eth.dst", "ipv6.src", "ipv6.dst", "tcp.srcport", "tcp.dstport", "udp.srcport",
    "udp.dstport", "tcp.len", "udp.length", "tcp.flags",
)  # fmt: skip


def loadtest(folder: Path, **top: object) -> Loadtest:
    """Two templates; the second has pools of its own."""
    pool = {"name": "more", "distribution": "seq"}
    document = top | {
        "ipv6": {"src_msb": "2001:db8:1::", "dst_msb": "2001:db8:2::"},
        "generator": {
            "distribution": "seq",
            "clients_start": "16.0.0.1",
            "clients_end": "16.0.0.9",
            "servers_start": "48.0.0.1",
            "servers_end": "48.0.0.5",
            "generator_clients": [pool | {"ip_start": "17.0.0.1", "ip_end": "17.0.0.3"}],
            "generator_servers": [pool | {"ip_start": "50.0.0.1", "ip_end": "50.0.0.2"}],
        },
        "cap_info": [
            {"name": f"{name}.pcap", "cps": CPS, "ipg": 500, "rtt": 3000, **pools}
            for name, pools in (
                ("http-small", {}),
                ("dns-short", {"client_pool": "more", "server_pool": "more"}),
            )
        ],
    }
    (folder / "six.yaml").write_text(yaml.safe_dump([document]))
    return connections_loadtest(find(str(folder / "six.yaml")), parse_rate("1x"), None, LINK)


def merged(folder: Path) -> list[list[str]]:
    """Rows of both files in the order of time; each file is one port's, and so one side's."""
    rows = []
    for name in ("out0.pcap", "out1.pcap"):
        fields = [part for field in ("frame.time_epoch", *FIELDS) for part in ("-e", field)]
        lines = tshark(folder / name, "-T", "fields", "-E", "separator=|", *fields)
        rows += [[name, *line.split("|")] for line in lines]
    return sorted(rows, key=lambda row: row[1])


@needs_tshark
def test_conversations_over_ip6_with_tags(start_engine: StartEngine, tmp_path: Path) -> None:
    made = {name: text for name, text in write_all(tmp_path).items() if name in POOLS}
    asked = loadtest(tmp_path, port_info=[{"vlan": 100}, {"vlan": 200}])
    connections = asked.traffic.connections(DUT_MACS)
    assert connections is not None
    wiring: dict[str, Any] = config(tmp_path, connections)
    # Frames pass unseen: each side's into its file.
    pairs = {"pairs": [["e0", "e2"], ["e1", "e3"]]}
    ports = wiring["forwarder"]["ports"]
    wiring["forwarder"] = {"mode": "xconnect", "ports": ports, "xconnect": pairs}
    engine = start_engine(wiring)
    outcome = run_trial(engine, SECONDS)
    engine.stop()
    each = round(CPS * SECONDS)
    assert outcome.of_kind("sent") == each * sum(map(len, made.values()))
    assert outcome.losses() == {}

    seen: dict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
    for row in merged(tmp_path):
        name, _time, malformed, analysis, tcp, udp, tag, mac, src, dst, *rest = row
        tsport, tdport, usport, udport, tcp_bytes, udp_bytes, flags = rest
        side = CLIENT if name == "out0.pcap" else SERVER
        assert (malformed, analysis, tcp + udp) == ("", "", "1")
        assert (tag, mac) == (TAGS[side], DUT_MACS[side == SERVER])
        ends = (src, tsport or usport), (dst, tdport or udport)
        client, server = ends if side == CLIENT else ends[::-1]
        template = "dns-short" if udp else "http-small"
        for address, first in zip((client[0], server[0]), POOLS[template], strict=True):
            assert address.startswith(first)
        seen[template, *client, *server].append((side, tcp_bytes + flags if tcp else udp_bytes))
    assert Counter(key[0] for key in seen) == dict.fromkeys(POOLS, each)
    # All of a template say the same, in its order.
    for template, text in made.items():
        reported = {tuple(packets) for key, packets in seen.items() if key[0] == template}
        assert len(reported) == 1
        assert [side for side, _what in reported.pop()] == [side for side, _packet in text]
    clients = {key[1] for key in seen}
    assert len(clients) == 9 + 3


def test_the_router_takes_them_back_to_the_tester(
    start_engine: StartEngine, tmp_path: Path
) -> None:
    write_all(tmp_path)
    asked = loadtest(tmp_path)
    connections = asked.traffic.connections(DUT_MACS)
    assert connections is not None
    wiring: dict[str, Any] = config(tmp_path, connections)
    wiring["ports"] = wiring["ports"][:4]
    wiring["forwarder"] = {
        "mode": "router",
        "ports": ["e0", "e1"],
        "router": {"cli": router_cli(None, asked.traffic.networks)},
    }
    engine = start_engine(wiring)
    outcome = run_trial(engine, SECONDS)
    engine.stop()
    assert outcome.of_kind("sent") == outcome.of_kind("received") > 0
    assert outcome.of_kind("other") == 0
