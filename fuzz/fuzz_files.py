"""Fuzz what reads files, answers and filters of others: `fuzz_files.py TARGET [libFuzzer's words]`.

Any bytes: each reader gives what it promises or raises its own error, and nothing else.
"""

import contextlib
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["linerate"]):
    from linerate.analysis.audit.audit import audit
    from linerate.analysis.audit.table import TableError, table_of
    from linerate.analysis.measured_evidence import evidence_of
    from linerate.base.errors import SetupError
    from linerate.engine.telemetry import Telemetry, TelemetryError, rows
    from linerate.lab.power import (
        MeterError,
        ipmi,
        nut,
        prometheus,
        rapl,
        redfish,
        shelly,
        snmp,
        tasmota,
    )
    from linerate.lab.power import command as by_command
    from linerate.lab.trex.client import read_reply
    from linerate.lab.trex.tester import TrexTester
    from linerate.lab.trex.tester import counted as trex_counted
    from linerate.model import testbed
    from linerate.model.box import BoxAnswers, Command, texts
    from linerate.model.measurement import Measurement
    from linerate.model.suites import DUT_MACS
    from linerate.model.suites import find as find_suite
    from linerate.model.suites import streams as streams_of_loadtest
    from linerate.parsers.boxes import Asked, TracingKind, UnreadableError, box_evidence, kinds
    from linerate.parsers.meter_csv import MeterTableError, read_table
    from linerate.results import journal
    from linerate.results.index.query import Query, QueryError
    from linerate.results.index.row import process_of, row_of
    from linerate.results.store import StoreError, run_of
    from linerate.traffic import TrafficError, find
    from linerate.traffic.capture.capture_file import read_capture
    from linerate.traffic.trex.profile_process import _Document
    from linerate.traffic.trex.stateless import streams_of
    from linerate.trex_server import methods  # noqa: F401 (registers them)
    from linerate.trex_server.rpc import answer
    from linerate.trex_server.server import Server
    from linerate.ui.serve.stream import _read as read_events

    # Kinds are files that are found when they are first asked for: too late to be instrumented.
    kinds()

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.fake.trex_engine import FakeEngine

Target = Callable[[bytes], None]
TARGETS: dict[str, Target] = {}
#: In memory: a file is written for each input.
FOLDER = Path(tempfile.mkdtemp(prefix="linerate-fuzz-", dir="/dev/shm"))
LINK_BPS = 10e9
#: Streams of both ports, one of them timed.
TREX_STREAMS = [
    stream | {"latency": number == 0}
    for number, stream in enumerate(
        streams_of_loadtest(find_suite("standard").loadtests[5], DUT_MACS, {"percent": 100})
    )
]
CONVERSATION = (Path(__file__).parent / "corpus" / "files_captures" / "conversation").read_bytes()


def target(function: Target) -> Target:
    """Name a target after its function."""
    TARGETS[function.__name__] = function
    return function


def _file(name: str, content: bytes) -> Path:
    path = FOLDER / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


@target
def captures(content: bytes) -> None:
    """Pcap and pcapng."""
    with contextlib.suppress(TrafficError):
        for frame in read_capture(_file("fuzzed.pcap", content)):
            assert frame.data
            assert frame.nanoseconds >= 0


@target
def testbeds(content: bytes) -> None:
    """Testbed files."""
    with contextlib.suppress(testbed.TestbedError):
        testbed.load(_file("testbed.yaml", content))


@target
def traffic(content: bytes) -> None:
    """Traffic in YAML: ours, and TRex's stateful kind (stateless ones start a process)."""
    if b"stream" in content and b"streams" not in content:
        return
    # Files that seeds name beside them.
    _file("a.pcap", CONVERSATION)
    with contextlib.suppress(TrafficError):
        find(str(_file("traffic.yaml", content)))


@target
def trex(content: bytes) -> None:
    """Documents that a profile's process hands back."""
    try:
        document = _Document.model_validate_json(content)
    except ValueError:
        return
    with contextlib.suppress(TrafficError):
        streams_of("fuzzed", document.sides or ((), ()))


@target
def runs(content: bytes) -> None:
    """run.json, and its row in the index."""
    try:
        run = run_of(content, Path("run.json"))
    except StoreError:
        return
    row_of("fuzzed", run)


@target
def evidence(content: bytes) -> None:
    """Evidence of a trial."""
    try:
        measurement = Measurement.model_validate_json(content)
    except ValueError:
        return
    evidence_of(measurement, "U1", "fuzzed", ())


COMMANDS = (
    Command(run="a", counters=r"(?P<e0_rx_packets>[\d ]+)\n(?P<e0_tx_packets>\S+)(?P<lost_x>\d*)"),
    Command(run="b", parser="vpp_errors"),
)


@target
def boxes(content: bytes) -> None:
    """Answers of a box of any kind, as a run's folder keeps them."""
    try:
        box = BoxAnswers.model_validate_json(content)
    except ValueError:
        return
    box_evidence(box)
    kind = kinds().get(box.kind)
    if kind is None:
        return
    for moment in ("before", "after"):
        for batch in box.batches(moment):
            with contextlib.suppress(UnreadableError):
                counted = kind.counted(texts(batch), Asked(ports=box.ports, commands=COMMANDS))
                assert all(type(packets) is int for packets in counted.losses.values())
    if isinstance(kind, TracingKind):
        for answer in box.answers:
            for packet in kind.traced(answer.text, Asked(ports=box.ports)):
                assert packet.hops


