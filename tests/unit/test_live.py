"""Records of a run during the measurement: differences that add up to the whole."""

import json
from typing import Any

import pytest

from linerate.lab.recorder import Watched
from linerate.lab.tester._with_dut import WithDut
from linerate.lab.trial import run_trial, watch
from linerate.model.ledger import Entry, NodeTime, PacketLedger
from linerate.model.measurement import Load, Progress, Reading, WorkerReading
from linerate.results.journal import Journal, read
from linerate.results.store import RunFolder

LOAD = Load(
    frame_bytes=64, directions=1, link_bps=10**10, scale_ppm=10**6, duration_us=700_000
)  # fmt: skip


class Counting:
    """A tester that counts each time it is asked; a packet is held, and let go at the end."""

    tsc_hz = 10**9

    def __init__(self):
        self.asked = 0
        self.polled = 0
        self.started = False

    def ledger(self):
        self.asked += 1
        n = self.asked
        held = [Entry(place="ring", kind="held", packets=n)] if self.polled < 6 else []
        return PacketLedger(
            entries=(
                Entry(place="tester t0", kind="sent", packets=100 * n),
                Entry(place="card: missed", kind="loss", packets=7 * n),
                *held,
                Entry(place="tester", kind="received", packets=90 * n),
            )
        )

    def workers(self):
        self.asked += 1
        n = self.asked
        node = NodeTime(calls=n, vectors=10 * n, clocks=31 * n, idle_calls=n, idle_clocks=3 * n)
        return (
            WorkerReading(
                name="forwarder-0", cpu=1, tid=1, role="forwarder", tsc_hz=10**9, tsc=1000 * n,
                loops=n, overhead_clocks=5 * n, away_clocks=2 * n,
                nodes={"port-rx-e0-0": node, "never": NodeTime()},
            ),
        )  # fmt: skip

    def readings(self):
        return Reading(workers=self.workers(), ledger=self.ledger())

    def progress(self):
        if not self.started:
            return Progress(trial=0, state="idle", elapsed_us=0)
        self.polled += 1
        state = "running" if self.polled < 5 else "draining" if self.polled < 7 else "done"
        return Progress(trial=1, state=state, elapsed_us=self.polled * 150_000)

    def start(self, duration_us, scale_ppm, clean_us=0):
        self.started = True

    def stop(self):
        pass

    def slices(self):
        return None

    def await_links(self):
        pass

    def roundtrips(self):
        return ()

    def nothing(self):
        return {}

    steal_seconds = switches = moments = kernel_seconds = lock_wait_seconds = nothing


class Device:
    """One in a process of its own; it loses a packet each time it is asked."""

    lost = 0

    def ledger(self):
        self.lost += 1
        return PacketLedger(entries=(Entry(place="e0: rx missed", kind="loss", packets=self.lost),))

    def readings(self, _tsc_hz):
        return Reading(workers=(), ledger=self.ledger())

    def workers(self, _tsc_hz):
        return ()


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "live.jsonl")


def trial(journal, monkeypatch, measure=run_trial, tester=None):
    monkeypatch.setattr("linerate.lab.recorder.SAMPLE_SECONDS", 0.0)
    tester = tester or Counting()
    about: dict[str, str | int] = {"label": "U2", "loadtest": "U2", "text": "many flows"}
    about["line_pps"] = 14_880_952
    watched = Watched(tester, journal, about)
    return measure(watched, LOAD, lambda _progress: None)


def samples(lines):
    return [line for line in lines if line["event"] in ("sample", "closed")]


def nodes_sum(lines, worker, node):
    found = [line["workers"][worker]["nodes"].get(node, [0] * 5) for line in samples(lines)]
    return [sum(values) for values in zip(*found, strict=True)]


@pytest.mark.parametrize("measure", [run_trial, watch])
def test_lines_add_up_to_what_was_measured(journal, tmp_path, monkeypatch, measure):
    measured = trial(journal, monkeypatch, measure)
    lines = list(read(tmp_path / "live.jsonl"))
    (ledger,) = measured.time
    spent = ledger.nodes["port-rx-e0-0"]
    assert nodes_sum(lines, "forwarder-0", "port-rx-e0-0") == list(spent.model_dump().values())
    workers = [line["workers"]["forwarder-0"] for line in samples(lines)]
    assert sum(worker["clocks"] for worker in workers) == ledger.elapsed_clocks
    assert sum(worker["overhead_clocks"] for worker in workers) == ledger.overhead_clocks
    assert sum(worker["away_clocks"] for worker in workers) == ledger.away_clocks
    assert sum(worker["loops"] for worker in workers) == ledger.loops
    check_packets(lines, measured)
    assert len(samples(lines)) >= 3


def check_packets(lines, measured):
    """The samples add up to the ledger of the trial."""
    packets: dict[tuple[str, str], int] = {}
    for line in samples(lines):
        for place, kind, count in line["packets"]:
            packets[place, kind] = packets.get((place, kind), 0) + count
    whole = {(one.place, one.kind): one.packets for one in measured.packets.entries}
    assert {key: n for key, n in packets.items() if n} == {k: n for k, n in whole.items() if n}


def test_a_device_in_a_process_of_its_own_tells_its_losses_in_between(
    journal, tmp_path, monkeypatch
):
    tester: Any = Counting()
    both = WithDut(tester, Device(), foreign=False)
    measured = trial(journal, monkeypatch, tester=both)
    lines = list(read(tmp_path / "live.jsonl"))
    *during, _closed = samples(lines)
    assert len(during) >= 2
    for line in during:
        assert ("e0: rx missed", "loss") in {(place, kind) for place, kind, _ in line["packets"]}
    check_packets(lines, measured)


def test_what_happens_is_reported_in_order(journal, tmp_path, monkeypatch):
    trial(journal, monkeypatch)
    trial(journal, monkeypatch)
    lines = list(read(tmp_path / "live.jsonl"))
    events = [line["event"] for line in lines if line["number"] == 1]
    assert events[:2] == ["trial", "sending"]
    assert events[-1] == "closed"
    assert "draining" in events
    assert {line["number"] for line in lines} == {1, 2}
    assert [line["at"] for line in lines] == sorted(line["at"] for line in lines)
    assert "never" not in json.dumps(lines)


def test_a_file_that_cannot_be_written_fails_no_trial(tmp_path, monkeypatch):
    measured = trial(Journal(tmp_path / "no" / "folder"), monkeypatch)
    assert measured.packets.sent > 0


def test_half_a_line_and_nonsense_are_left_out(tmp_path):
    path = tmp_path / "live.jsonl"
    path.write_bytes(b'{"event": "a"}\n\xff\n[1]\n{"event": "b"}\n{"event"')
    assert [line["event"] for line in read(path)] == ["a", "b"]
    assert list(read(tmp_path / "none")) == []


def test_a_run_folder_tells_of_status_and_results(tmp_path, run, result, evidence):
    folder = RunFolder.create(tmp_path, "router")
    folder.save(run(status="running"))
    folder.save_measurement("U2", evidence())
    folder.save(run(result("U2"), status="running"))
    folder.save(run(result("U2"), result("B2", evidence(unexplained=3))))
    lines = list(read(folder.path / "live.jsonl"))
    assert [line["event"] for line in lines] == ["status", "measured", "result", "status", "result"]
    assert [line["status"] for line in lines if "status" in line] == ["running", "complete"]
    assert [line["valid"] for line in lines if "valid" in line] == [True, False]
