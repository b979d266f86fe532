"""TRex profiles are other people's programs: what they may not do, and what we refuse of them."""

import base64
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.utils import wrpcap

from linerate.base.line_rate import FRAME_BYTES_MAX
from linerate.traffic import TrafficError, find
from linerate.traffic.offered import STREAMS_MAX
from linerate.traffic.profile import has_signature, is_signed
from linerate.traffic.trex.ip_identification import why_not_counted
from linerate.traffic.trex.profile_process import Limits, TrexStream, run_profile
from linerate.traffic.trex.stateless import read, streams_of

HEAD = "from trex_stl_lib.api import *\nimport os, socket, subprocess, time\n"
BODY = (
    "class P:\n    def get_streams(self, **kwargs):\n        {}\ndef register():\n    return P()\n"
)
PACKET = "Ether()/IP(src='1.1.1.1',dst='2.2.2.2')/UDP()/('x'*30)"


def profile(folder: Path, body: str) -> Path:
    path = folder / "other.py"
    path.write_text(HEAD + BODY.format(body))
    return path


def refused(path: Path, limits: Limits | None = None) -> str:
    with pytest.raises(TrafficError) as caught:
        run_profile(path, {}, limits)
    message = str(caught.value)
    assert "\n" not in message
    assert "other.py" in message
    return message


REACHED = "os.write(2, b'reached')"


class Reached(subprocess.Popen[bytes]):
    """Its limit of time begins once the profile's own lines run, however long scapy's took."""

    folder: Path

    def wait(self, timeout: float | None = None) -> int:
        if timeout is not None:
            while not self._has_output() and self.poll() is None:
                time.sleep(0.02)
            assert self._has_output()
        return super().wait(timeout)

    def _has_output(self) -> bool:
        return any(b"reached" in message.read_bytes() for message in self.folder.glob("*/errors"))


@pytest.fixture
def reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(Reached, "folder", folder, raising=False)
    monkeypatch.setattr(subprocess, "Popen", Reached)


@pytest.mark.usefixtures("reached")
def test_a_profile_that_waits_is_stopped(tmp_path: Path) -> None:
    path = profile(tmp_path, f"{REACHED}; time.sleep(10000)")
    assert refused(path, Limits(wall_seconds=0.2)).endswith("not done after 0.2 s; it was stopped")
    assert not any(str(path).encode() in command for command in _commands())


@pytest.mark.usefixtures("reached")
@pytest.mark.parametrize(
    ("first", "words"),
    [
        ("pass", "other.py: it took more than 1 s of CPU time"),
        ("signal.signal(signal.SIGXCPU, signal.SIG_IGN)", "it was killed: it took more than 1 s"),
    ],
)
def test_an_endless_loop_is_stopped(tmp_path: Path, first: str, words: str) -> None:
    """By the time that it takes itself: the limit of the whole is far away."""
    path = profile(tmp_path, f"import signal; {first}; {REACHED}\n        while True: pass")
    assert words in refused(path, Limits(cpu_seconds=1, wall_seconds=10_000))
    assert not any(str(path).encode() in command for command in _commands())


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("os.fork()", "line 5: PermissionError"),
        ("subprocess.run(['true'])", "PermissionError"),
        ("socket.socket()", "PermissionError"),
        ("os.kill(os.getppid(), 9)", "PermissionError"),
        ("1 / 0", "line 5: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "it ended the process"),
        ("return bytearray(3 << 30)", "MemoryError"),
        ("return [STLTaggedPktGroup(tpgid=0)]", "line 5: STLTaggedPktGroup: not supported"),
        ("from trex.stl.api import STLClient; STLClient('a')", "line 5: STLClient: not supported"),
        ("STLSim()", "line 5: STLSim: not supported"),
        ("STLNothing()", "line 5: STLNothing: not supported"),
        ("from trex.stl.api import STLNothing", "line 5: ImportError: cannot import name 'STLNothing'"),
        ("return STLStream(packet=STLPktBuilder(pkt_buffer=b''))", "STLPktBuilder pkt_buffer: expected 14 bytes or more, not 0"),
        ("return STLHltStream(l4_protocol='icmp', l3_protocol='ipv4')", "l4_protocol 'icmp': not supported"),
        ("return STLHltStream(gre_key=5)", "STLHltStream gre_key: not supported"),
        ("return STLHltStream(rate_pps=1, rate_bps=5)", "expected one rate, not rate_pps, rate_bps"),
        ("return STLHltStream(frame_size=40, l3_protocol='ipv6')", "the headers alone have 54 bytes"),
        ("return STLHltStream(ip_dscp=1, ip_mbz=1, l3_protocol='ipv4')", "ip_mbz and ip_dscp: expected one of the two"),
        ("return [STLStream(start_paused=True)]", "start_paused"),
        ("return STLProfile.load_pcap('no.pcap')", "no.pcap: no such file"),
        ("return STLStream(flow_stats=STLFlowStats(1, multi_tag=True))", "STLFlowStats multi_tag: not supported"),
        ("return [STLStream(mode=STLTXCont(pps=1, percentage=2))]", "one rate"),
        ("return 5", "AttributeError"),
        (
            f"return [STLStream(packet=STLPktBuilder(pkt={PACKET}, vm=[STLVmFixIpv4(offset='IPv6')]))]",
            "offset 'IPv6': the packet has no such layer",
        ),
    ],
)  # fmt: skip
def test_one_line_says_why(tmp_path: Path, body: str, words: str) -> None:
    assert words in refused(profile(tmp_path, body))


