"""TRex stateless profiles in YAML: each form of a stream, and what is refused of it by name."""

import base64
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy.utils import wrpcap

from linerate.traffic import TrafficError, find
from linerate.traffic.profile import Stream
from linerate.traffic.trex.profile_process import run_profile

MACS = {"src": "02:00:00:00:00:0a", "dst": "02:00:00:00:00:0b"}
MODE = "{type: continuous, pps: 5}"


def packet(length: int) -> Packet:
    return (
        Ether(**MACS)
        / IP(src="10.0.0.1", dst="10.0.1.1")
        / UDP(sport=1025, dport=1026)
        / Raw(b"x" * length)
    )


BINARY = base64.b64encode(bytes(packet(30))).decode()


def entry(
    name: str,
    stream: str = "",
    packet: str = f"{{binary: {BINARY}}}",
    mode: str = MODE,
    top: str = "",
) -> str:
    return f"- name: {name}\n{top}  stream:\n    packet: {packet}\n    mode: {mode}\n{stream}"


def streams(folder: Path, *entries: str) -> dict[str, Stream]:
    path = folder / "listed.yaml"
    path.write_text("".join(entries))
    return {stream["name"]: stream for stream in find(str(path)).streams}


@pytest.mark.parametrize("key", ["pcap", "binary"])
@pytest.mark.parametrize("folder", [".", "below", ".."])
def test_a_packet_of_a_capture(tmp_path: Path, key: str, folder: str) -> None:
    """Its first one; it is looked for beside the profile, whatever the current folder."""
    profiles = tmp_path / "profiles"
    (profiles / "below").mkdir(parents=True)
    wrpcap(str(profiles / folder / "some.pcap"), [packet(50), packet(70)])
    named = f"{folder}/some.pcap".removeprefix("./").removeprefix("../")
    (made,) = streams(profiles, entry("one", packet=f"{{{key}: {named}}}")).values()
    assert made["template"] == "00" * 12 + bytes(packet(50))[12:].hex()


def test_a_capture_beside_the_profile_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    wrpcap(str(tmp_path / "some.pcap"), [packet(50)])
    wrpcap(str(elsewhere / "some.pcap"), [packet(70)])
    monkeypatch.chdir(elsewhere)
    (made,) = streams(tmp_path, entry("one", packet="{pcap: some.pcap}")).values()
    assert made["template"].endswith(bytes(packet(50))[12:].hex())


@pytest.mark.parametrize(
    ("top", "stream"),
    [
        ("  next: B\n", ""),
        ("  next_stream_id: B\n", ""),
        ("", "    next: B\n"),
        ("", "    next_stream: B\n"),
        ("", "    next_stream_id: B\n"),
        ("  next: B\n", "    next_stream_id: -1\n"),
        ("  next: B\n", "    next_stream: B\n"),
    ],
)
def test_the_next_stream(tmp_path: Path, top: str, stream: str) -> None:
    burst = "{type: single_burst, pps: 1000, total_pkts: 4}"
    made = streams(
        tmp_path,
        entry("A", stream, mode=burst, top=top),
        entry(
            "B", "    self_start: false\n    next: NULL\n", mode=burst, top="  next_stream_id: -1\n"
        ),
    )
    assert sorted(made) == ["A", "B"]
    # Behind four frames, at intervals of a millisecond.
    assert made["B"]["start_us"] >= 3000


#: As the graphical interface writes it.
DRAWN = f"""- name: drawn
  stream_id: 3
  stream:
    action_count: 0
    advanced_mode: false
    enabled: true
    flags: 0
    flow_stats: {{enabled: true, rule_type: latency, stream_id: 12}}
    isg: 20.0
    mode:
      type: continuous
      rate: {{type: pps, value: 4000.0}}
      total_pkts: 1
      pkts_per_burst: 1
      ibg: 0.0
      count: 1
    packet: {{binary: {BINARY}, meta: e30=, model: ""}}
    self_start: true
    vm: {{split_by_var: "", instructions: [], cache_size: 5000}}
"""


def test_what_the_graphical_interface_writes(tmp_path: Path) -> None:
    (made,) = streams(tmp_path, DRAWN).values()
    assert (made["rate"], made["start_us"], made["latency"]) == ({"pps": 4000.0}, 20.0, True)
    assert "bursts" not in made
    multi = DRAWN.replace("continuous", "multi_burst").replace("count: 1\n", "count: 6\n")
    (made,) = streams(tmp_path, multi).values()
    assert made["bursts"] == {"frames": 1, "count": 6, "gap_us": 0.0}


WALK = "{type: flow_var, name: v, size: 2, op: inc, min_value: 1, max_value: 9}"
PUT = "{type: write_flow_var, name: v, pkt_offset: 34}"


