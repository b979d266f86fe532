"""The bench of peers, with sides that measure nothing: statistics, order, table, JSON."""

import json
import shutil
from contextlib import contextmanager
from io import StringIO

import pytest
from bench.peers import __main__ as command
from bench.peers import curves, kinds, registry, report, testpmd
from bench.peers.model import (
    Curve,
    Kind,
    NotMeasuredError,
    Pair,
    Place,
    Result,
    Sample,
    Stamp,
    result_of,
    spread_percent,
)
from bench.peers.place import choose
from bench.peers.routes import INTERNET_PREFIXES, internet_prefixes
from bench.peers.runner import ATTEMPTS, Runner
from rich.console import Console
from typer.testing import CliRunner

from linerate.model.environment import Environment

assert kinds  # registers all
PLACE = Place(main_cpu=0, work_cpu=1, hugepages=False)
NEAR = Stamp(roundtrip_ns=80, handover_pps=100e6)
FAR = Stamp(roundtrip_ns=385, handover_pps=30e6)
ENVIRONMENT = Environment(
    cpu_model="Some CPU @ 3.00 GHz",
    microcode="0x1",
    hypervisor=True,
    kernel="6.1",
    system="Debian",
    cpus=(0, 1),
    governor="none",
    transparent_hugepages="always",
    hugepages_free=0,
    linerate="0.1.0",
)


class Silent:
    def step(self, text):
        pass


def side(who, log, rates, **changes):
    """A side that has these rates one after the other."""
    left = iter(rates)

    class Session:
        def sample(self, seconds):
            log.append(who)
            return Sample(next(left), tsc_hz=2e9, **changes)

    @contextmanager
    def opened(place):
        log.append(f"{who}+")
        yield Session()
        log.append(f"{who}-")

    return opened


def missing(place):
    raise NotMeasuredError("the peer is not installed")


def runner(repeats=3, stamps=()):
    left = iter(stamps)
    return Runner(PLACE, repeats, 0.1, Silent(), lambda place: next(left))


def test_spread_is_of_the_median():
    assert spread_percent([90.0, 100.0, 120.0]) == pytest.approx(30)
    assert spread_percent([5.0]) == 0


def test_ours_and_the_peer_alternate_and_never_run_together():
    log: list[str] = []
    kind = Kind("x", "", side("o", log, [1e6] * 3), side("p", log, [1e6] * 3), "peer")
    runner().run(kind)
    assert log == ["o+", "o", "o-", "p+", "p", "p-"] * 3


def test_without_a_peer_it_is_started_once():
    log: list[str] = []
    runner().run(Kind("x", "", side("o", log, [1e6] * 3)))
    assert log == ["o+", "o", "o", "o", "o-"]


def test_medians_of_the_repeats():
    ours, peer = side("o", [], [90e6, 100e6, 130e6]), side("p", [], [50e6, 50e6, 40e6])
    result = runner().run(Kind("x", "", ours, peer, "peer"))
    assert result.mpps == 100
    assert result.clocks_per_packet == 20  # 2e9 / 100e6
    assert result.peer_clocks_per_packet == 40
    assert result.spread_percent == pytest.approx(40)
    assert result.ratio == 2.0  # of 1.8, 2.0 and 3.25
    assert result.problem is None


def test_clocks_of_a_part_are_what_is_looked_at():
    result = runner(2).run(Kind("x", "", side("o", [], [1e6, 9e6], clocks=15.0)))
    assert result.clocks_per_packet == 15
    assert result.spread_percent == 0


def test_a_missing_peer_leaves_our_figure():
    result = runner().run(Kind("x", "", side("o", [], [1e6] * 3), missing, "peer"))
    assert result.mpps == 1
    assert (result.peer, result.ratio, result.peer_clocks_per_packet) == (None, None, None)
    assert result.problem == "the peer is not installed"


def test_ours_that_cannot_run_has_no_figure():
    result = runner().run(Kind("x", "", missing, side("p", [], []), "peer"))
    assert (result.mpps, result.clocks_per_packet) == (None, None)
    assert result.problem


def test_two_cores_have_no_common_clocks():
    kind = Kind("x", "", side("o", [], [60e6] * 2), side("p", [], [30e6] * 2), "peer", cores=2)
    result = runner(2, [NEAR] * 4).run(kind)
    assert (result.clocks_per_packet, result.peer_clocks_per_packet) == (None, None)
    assert result.ratio == 2
    assert result.details["of_handover"] == pytest.approx(0.6)
    assert result.details["roundtrip_ns"] == 80


def test_a_pair_is_repeated_when_its_stamp_changed():
    rates = [10e6, 60e6, 62e6]
    kind = Kind("x", "", side("o", [], rates), side("p", [], [30e6] * 3), "peer", cores=2)
    result = runner(2, [NEAR, FAR, NEAR, NEAR, NEAR, NEAR]).run(kind)
    assert result.mpps == 61  # the pair with 10e6 was dropped


def test_a_pair_does_not_hold_when_a_cpu_became_busy():
    busy = Stamp(roundtrip_ns=80, handover_pps=50e6)
    assert Pair(Sample(1e6), None, (NEAR, NEAR)).holds
    assert not Pair(Sample(1e6), None, (NEAR, busy)).holds