def test_huge_output_ends_it(tmp_path: Path) -> None:
    message = refused(profile(tmp_path, "os.write(2, b'x' * (80 << 20)); os.write(2, b'x')"))
    assert "too" in message or "SIGXFSZ" in message or "File too large" in message


def _commands() -> list[bytes]:
    return [_command(path) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _command(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def test_what_it_prints_is_no_document(tmp_path: Path) -> None:
    path = profile(
        tmp_path,
        f"print('hello'); os.write(1, b'x'); return [STLStream(packet=STLPktBuilder(pkt={PACKET}))]",
    )
    (stream,) = read(path)
    assert stream["rate"] == {"pps": 1.0}
    assert stream["signature"] is True


@pytest.mark.parametrize("program", ["CTRexScRaw(walk)", "STLScVmRaw(walk, split_by_field='v')"])
def test_programs_of_older_profiles(tmp_path: Path, program: str) -> None:
    path = profile(
        tmp_path,
        "walk = [STLVmFlowVar(name='v', min_value=3, max_value=7, size=2, op='inc'),"
        " STLVmWrFlowVar(fv_name='v', pkt_offset='UDP.sport')];"
        f" return STLStream(packet=STLPktBuilder(pkt={PACKET}, vm={program}))",
    )
    (stream,) = read(path)
    assert stream["program"]["steps"] == [{"write": {"variable": "v", "offset": 34}}]


def test_what_profiles_ask_of_streams(tmp_path: Path) -> None:
    made = (
        f"packet = STLPktBuilder(pkt={PACKET});"
        " plain = STLStream(name='p', packet=packet);"
        " old = STLStream(name='o', packet=packet, rx_stats=STLRxStats(user_id=7));"
        " late = STLStream(name='l', packet=packet, flow_stats=STLFlowLatencyStats(pg_id=8));"
        " kinds = [one.get_flow_stats_type() for one in (plain, old, late)];"
        " assert kinds == [None, 'stats', 'latency'], kinds;"
        " assert 'STLStream' in plain.to_code();"
        " return [plain, old, late]"
    )
    streams = read(profile(tmp_path, made))
    assert [one["name"] for one in streams] == ["p", "o", "l"]
    assert [one.get("latency", False) for one in streams] == [False, False, True]


def test_modules_come_along_with_the_library(tmp_path: Path) -> None:
    made = "Ether(binascii.unhexlify('08' * 70), dst='02:00:00:00:00:07')"
    (stream,) = read(
        profile(tmp_path, f"return STLStream(packet=STLPktBuilder(pkt={made}))"),
    )
    assert stream["template"].startswith("020000000007" + "08" * 6)


def test_tunables_and_directions() -> None:
    text = "tests/data/trex/one_packet.py"
    assert [stream["port"] for stream in find(text).streams] == [0, 1]
    (first, _) = find(f"{text},size=128").streams
    assert len(first["template"]) == 2 * 124
    with pytest.raises(TrafficError, match="expected name=value"):
        find(f"{text},size")
    with pytest.raises(TrafficError, match="unrecognized arguments: --pace 5"):
        find("tests/data/trex/udp_walk.py,pace=5")
    with pytest.raises(TrafficError, match="no such file"):
        find("nowhere.py")


HLT = """STLHltStream(name="h", rate_pps=5, l3_protocol="ipv4", l4_protocol="udp", ip_dscp=10,
    vlan_id="7 1000", vlan_id_mode="fixed decrement", vlan_id_count=[1, 10], vlan_user_priority=3,
    vlan_cfi=0, ip_src_addr="10.0.0.9", ip_dst_addr="10.1.0.1", ip_src_mode="increment",
    ip_src_count=4, ip_src_step="0.0.1.0", udp_dst_port_mode="random", length_mode="random",
    frame_size_min=100, frame_size_max=200, flow_stats_id=9, direction=kwargs["direction"],
    mac_src2="0011.2233.4455")"""
HLT_IMIX = """STLHltStream(length_mode="imix", l3_protocol="ipv6", l4_protocol="tcp", rate_pps=24,
    l3_imix1_size=90, tcp_syn_flag=1, ipv6_dst_mode="increment", ipv6_dst_count=5, name="mix")"""


def test_hltapi_streams(tmp_path: Path) -> None:
    """Meaning of their words; direction 1 exchanges addresses."""
    made = read(profile(tmp_path, f"return [{HLT}, *{HLT_IMIX}]"))
    one, *mix = (stream for stream in made if stream["port"] == 0)
    back = next(stream for stream in made if stream["port"] == 1)
    assert (one["name"], one["rate"]) == ("h", {"pps": 5.0})
    # Tags of 3, 0, 7 and 1, 1, 1000 (a value given once is 1 the second time); DSCP 10.
    assert one["template"][24:48] == "81006007810033e80800452800ae"[:24]
    assert len(one["template"]) == 2 * 196
    assert (one["template"][12:24], back["template"][12:24]) == ("0" * 12, "001122334455")
    assert one["template"][68:84] == "0a0000090a010001"
    assert back["template"][68:84] == "0a0100010a000009"
    named = {variable["name"]: variable for variable in one["program"]["variables"]}
    assert {name: (v["op"], v["min"], v["max"]) for name, v in named.items()} == {
        "vlan_id1": ("decrement", 0, 9),
        "ip_src": ("increment", 0, 768),
        "udp_dst_port": ("random", 0, 65535),
        "pkt_len": ("random", 96, 196),
    }
    writes = [step["write"] for step in one["program"]["steps"] if "write" in step]
    assert writes[0] == {
        "variable": "vlan_id1", "offset": 18, "bytes": 2, "mask": 4095, "shift": 0, "add": 991,
    }  # fmt: skip
    assert [(w["variable"], w["offset"], w.get("add", 0)) for w in writes[1:]] == [
        ("ip_src", 34, 0x0A000009),
        ("udp_dst_port", 44, 0),
        ("pkt_len", 24, -22),
        ("pkt_len", 46, -42),
    ]
    assert one["program"]["steps"][-1] == {"fix_ipv4_checksum": {"offset": 22}}
    assert [(m["name"], m["rate"]["pps"], len(m["template"]) // 2 + 4) for m in mix] == [
        ("mix-90", 14.0, 90),
        ("mix-570", 8.0, 570),
        ("mix-1518", 2.0, 1518),
    ]
    # TCP's flags: SYN alone.
    assert all(m["template"][134:136] == "02" for m in mix)


def stream(**changes: Any) -> TrexStream:
    packet = bytes(12) + b"\x08\0\x45" + bytes(59)
    message: dict[str, Any] = {
        "name": "s",
        "packet": base64.b64encode(packet).decode(),
        "mode": {"type": "continuous", "rate": {"pps": 5}},
        "payload": 42,
    }
    return TrexStream.model_validate(message | changes)


NO_IP = base64.b64encode(bytes(12) + b"\x08\6" + bytes(60)).decode()
VAR = {"type": "variable", "name": "v", "size": 2, "op": "inc", "step": 1, "min": 0, "max": 9}
WRITE = {"type": "write", "variable": "v", "offset": 30, "add": 0, "big": True}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"packet": "@@"}, "packet"),
        ({"packet": "AAAA"}, f"expected 14 to {FRAME_BYTES_MAX - 4}"),
        ({"vm": [WRITE]}, "variable 'v': used before"),
        ({"vm": [VAR | {"max": 70000}]}, "70000 is above 65535"),
        ({"vm": [VAR | {"min": 10}]}, "min_value is above max_value"),
        ({"vm": [VAR | {"start": 3, "step": 2}]}, "init_value between steps"),
        ({"vm": [VAR | {"start": 30}]}, "init_value: not in its range"),
        ({"vm": [VAR, WRITE | {"offset": 73}]}, "bytes up to 75 of a packet of 74"),
        ({"vm": [VAR, {"type": "trim", "variable": "v"}]}, "STLVmTrimPktSize v: sizes 0 to 9"),
        ({"stats": "latency", "payload": None}, "STLFlowLatencyStats: the last 14 bytes"),
        ({"stats": "stats", "payload": None, "packet": NO_IP}, "no IP header to be counted by"),
        ({"stats": "stats", "payload": None, "vm": [VAR, WRITE | {"offset": 19}]},
         "its program writes the part of the IP header"),
        ({"next": "nobody"}, "next 'nobody': no such stream"),
        ({"next": "s"}, "a continuous stream has no next"),
        ({"enabled": False}, "no stream in it sends"),
    ],
)  # fmt: skip
def test_refusals_name_what_is_asked(changes: dict[str, Any], words: str) -> None:
    one = stream(**changes)
    with pytest.raises(TrafficError) as caught:
        streams_of("p.py", ((one,), (one,)))
    assert words in str(caught.value)
    assert str(caught.value).startswith("p.py: ")


