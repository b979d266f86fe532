"""Time of a Linux box's CPU that its hypervisor took, reported or not, and the verdict on it."""

import pytest

from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.model.box import Answer, BoxAnswers
from linerate.model.evidence import Worker
from linerate.model.measurement import Load
from linerate.parsers.boxes import box_evidence

CPUINFO = "cpu MHz : 2000.000\n"
SOFTNET = "{:08x} 00000000" + " 00000000" * 11 + "\n"


def box(seconds: float, packets: int, uptime: bool = True, **ticks: int) -> BoxAnswers:
    """Answers at both ends of a window in which CPU 0 had these ticks."""
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    stats = (dict.fromkeys(names, 1000), {name: 1000 + ticks.get(name, 0) for name in names})
    moments = []
    for at, times in enumerate(stats):
        clock = f"{500 + at * seconds:.2f} 900.00\n" if uptime else ""
        row = "cpu0 " + " ".join(f"{times[name]}" for name in names) + " 0 0\n"
        texts = {"stat": clock + row, "softnet_stat": SOFTNET.format(at * packets)}
        moments += [_answer("load", name, text, at) for name, text in texts.items()]
    facts = _answer("facts", "cpuinfo", CPUINFO, 0)
    return BoxAnswers(kind="linux", at="local", ports={}, answers=(facts, *moments))


def _answer(moment, question, text, at):
    return Answer(moment=moment, question=question, command="", asked_us=at, took_us=1, text=text)


def worker(given: BoxAnswers) -> Worker:
    (found,) = box_evidence(given).workers
    return found


def test_ticks_that_a_clock_has_and_no_time_are_the_hypervisors():
    found = worker(box(10, 100_000, softirq=300, idle=200, system=100))
    assert (found.seconds, found.in_pps) == (10, 10_000)
    assert (found.spare_percent, found.stolen_percent, found.away_percent) == (20, 40, 50)
    # 3 s of 2 GHz.
    assert found.clocks_per_packet == pytest.approx(60_000)
    (text,) = box_evidence(box(10, 100_000, softirq=300, idle=300)).suspect
    assert text == (
        "CPU 0 of the box was taken away by its hypervisor for 40 % of the window (its timer did "
        "not tick)"
    )


def test_time_that_the_hypervisor_reports_is_no_missing_tick():
    found = worker(box(10, 100_000, softirq=300, idle=300, steal=400))
    assert (found.spare_percent, found.stolen_percent, found.away_percent) == (30, 40, 40)
    (text,) = box_evidence(box(10, 100_000, softirq=300, idle=300, steal=400)).suspect
    assert text.endswith("for 40 % of the window (steal)")


@pytest.mark.parametrize("given", [
    box(10, 100_000, softirq=500, idle=410),
    # Clock and times are not of one moment.
    box(0.9, 9_000, softirq=40, idle=20),
    # More than the clock has.
    box(10, 100_000, softirq=900, idle=200),
    # Answers of earlier runs have no clock.
    box(10, 100_000, uptime=False, softirq=300, idle=300),
])  # fmt: skip
def test_few_ticks_and_no_clock_tell_nothing(given):
    assert worker(given).stolen_percent == 0
    assert box_evidence(given).suspect == ()


#: 1 Mpps are asked for, and less is taken.
BACK = Load(
    frame_bytes=64, directions=1, link_bps=10**10, scale_ppm=67_200, duration_us=10_000_000,
    pushes_back=True,
)  # fmt: skip


@pytest.mark.parametrize(("ticks", "limit"), [
    ({"softirq": 300, "idle": 200}, "descheduled"),
    ({"softirq": 300, "idle": 200, "steal": 500}, "descheduled"),
    # More was idle than taken.
    ({"softirq": 100, "idle": 600}, "descheduled"),
    ({"softirq": 100, "idle": 820}, "unknown"),
    # Threads of the box had it: packets go before them.
    ({"softirq": 300, "idle": 200, "user": 500}, "unknown"),
    ({"softirq": 990, "idle": 10}, "worker-cpu"),
    ({"softirq": 860, "idle": 0}, "worker-cpu"),
])  # fmt: skip
def test_why_a_link_takes_no_more(evidence, ticks, limit):
    measured = evidence(load=BACK, sent=5_000_000, foreign=True)
    found = judged(measured.model_copy(update={"box": box(10, 5_000_000, **ticks)}))
    assert found.limit == limit, found.sentence
    if limit == "descheduled" and ticks["idle"] == 200:
        assert found.sentence == "kernel-cpu0 was ready to run and did not for 50 % of the time"
    if ticks["idle"] == 600:
        assert found.confidence == "low"
        assert "for 30 % of the time, and idle for 60 %" in found.sentence


def test_a_hypervisor_is_no_reason_where_the_link_took_all(evidence):
    all_of_it = round(10 * BACK.asked_pps)
    measured = evidence(load=BACK, sent=all_of_it, foreign=True)
    given = box(10, all_of_it, softirq=300, idle=200)
    assert judged(measured.model_copy(update={"box": given})).limit in ("none", "tester")


def judged(measured):
    return explain(evidence_of(measured, "U2", "evidence/U2.json"))
