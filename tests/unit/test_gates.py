"""Gates on synthetic repeats: a planted change is found in its node, and none is invented."""

import random
import shutil
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from tests.command import result_of
from tests.unit.conftest import make_result
from tests.unit.test_ci_files import cases_of

from linerate.model.ledger import NodeTime, TimeLedger
from linerate.results.compare import Side, compare
from linerate.results.gates import PAIRS, SETS, GateError, judge, parse_gate
from linerate.results.store import load_run

RUNS = Path(__file__).parents[1] / "data" / "runs-0.1"
#: Cycles/packet by node.
NODES = {"port-rx-e0-0": 25.0, "ip4-input": 12.0, "ip4-lookup": 20.0, "ip4-rewrite": 9.0,
         "port-tx-e1": 14.0}  # fmt: skip
PACKETS = 1_000_000


@pytest.fixture(scope="module")
def trial():
    return make_result("U2")


@pytest.fixture
def trials(trial):
    """Results of one test, repeated, each node's cost with noise of a share of it."""

    def make(seed, repeats, noise, **factors):
        chance = random.Random(seed)

        def one():
            nodes = {
                name: NodeTime(
                    calls=PACKETS // 100,
                    vectors=PACKETS,
                    clocks=round(
                        PACKETS * cost * factors.get(name.replace("-", "_"), 1)
                        * chance.gauss(1, noise)
                    ),
                )
                for name, cost in NODES.items()
            }  # fmt: skip
            ledger = TimeLedger(worker="forwarder-0", role="forwarder", tsc_hz=10**9,
                                elapsed_clocks=10**9, overhead_clocks=0, nodes=nodes)  # fmt: skip
            packets = trial.packets.model_copy(update={"received": PACKETS})
            return trial.model_copy(update={"time_at_load": (ledger,), "packets": packets})

        return [one() for _ in range(repeats)]

    return make


def judged_of(gate, base, other, method=SETS):
    """Each trial a sample of its own."""
    samples = [[one] for one in base], [[one] for one in other]
    return judge(parse_gate(gate), {"U2": samples}, {"U2": method})


def outcomes(gate, base, other):
    return {one.part: one.outcome for one in judged_of(gate, base, other)}


@pytest.mark.parametrize("seed", range(20))
def test_five_per_cent_in_one_node_are_found_there_alone(trials, seed):
    base, other = trials(seed, 8, 0.005), trials(seed + 1000, 8, 0.005, ip4_lookup=1.05)
    found = outcomes("cycles>3%", base, other)
    assert [part for part, outcome in found.items() if outcome == "fails"] == ["ip4-lookup"]
    assert found.keys() == {"all", *NODES}
    assert set(outcomes("cycles@all>3%", base, other).values()) == {"holds"}
    assert outcomes("cycles@ip4-lookup>3%", base, other) == {"ip4-lookup": "fails"}
    assert "fails" not in outcomes("cycles>6%", base, other).values()


@pytest.mark.parametrize("seed", range(20))
def test_a_growth_of_all_is_found(trials, seed):
    grown = dict.fromkeys((name.replace("-", "_") for name in NODES), 1.05)
    base, other = trials(seed, 8, 0.005), trials(seed + 1000, 8, 0.005, **grown)
    assert outcomes("cycles@all>3%", base, other) == {"all": "fails"}


def test_none_is_invented_in_noise_that_is_larger_than_the_limit(trials):
    """Medians of the same thing differ by more than 3 % there; at most one run in ten fails."""
    runs = 100
    beyond = failed = 0
    for seed in range(runs):
        base, other = trials(seed, 8, 0.08), trials(seed + 1000, 8, 0.08)
        judged = judged_of("cycles>3%", base, other)
        beyond += any(one.change > 3 for one in judged)
        failed += any(one.outcome == "fails" for one in judged)
    assert beyond > runs / 2
    assert failed <= runs / 10


def in_turn(trials, seed, repeats, **factors):
    """Pairs on a machine that is a quarter slower or faster for one pair than for the next."""
    chance = random.Random(seed)
    base, other = [], []
    for pair in range(repeats):
        state = dict.fromkeys((name.replace("-", "_") for name in NODES), chance.uniform(0.8, 1.25))
        planted = {name: factor * factors.get(name, 1) for name, factor in state.items()}
        base += trials(seed * 100 + pair, 1, 0.01, **state)
        other += trials(seed * 100 + pair + 50, 1, 0.01, **planted)
    return base, other


@pytest.mark.parametrize("seed", range(20))
def test_pairs_find_what_the_machine_hides(trials, seed):
    base, other = in_turn(trials, seed, 10, ip4_lookup=1.06)
    judged = judged_of("cycles>3%", base, other, PAIRS)
    assert [one.part for one in judged if one.outcome == "fails"] == ["ip4-lookup"]
    assert "fails" not in outcomes("cycles>3%", base, other).values()