@pytest.mark.parametrize("program", ["[{}, {}]", "{{instructions: [{}, {}]}}"])
def test_both_forms_of_a_program(tmp_path: Path, program: str) -> None:
    text = entry("one", f"    vm: {program.format(WALK, PUT)}\n")
    (made,) = streams(tmp_path, text).values()
    assert made["program"]["steps"] == [{"write": {"variable": "v", "offset": 34}}]


@pytest.mark.parametrize("key", ["flow_stats", "rx_stats"])
def test_words_of_a_stream(tmp_path: Path, key: str) -> None:
    path = tmp_path / "listed.yaml"
    more = f"    enabled: false\n    action_count: 3\n    random_seed: 7\n    {key}: {{stream_id: 4}}\n"
    path.write_text(entry("one", more) + entry("two", f"    {key}: {{enabled: false}}\n"))
    ((one, two), _) = run_profile(path, {})
    assert (one.enabled, one.action_count, one.seed, one.stats, one.pg_id) == (
        False,
        3,
        7,
        "stats",
        4,
    )
    assert (two.enabled, two.action_count, two.seed, two.stats) == (True, 0, 0, None)


@pytest.mark.parametrize(
    ("flags", "macs"),
    [
        (0, ("00" * 6, "00" * 6)),
        (1, ("00" * 6, "02000000000a")),
        (2, ("02000000000b", "00" * 6)),
        (3, ("02000000000b", "02000000000a")),
        (4, ("00" * 6, "00" * 6)),
    ],
)
def test_flags_say_whose_addresses(tmp_path: Path, flags: int, macs: tuple[str, str]) -> None:
    (made,) = streams(tmp_path, entry("one", f"    flags: {flags}\n")).values()
    assert (made["template"][:12], made["template"][12:24]) == macs


def test_flags_say_that_nothing_is_sent(tmp_path: Path) -> None:
    made = streams(tmp_path, entry("one", "    flags: 8\n"), entry("two"))
    assert sorted(made) == ["two"]


SHORT = base64.b64encode(bytes(13)).decode()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (entry("s", packet="{}"), "stream s: packet: expected binary or pcap"),
        (entry("s", packet=""), "stream s: packet: expected binary or pcap"),
        (entry("s", packet="{binary: ''}"), "stream s: packet: expected binary or pcap"),
        (entry("s", packet="{meta: e30=}"), "stream s: packet: expected binary or pcap"),
        (entry("s", packet=f"{{binary: {BINARY}, pcap: a.pcap}}"), "one of the two"),
        (entry("s", packet=f"{{binary: {SHORT}}}"), "stream s: STLPktBuilder pkt_buffer: expected 14 bytes or more, not 13"),
        (entry("s", packet="{binary: udp_64B}"), "stream s: packet.binary: expected base64"),
        (entry("s", packet="{pcap: none.pcap}"), "stream s: none.pcap: no such file"),
        (entry("s", packet=f"{{binary: {BINARY}, hex: 08}}"), "stream s: packet.hex: not supported"),
        (entry("s", top="  after: t\n"), "stream s: after: not supported"),
        (entry("s", "    start_paused: true\n"), "stream s: start_paused: not supported"),
        (entry("s", "    next: A\n", top="  next: B\n"), "stream s: next: expected one stream, not A and B"),
        (entry("s", "    flags: 16\n"), "stream s: flags: expected 0 to 15, not 16"),
        (entry("s", "    vm: {program: []}\n"), "stream s: vm.program: not supported"),
        (entry("s", "    flow_stats: {stream_id: 1, vxlan: true}\n"), "stream s: STLFlowStats vxlan: not supported"),
        (entry("s", mode="{type: continuous, rate: 5}"), "stream s: mode.rate: expected a type and a value"),
        (entry("s", mode="{type: continuous, rate: {type: pps}}"), "stream s: mode.rate: expected a type and a value"),
        (entry("s", mode="{type: continuous, mps: 5}"), "stream s: STLTXCont mps: not supported"),
        (entry("s") + "- name: t\n", "stream 1: expected a name and a stream"),
    ],
)  # fmt: skip
def test_refusals_name_the_stream(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(TrafficError) as caught:
        streams(tmp_path, text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "listed.yaml: " in str(caught.value)


def test_an_empty_packet_of_a_capture(tmp_path: Path) -> None:
    wrpcap(str(tmp_path / "short.pcap"), [Raw(bytes(6))], linktype=1)
    with pytest.raises(TrafficError, match=r"short\.pcap: expected 14 bytes or more, not 6"):
        streams(tmp_path, entry("s", packet="{pcap: short.pcap}"))