def test_a_stamp_that_never_holds_gives_no_figure():
    count = 2 * ATTEMPTS
    kind = Kind("x", "", side("o", [], [1e6] * count), side("p", [], [1e6] * count), "p", cores=2)
    result = runner(2, [NEAR, FAR] * count).run(kind)
    assert result.mpps is None
    assert result.problem == "the CPUs moved, or were busy, during each pair"


def test_two_cores_need_two_cpus():
    one = Runner(Place(0, 0, False), 1, 0.1, Silent(), lambda place: NEAR)
    assert one.run(Kind("x", "", missing, cores=2)).problem == "needs 2 CPUs"


def test_document_has_every_key_and_nulls():
    document = Result("x", problem="why").document()
    assert document == {
        "name": "x",
        "clocks_per_packet": None,
        "mpps": None,
        "spread_percent": None,
        "peer": None,
        "peer_clocks_per_packet": None,
        "ratio": None,
        "peer_mpps": None,
        "problem": "why",
    }


def test_table_fits_80_columns():
    pairs = [Pair(Sample(123.4e6, tsc_hz=2.6e9), Sample(98.7e6), (NEAR, NEAR))]
    every = [
        result_of(Kind(name, "", missing, missing, "testpmd on memif"), pairs)
        for name in registry.known()
    ]
    out = StringIO()
    results = [
        *every,
        Result("no-huge", problem="no hugepages"),
        Result("io", problem="no hugepages"),
    ]
    report.print_report(Console(file=out, width=80), results, ENVIRONMENT, PLACE)
    lines = out.getvalue().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("name"))
    table = lines[first : first + len(results) + 1]
    assert max(len(line.rstrip()) for line in table) <= 80
    assert all("…" not in line for line in table)
    assert [line.split()[0] for line in table[1:]] == [result.name for result in results]
    assert lines.count("no-huge, io: no hugepages") == 1  # reported once for both


def test_testpmd_gets_the_memory_and_cpus_that_ours_has(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    command = testpmd.forwarder("io", testpmd.NULL_PORTS, Place(2, 5, True)).command("prefix")
    assert "--no-huge" not in command
    assert "0@2,1@5" in command
    assert "--no-huge" in testpmd.forwarder("io", (), PLACE).command("prefix")


def test_missing_testpmd_is_one_clear_line(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with (
        pytest.raises(NotMeasuredError) as raised,
        testpmd.started(testpmd.forwarder("io", (), PLACE)),
    ):
        pass
    assert str(raised.value) == "dpdk-testpmd is not installed: `make peers` does it"


def test_place_takes_hugepages_only_when_enough_are_free():
    assert not choose(ENVIRONMENT).hugepages
    assert choose(ENVIRONMENT.model_copy(update={"hugepages_free": 1024})).hugepages


def test_select():
    assert [kind.name for kind in registry.select("macswap,io")] == ["io", "macswap"]
    for wrong in ("io,nothing", ","):
        with pytest.raises(ValueError, match="expected some of io,"):
            registry.select(wrong)


def test_internet_table_has_its_shape():
    prefixes = internet_prefixes()
    assert len(set(prefixes)) == INTERNET_PREFIXES
    assert {length for _, length in prefixes} == set(range(8, 33))
    assert sum(length == 24 for _, length in prefixes) > INTERNET_PREFIXES / 2
    assert all(address & ((1 << (32 - length)) - 1) == 0 for address, length in prefixes)


def test_command_prints_json(monkeypatch):
    given = [Result("io", 8.0, 300.0, 1.0, "testpmd", 16.0, 2.0, 150.0)]
    monkeypatch.setattr(command, "_measure", lambda *arguments: (given, 0))
    done = CliRunner().invoke(command.app, ["--only", "io", "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)[0]["ratio"] == 2.0


def test_command_says_which_names_there_are():
    done = CliRunner().invoke(command.app, ["--only", "nothing"])
    assert done.exit_code == 2
    assert "no benchmark 'nothing'" in done.stderr


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "–"),
        (0.0, "0.0"),
        (9999.94, "9999.9"),
        (144_074.5, "144.1k"),
        (20_649_654.1, "20.6M"),
    ],
)
def test_figures_fit_their_column(value, written):
    assert report.figure(value) == written


def test_curves_are_drawn_of_what_was_measured():
    points = {f"q-{x}": Curve("Queue", "at once", x, "free", "locked") for x in (1, 16)}
    results = [
        Result("q-1", clocks_per_packet=80.0, peer_clocks_per_packet=1000.5),
        Result("q-16", problem="needs 2 CPUs"),
        Result("io", clocks_per_packet=9.0),
    ]
    page = curves.render(points, results)
    assert "Queue" in page
    assert "1: free 80.0, locked 1,000.5." in page
    assert "16: free" not in page
    assert "No curve" in curves.render(points, results[1:])


def test_handoffs_are_measured_at_the_same_batches_on_both_sides():
    drawn = [(kind, kind.curve) for kind in registry.known().values() if kind.curve]
    assert drawn
    for kind, curve in drawn:
        assert kind.name.endswith(f"-{curve.x:g}")
        assert kind.peer_name == f"mutex, {curve.x:g}"