def test_pairs_invent_none(trials):
    failed = 0
    for seed in range(40):
        base, other = in_turn(trials, seed, 10)
        judged = judged_of("cycles>3%", base, other, PAIRS)
        failed += any(one.outcome == "fails" for one in judged)
    assert failed == 0


def test_too_few_pairs_are_reported(trials):
    base, other = in_turn(trials, 1, 4, ip4_lookup=1.08)
    judged = judged_of("cycles>3%", base, other, PAIRS)
    (one,) = [one for one in judged if one.outcome != "holds"]
    assert (one.part, one.outcome, one.repeats_needed) == ("ip4-lookup", "unknown", 7)


def test_runs_measured_in_turn_are_pairs(trials):
    """Only where they alternate: else the machine's states are not the same for both."""
    run = load_run(RUNS / "base")
    base, other = in_turn(trials, 3, 10, ip4_lookup=1.06)

    def side(name, results, first, step):
        return Side(name, tuple(
            run.model_copy(update={"started": run.started + timedelta(minutes=first + step * i),
                                   "tests": ("U2",), "results": (one,)})
            for i, one in enumerate(results)
        ))  # fmt: skip

    def failed(*sides):
        (pair,) = compare(sides, [parse_gate("cycles>3%")])
        return [one.part for one in pair.gates if one.outcome == "fails"]

    assert failed(side("old", base, 0, 2), side("new", other, 1, 2)) == ["ip4-lookup"]
    assert failed(side("old", base, 0, 1), side("new", other, 60, 1)) == []


def test_a_pair_of_runs_is_one_of_their_medians(trials):
    """Trials of a run are noisier than runs are: its median is a better value than any of them."""

    def found(seed, repeats):
        def runs(side):
            return [
                trials(1000 * seed + 10 * pair + side, repeats, 0.04, ip4_lookup=1 + 0.05 * side)
                for pair in range(8)
            ]

        gate, methods = parse_gate("cycles@ip4-lookup>3%"), {"U2": PAIRS}
        return judge(gate, {"U2": (runs(0), runs(1))}, methods)[0].outcome == "fails"

    alone, median_of_nine = (sum(found(seed, n) for seed in range(20)) for n in (1, 9))
    assert alone < median_of_nine
    assert median_of_nine >= 19


def test_too_few_repeats_are_reported_and_not_passed(trials):
    base, other = trials(1, 3, 0.005), trials(2, 3, 0.005, ip4_lookup=1.05)
    judged = judged_of("cycles>3%", base, other)
    (one,) = [one for one in judged if one.outcome != "holds"]
    assert (one.part, one.outcome) == ("ip4-lookup", "unknown")
    needed = one.repeats_needed
    assert needed > 3
    base, other = trials(1, needed, 0.005), trials(2, needed, 0.005, ip4_lookup=1.05)
    assert outcomes("cycles>3%", base, other)["ip4-lookup"] == "fails"


def test_a_fall_of_the_rate(trial):
    def rates(*values):
        return [trial.model_copy(update={"received_pps": value}) for value in values]

    base, other = rates(10e6, 10.1e6, 10.2e6, 9.9e6), rates(9e6, 9.1e6, 9.2e6, 8.9e6)
    assert outcomes("rate<-2%", base, other) == {"all": "fails"}
    assert outcomes("received_pps<-20%", base, other) == {"all": "holds"}
    assert outcomes("rate<-500000", base, other) == {"all": "fails"}
    assert outcomes("rate>2%", base, other) == {"all": "holds"}


@dataclass
class Loss:
    """Part of a result that a gate on losses reads."""

    loss_percent: float


def test_a_growth_of_losses_is_in_points():
    base, other = [Loss(0.0)] * 4, [Loss(value) for value in (0.2, 0.3, 0.25, 0.2)]
    for gate in ("loss>0.1", "loss_percent>0.1%"):
        (one,) = judged_of(gate, base, other)
        assert one.outcome == "fails"
        assert one.change == pytest.approx(0.225)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("cycles", "expected a change as"),
        ("cycles>", "expected a change as"),
        ("cycles>3%%", "expected a change as"),
        ("clocks>3%", "no such figure; expected one of cycles, rate"),
        ("cycles>-3%", "expected > with a growth"),
        ("rate<2%", "expected > with a growth"),
    ],
)
def test_a_gate_that_can_not_be_read(text, reason):
    with pytest.raises(GateError, match=reason):
        parse_gate(text)