def test_flow_statistics_without_payload_go_by_the_ip_header() -> None:
    one = stream(vm=[VAR, WRITE], stats="stats", payload=None)
    (made,) = streams_of("p.py", ((one,), (one,)))
    assert made["count_by"] == "ip_id"
    assert "signature" not in made
    assert is_signed(made)
    assert not has_signature(made)
    alone = stream(payload=None)
    (made,) = streams_of("p.py", ((alone,), (alone,)))
    assert not is_signed(made)


IP4, IP6 = bytes((0x45, *[0] * 19)), bytes((0x60, *[0] * 39))


@pytest.mark.parametrize(
    ("packet", "written", "reason"),
    [
        ("0800" + IP4.hex(), (), None),
        ("86dd" + IP6.hex(), (), None),
        ("8100000a88a8000b0800" + IP4.hex(), (), None),
        ("8847000100400001014086" + IP6.hex(), (), "no IP header"),
        ("88470001004000010140" + IP6.hex(), (), None),
        ("88470001004000010140" + IP4.hex(), (), None),
        ("0806" + IP4.hex(), (), "no IP header"),
        ("0800" + IP6.hex(), (), "no IP header"),
        ("0800" + IP4[:19].hex(), (), "no IP header"),
        ("0800", (), "no IP header"),
        ("8847", (), "no IP header"),
        ("0800" + IP4.hex(), [range(26, 30), range(15, 18), range(22, 23)], None),
        ("0800" + IP4.hex(), [range(19, 20)], "its program"),
        ("0800" + IP4.hex(), [range(14, 16)], "its program"),
        ("0800" + IP4.hex(), [range(23, 24)], "its program"),
        ("86dd" + IP6.hex(), [range(18, 20), range(21, 30)], None),
        ("86dd" + IP6.hex(), [range(17, 18)], "its program"),
        ("86dd" + IP6.hex(), [range(20, 21)], "its program"),
    ],
)
def test_what_can_be_counted_by_the_ip_header(
    packet: str, written: list[range], reason: str | None
) -> None:
    found = why_not_counted(bytes(12) + bytes.fromhex(packet), written)
    assert (found is None) == (reason is None)
    assert reason is None or reason in str(found)