@target
def lives(content: bytes) -> None:
    """live.jsonl, as reports and as spectators read it."""
    path = _file("run/live.jsonl", content)
    list(journal.read(path))
    process_of(path.parent)
    offset = 0
    while True:
        text, further = read_events(path, offset)
        assert text.count(b"\n\n") <= content.count(b"\n")
        if further == offset:
            break
        offset = further


class _Fed(Telemetry):
    """A connection whose other end is ours; what it was greeted with does not matter."""

    def __init__(self, path: Path, ours: socket.socket) -> None:
        self._ours = ours
        super().__init__(path, timeout_seconds=1.0)

    def _open(self) -> None:
        self._socket, self._max_bytes = self._ours, 16384


@target
def telemetry(content: bytes) -> None:
    """Answers of what listens at an engine's socket, one a line."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        client = _Fed(FOLDER / "socket", ours)
        for answer in content[:16384].split(b"\n")[:8]:
            theirs.send(answer or b"\0")
            with contextlib.suppress(TelemetryError):
                rows(client.ask("/linerate/info"), "fuzzed")


@target
def queries(content: bytes) -> None:
    """Filters and orders, as an address has them."""
    words = content.decode("utf-8", "surrogateescape").split("\n")
    with contextlib.suppress(QueryError):
        query = Query(tuple(words[1:21]), words[0], 10, 0)
        for sql, values in (query.sql(), query.count_sql()):
            _database().execute(sql, values).fetchall()


def _database() -> "duckdb.DuckDBPyConnection":  # noqa: F821 (imported late)
    from linerate.results.index import _load  # noqa: PLC0415

    if not hasattr(_database, "made"):
        _database.made = _load({})  # type: ignore[attr-defined]
    return _database.made  # type: ignore[attr-defined,no-any-return]


@target
def tables(content: bytes) -> None:
    """Published tables."""
    with contextlib.suppress(TableError):
        audit(table_of(content, "fuzzed", LINK_BPS))


class _Replies:
    """A process that drives a TRex server, of which each call takes a line."""

    def __init__(self, content: bytes) -> None:
        self._lines = iter(content.split(b"\n")[:32])

    def ask(self, _call: str, **_parameters: object) -> dict[str, Any]:
        line = next(self._lines, None)
        if line is None:
            raise SetupError("it ended")
        return read_reply(line)


@target
def trex_replies(content: bytes) -> None:
    """Lines of the process that drives a TRex server: of one call, and of those of trials."""
    with contextlib.suppress(SetupError):
        trex_counted(read_reply(content))
    replies = _Replies(content)
    with contextlib.suppress(SetupError):
        tester = TrexTester(replies, TREX_STREAMS, int(LINK_BPS), (0, 1))
        while True:
            tester.start(1, 1_000_000)
            tester.progress()
            reading = tester.readings()
            assert all(entry.packets >= 0 for entry in reading.ledger.entries)
            tester.stop()


@target
def requests(content: bytes) -> None:
    """Messages to the server for TRex's clients: one a line, and all of them as one."""
    server = Server(FakeEngine())
    for message in (content, *content.split(b"\n")[:16]):
        message = message.replace(b"API_H", server.api_handle.encode())  # noqa: PLW2901
        for port in server.ports:
            if port.handler is not None:
                name = f"HANDLER{port.number}".encode()
                message = message.replace(name, port.handler.encode())  # noqa: PLW2901
        assert answer(server, message)


@target
def meters(content: bytes) -> None:
    """Answers of power meters, and tables that they write."""
    text = content.decode(errors="replace")
    with contextlib.suppress(MeterTableError):
        assert read_table(text, "fuzzed").rows
    with contextlib.suppress(ValueError, RecursionError):
        document = json.loads(content)
        for figure in (
            shelly.watts_of(document, 0),
            tasmota.watts_of(document, None),
            redfish.watts_of(document),
        ):
            assert figure is None or isinstance(figure, float)
        with contextlib.suppress(MeterError):
            assert isinstance(prometheus.watts_of(document), float)
    readers: tuple[Callable[[str], object], ...] = (
        ipmi.dcmi,
        lambda answer: ipmi.sensor(answer, "PWR Total"),
        lambda answer: nut.value_of(answer, nut.POWER),
        snmp.figure,
        by_command.last_number,
        rapl.whole,
    )
    for read in readers:
        with contextlib.suppress(MeterError):
            read(text)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        sys.exit(f"fuzz_files.py: expected one of {' '.join(TARGETS)}")
    chosen = TARGETS[sys.argv.pop(1)]
    # At the end libFuzzer leaves without Python's own: the folder is small, and removed by hand.
    if os.fork():
        status = os.wait()[1]
        shutil.rmtree(FOLDER, ignore_errors=True)
        sys.exit(os.waitstatus_to_exitcode(status))
    atheris.Setup(sys.argv, chosen)
    atheris.Fuzz()