@pytest.fixture
def repeated(tmp_path, trials):
    """Folders of two runs whose U2 was repeated; the other's lookup costs 5 % more."""
    for name, results in (
        ("base", trials(1, 8, 0.005)),
        ("same", trials(2, 8, 0.005)),
        ("other", trials(3, 8, 0.005, ip4_lookup=1.05)),
    ):
        folder = tmp_path / "runs" / name
        shutil.copytree(RUNS / "base", folder)
        many = tuple(
            one.model_copy(update={"repeat": number, "trial": f"U2.{number}"})
            for number, one in enumerate(results, start=1)
        )
        run = load_run(folder).model_copy(update={"results": many, "tests": ("U2",)})
        (folder / "run.json").write_text(run.model_dump_json(by_alias=False))
    return tmp_path


def test_the_command_ends_with_3_for_a_change_and_0_without(linerate, repeated):
    words = ("compare", "runs/base", "--fail-if", "cycles>3%", "--fail-if", "loss>1")
    done = linerate(*words, "runs/other", "--json", "--junit", "gates.xml")
    assert done.returncode == 3, done.stderr
    (pair,) = result_of(done.stdout)
    assert [one["part"] for one in pair["gates"] if one["outcome"] == "fails"] == ["ip4-lookup"]
    found = cases_of((repeated / "gates.xml").read_text())
    assert {name: outcome for name, (outcome, _) in found.items()} == {
        "U2: cycles>3%": "failure",
        "U2: loss>1": "passed",
    }
    assert "FAILS" in linerate(*words, "runs/other").stdout
    done = linerate(*words, "runs/same")
    assert (done.returncode, "FAILS" in done.stdout) == (0, False)


def test_a_mistaken_gate_is_a_mistake_of_the_command_line(linerate, repeated):
    done = linerate("compare", "runs/base", "runs/other", "--fail-if", "clocks>3%")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--fail-if 'clocks>3%': no such figure" in done.stderr


def test_a_baseline_is_kept_by_its_name(linerate, repeated):
    assert linerate("baseline", "main", "runs/base").stdout == "main: base\n"
    assert (
        linerate("baseline", "old", "runs/same", "runs/base").stdout
        == "main: base\nold: same, base\n"
    )
    done = linerate(
        "compare", "--baseline", "main", "runs/other", "--fail-if", "cycles>3%", "--json"
    )
    assert done.returncode == 3, done.stderr
    (pair,) = result_of(done.stdout)
    assert (pair["base"], pair["other"]) == ("main", "other")
    assert result_of(linerate("baseline", "--json").stdout) == {
        "main": ["base"],
        "old": ["same", "base"],
    }
    assert linerate("baseline", "old", "--remove").stdout == "main: base\n"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("baseline", "none"), "runs: no baseline 'none'; there are none"),
        (("baseline", "../x", "runs/base"), "'../x': expected a name of letters"),
        (("baseline", "main", "elsewhere"), "elsewhere: not in runs"),
        (("compare", "--baseline", "main", "runs/other"), "no baseline 'main'"),
    ],
)
def test_what_is_no_baseline(linerate, repeated, words, reason):
    shutil.copytree(repeated / "runs" / "base", repeated / "elsewhere")
    done = linerate(*words)
    assert (done.returncode, done.stdout) == (1, "")
    assert reason in done.stderr


def test_labels_are_kept_and_found(linerate, tmp_path):
    words = ("bench", "--only", "U2", "--label", "commit=1f2e", "--label", "note=a, b=c", "--json")
    done = linerate(*words, FAKE_DUT_PPS="5e6")
    assert result_of(done.stdout)["labels"] == {"commit": "1f2e", "note": "a, b=c"}
    for text, count in (("labels=commit=1f2e", 1), ("labels=commit=0000", 0), ("labels!=b=c", 0)):
        found = result_of(linerate("runs", "--filter", text, "--json").stdout)
        assert len(found) == count
    refused = linerate("bench", "--label", "commit")
    assert refused.returncode == 2
    assert "expected KEY=VALUE" in refused.stderr


def test_too_much_noise_for_a_limit_is_reported_with_the_repeats_that_would_do(linerate, repeated):
    """A gate holds there, but would have held with a change as large as its limit, too."""
    words = ("compare", "runs/base", "runs/same", "--format", "markdown", "--fail-if")
    precise = linerate(*words, "cycles@all>3%")
    assert (precise.returncode, "too noisy" in precise.stdout) == (0, False)
    assert "noise: a change as large as its limit is found in 1 of 1" in precise.stdout
    noisy = linerate(*words, "cycles@all>0.1%")
    assert "too noisy: a change as large as its limit is found in 0 of 1 only" in noisy.stdout
    assert "### Repeats of each that would do" in noisy.stdout
    (pair,) = result_of(linerate(*words[:3], "--fail-if", "cycles@all>0.1%", "--json").stdout)
    (one,) = pair["gates"]
    assert one["repeats"] == 8
    assert one["repeats_to_tell"] is None or one["repeats_to_tell"] > 8
    assert one["is_precise"] is False