def test_signatures_stay_off_the_program() -> None:
    last = stream(vm=[VAR, WRITE | {"offset": 66}])
    (made,) = streams_of("p.py", ((last,), (last,)))
    assert "signature" not in made
    early = stream(vm=[VAR, WRITE])
    (made,) = streams_of("p.py", ((early,), (early,)))
    assert made["signature"] is True


@pytest.mark.parametrize(("payload", "timeable"), [(60, True), (61, False), (66, False)])
def test_a_time_stamp_needs_six_bytes_more(payload: int, timeable: bool) -> None:
    one = stream(payload=payload)
    (made,) = streams_of("p.py", ((one,), (one,)))
    assert (made["signature"], made["timeable"]) == (True, timeable)


#: Packets of `load_pcap`: three, with gaps of 100 and 300 microseconds.
REPLAYED = (1_000_000, 1_000_100, 1_000_400)


@pytest.mark.parametrize(
    ("reported", "starts", "lap", "count"),
    [
        ("", [0, 100, 400], 400, 1),
        ("speedup=2.0, loop_count=0, min_ipg_usec=60.0", [60, 120, 270], 270, 0),
        ("ipg_usec=10.0, speedup=4, loop_count=7", [2.5, 5, 7.5], 7.5, 7),
    ],
)
def test_packets_of_a_pcap_are_a_chain(
    tmp_path: Path, reported: str, starts: list[float], lap: float, count: int
) -> None:
    frames = []
    for number, us in enumerate(REPLAYED):
        frame = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02", type=0x88B5)
        frame /= Raw(bytes([number]) * 50)
        frame.time = us / 1e6
        frames.append(frame)
    wrpcap(str(tmp_path / "some.pcap"), frames)
    made = read(profile(tmp_path, f"return STLProfile.load_pcap('some.pcap', {reported})"))
    assert [one.get("start_us", 0.0) for one in made] == pytest.approx(starts)
    for number, one in enumerate(made):
        assert one["template"][24:] == bytes(frames[number]).hex()[24:]
        assert one["bursts"] == {"frames": 1, "count": count, "gap_us": pytest.approx(lap)}
        assert one["rate"] == {"pps": pytest.approx(1e6 / lap)}


def test_a_long_pcap_is_refused(tmp_path: Path) -> None:
    wrpcap(str(tmp_path / "long.pcap"), [Ether(bytes(60))] * 257)
    message = refused(profile(tmp_path, "return STLProfile.load_pcap('long.pcap')"))
    assert "long.pcap: expected 256 packets or fewer" in message


def test_streams_are_as_many_as_the_engine_sends(tmp_path: Path) -> None:
    path = profile(
        tmp_path,
        f"one = STLStream(packet=STLPktBuilder(pkt={PACKET}));"
        f" return [one] * ({STREAMS_MAX} + kwargs['direction'])",
    )
    assert f"more than {STREAMS_MAX:,} streams for direction 1" in refused(path)


def test_a_packet_that_is_no_ascii_is_refused():
    mode = {"type": "continuous", "rate": {"pps": 1}}
    stream = TrexStream.model_validate({"name": "a", "packet": "é", "mode": mode})
    with pytest.raises(TrafficError, match="packet: "):
        streams_of("fuzzed", ((stream,), ()))
