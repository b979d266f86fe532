"""Captured frames: read from an engine, written as pcapng, in lines, into files of our own."""

import os
import signal
import subprocess
from shutil import which

import pytest

from linerate.base.safe_open import open_own
from linerate.base.signals import noted
from linerate.engine.frame_capture import CaptureOrder, FrameCapture
from linerate.engine.telemetry import TelemetryError
from linerate.model.captured_frame import CaptureCounters, CapturedFrame
from linerate.report.frame_text import describe, frame_line
from linerate.report.pcapng import CaptureWriter
from linerate.traffic.capture.capture_file import read_capture

MACS = "020000000001020000000002"
ARP = bytes.fromhex(
    "ffffffffffff02aabbccdd010806000108000604000102aabbccdd016440010100000000000064400102"
) + bytes(18)
ECHO = bytes.fromhex(
    "024c5200000002aabbccdd01080045100031004d000003013f1c0a0909096440010208"
    "00b9d312340007616263646566676831323334353637384142434445"
)


class FakeEngine:
    """Answers as the engine does, one after the other; keeps what was asked."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def ask(self, command):
        self.asked.append(command)
        if "/start," in command:
            return {"id": 7}
        if "/frames," in command:
            return self.answers.pop(0)
        return status("stopped")


def status(state="running", **columns):
    counters = {"matched": 3, "captured": 2, "missed": 1, "bytes": 120}
    return {"id": 7, "state": state, **counters, **columns}


def answer(frames, rows, **more):
    columns = {name: [row[i] for row in rows] for i, name in enumerate(ROW)}
    return status(frames=frames, **columns, **more)


ROW = ("time_ns", "direction", "length", "kept", "more")


def test_frames_are_cut_from_lines_and_joined_over_answers():
    data = ARP.hex()
    engine = FakeEngine(
        answer(
            [data[:50], data[50:] + ECHO[:10].hex()],
            [(5, "rx", 60, 60, 0), (6, "tx", len(ECHO), 10, 1)],
        ),
        answer([ECHO[10:30].hex()], [(6, "tx", len(ECHO), 20, 1)]),
        answer([ECHO[30:].hex()], [(6, "tx", len(ECHO), len(ECHO) - 30, 0)]),
        answer([], []),
    )
    order = CaptureOrder("t0", "both", "arp or (icmp and less 100), really", 96, 10)
    with FrameCapture(engine, order) as capture:  # type: ignore[arg-type]
        reads = [capture.read() for _ in range(4)]
        assert capture.is_empty
        assert not capture.is_over
        assert capture.counters == CaptureCounters(3, 2, 1, 120)
    assert reads[0] == [CapturedFrame(5, False, 60, ARP)]
    assert reads[1] == []
    assert reads[2] == [CapturedFrame(6, True, len(ECHO), ECHO)]
    assert engine.asked[0] == (
        "/linerate/capture/start,port=t0,direction=both,snap=96,limit=10,"
        "filter=arp or (icmp and less 100), really"
    )
    assert engine.asked[-1] == "/linerate/capture/remove,7"


def test_an_answer_with_too_few_bytes_is_refused():
    engine = FakeEngine(answer([ARP[:10].hex()], [(5, "rx", 60, 60, 0)]))
    taken = FrameCapture(engine, CaptureOrder("t0"))  # type: ignore[arg-type]
    with taken as capture, pytest.raises(TelemetryError):
        capture.read()


FRAMES = [
    CapturedFrame(1_764_111_600_123_456_789, False, 60, ARP),
    CapturedFrame(1_764_111_600_123_456_790, True, len(ECHO), ECHO),
]


def write(path, frames=FRAMES):
    with open_own(path) as file:
        writer = CaptureWriter(file, "t0", "arp or icmp", 0)
        for frame in frames:
            writer.write(frame)
        writer.end(CaptureCounters(3, 2, 1, 120))


def test_our_reader_reads_what_was_written(tmp_path):
    write(tmp_path / "t0.pcapng")
    read = read_capture(tmp_path / "t0.pcapng")
    assert [(frame.nanoseconds, frame.data) for frame in read] == [
        (frame.time_ns, frame.data) for frame in FRAMES
    ]


@pytest.mark.skipif(which("tshark") is None, reason="needs tshark")
def test_tshark_reads_times_directions_and_lengths(tmp_path):
    cut = CapturedFrame(FRAMES[0].time_ns, True, 1514, ECHO[:34])
    write(tmp_path / "t0.pcapng", [*FRAMES, cut])
    fields = ("frame.time_epoch", "frame.packet_flags_direction", "frame.len", "frame.cap_len",
              "frame.interface_name", "eth.src")  # fmt: skip
    words = ["tshark", "-r", str(tmp_path / "t0.pcapng"), "-T", "fields"]
    output = subprocess.run(
        [*words, *(word for field in fields for word in ("-e", field))],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    rows = [line.split("\t") for line in output.stdout.splitlines()]
    assert [int(row[1], 0) for row in rows] == [1, 2, 2]
    assert [row[2:5] for row in rows] == [
        ["60", "60", "t0"], [str(len(ECHO))] * 2 + ["t0"], ["1514", "34", "t0"],
    ]  # fmt: skip
    assert rows[0][0] == "1764111600.123456789"
    assert not output.stderr.replace("Running as user", "").count("cut short")


@pytest.mark.skipif(which("tcpdump") is None, reason="needs tcpdump")
def test_tcpdump_reads_it(tmp_path):
    write(tmp_path / "t0.pcapng")
    output = subprocess.run(
        ["tcpdump", "-nn", "-r", str(tmp_path / "t0.pcapng"), "arp"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert output.stdout.count("Request who-has 100.64.1.2 tell 100.64.1.1") == 1
    assert output.stdout.count("\n") == 1


def test_a_link_of_another_is_not_followed(tmp_path):
    (tmp_path / "victim").write_bytes(b"precious")
    (tmp_path / "link").symlink_to("victim")
    os.link(tmp_path / "victim", tmp_path / "other-name")
    (tmp_path / "folder").mkdir()
    for name in ("link", "other-name", "folder"):
        with pytest.raises(OSError), open_own(tmp_path / name):  # noqa: PT011
            pass
    assert (tmp_path / "victim").read_bytes() == b"precious"


def test_a_file_of_ours_is_written_anew_and_is_ours_alone(tmp_path):
    path = tmp_path / "new"
    with open_own(path) as file:
        file.write(b"long enough")
    assert path.stat().st_mode & 0o777 == 0o600
    with open_own(path) as file:
        file.write(b"short")
    assert path.read_bytes() == b"short"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_file_of_another_user_is_refused(tmp_path):
    path = tmp_path / "theirs"
    path.write_bytes(b"precious")
    os.chown(path, 12345, 12345)
    with pytest.raises(PermissionError, match="another user"), open_own(path):
        pass
    assert path.read_bytes() == b"precious"


def test_lines_say_when_who_and_what():
    line = frame_line(FRAMES[0])
    assert line.endswith(
        ".123456 rx 02:aa:bb:cc:dd:01 > ff:ff:ff:ff:ff:ff, 60 bytes: "
        "ARP who has 100.64.1.2, tell 100.64.1.1"
    )
    assert " tx " in frame_line(FRAMES[1])
    assert describe(ECHO) == "ICMP 10.9.9.9 > 100.64.1.2, echo request, id 4660, seq 7, TTL 3"
    reply = ARP[:20] + b"\x00\x02" + ARP[22:]
    assert describe(reply) == "ARP 100.64.1.1 is at 02:aa:bb:cc:dd:01"
    tagged = bytes.fromhex(MACS + "88a80064" + "810000c8") + ARP[12:]
    assert describe(tagged) == "VLAN 100, VLAN 200, ARP who has 100.64.1.2, tell 100.64.1.1"
    unreachable = ECHO[:34] + bytes.fromhex("0301000000000000")
    assert describe(unreachable).startswith(
        "ICMP 10.9.9.9 > 100.64.1.2, destination unreachable, code 1"
    )
    solicitation = bytes.fromhex(
        MACS + "86dd" + "6000000000203aff" + "fe80" + "00" * 13 + "01" + "ff02" + "00" * 13 + "02"
        "8700000000000000" + "fd00" + "00" * 13 + "09"
    )  # fmt: skip
    assert "neighbour solicitation of fd00::9" in describe(solicitation)


@pytest.mark.parametrize("cut", [0, 5, 13, 14, 20, 33, 41])
def test_cut_frames_are_described(cut):
    assert describe(ARP[:cut])
    assert describe(ECHO[:cut])
    assert frame_line(CapturedFrame(0, False, 60, ECHO[:cut]))


def test_signals_are_noted_and_the_second_one_ends():
    before = signal.getsignal(signal.SIGINT)
    with noted() as is_ended:
        assert not is_ended()
        signal.raise_signal(signal.SIGINT)
        assert is_ended()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
