"""Energy over a stretch of time from readings at their own interval, with an honest error."""

import threading
import time
from collections.abc import Iterator

import pytest
from pydantic import TypeAdapter

from linerate.analysis.power_windows import At, nonsense, window
from linerate.lab.metered import Watch, meter_of
from linerate.lab.power import MeterError
from linerate.lab.power._sampling import Sampler
from linerate.lab.trial import run_trial
from linerate.model.ledger import PacketLedger
from linerate.model.measurement import Load, Progress, Reading
from linerate.model.power import (
    Estimate,
    MeterAbout,
    PowerReading,
    PowerTrial,
    PowerWindow,
    figures_of,
)
from linerate.model.power_sources import Power


def about(**keys) -> MeterAbout:
    keys = {"interval_seconds": 1.0, "resolution_watts": 0.1} | keys
    return MeterAbout(source="shelly", covers="the plug", **keys)


def read_each(interval: float, seconds: float, watts) -> list[At]:
    count = int(seconds / interval)
    return [At(n * interval, watts(n * interval), None) for n in range(count + 1)]


def known(value):
    """The value, which is there."""
    assert value is not None
    return value


def measured(*parameters):
    """The window, which is there."""
    return known(window(*parameters))


class TestIntegration:
    def test_steady_power(self):
        readings = read_each(1.0, 20, lambda _at: 50.0)
        found = measured(readings, 5.0, 15.0, about())
        assert found.watts.value == 50
        assert found.joules.value == 500
        assert found.by == "integration"
        # Only the step of the reading is uncertain.
        assert found.watts.plus_minus == pytest.approx(0.05)

    def test_ramp(self):
        readings = read_each(0.1, 20, lambda at: 10 * at)
        found = measured(readings, 5.0, 15.0, about(interval_seconds=0.1))
        assert found.watts.value == pytest.approx(100, rel=0.01)

    def test_what_the_source_still_shows_of_before(self):
        """A plug that lags by an interval shows idle power at the beginning of the load."""
        readings = read_each(1.0, 20, lambda at: 90.0 if at > 5.5 else 40.0)
        found = measured(readings, 5.0, 15.0, about())
        assert found.watts.value == 90

    def test_short_load_says_that_it_may_have_been_of_before(self):
        readings = read_each(1.0, 20, lambda at: 90.0 if 6.0 <= at <= 7.0 else 40.0)
        found = measured(readings, 5.2, 7.2, about())
        assert abs(found.watts.value - 90) <= found.watts.plus_minus
        assert found.watts.plus_minus > 20

    def test_spread(self):
        readings = read_each(1.0, 40, lambda at: 50 + (3 if int(at) % 2 else -3))
        found = measured(readings, 0.0, 40.0, about())
        assert found.watts.value == pytest.approx(50, abs=found.watts.plus_minus)
        assert 0.8 < found.watts.plus_minus < 1.3

    def test_error_of_the_meter_is_in_it(self):
        readings = read_each(1.0, 20, lambda _at: 50.0)
        found = measured(readings, 5.0, 15.0, about(accuracy_percent=2.0))
        assert found.watts.plus_minus == pytest.approx(1.0, rel=0.01)

    def test_nothing_read(self):
        assert window([At(0.0, 50.0, None), At(30.0, 50.0, None)], 5.0, 15.0, about()) is None

    def test_truth_lies_within_in_most_cases(self):
        """Simulated: a box whose power wanders, read by a plug of 1 s and 0.1 W."""
        import random

        source = random.Random(18)
        within = 0
        for _ in range(300):
            level, noise = source.uniform(20, 200), source.uniform(0.0, 3.0)
            at = source.uniform(0, 1)
            readings = []
            while at < 30:
                power = level if at >= 10 else level / 2
                readings.append(At(at, round(power + source.gauss(0, noise), 1), None))
                at += 1.0
            found = measured(readings, 10.0, 25.0, about())
            within += abs(found.watts.value - level) <= found.watts.plus_minus
        assert within >= 0.92 * 300


class TestCounter:
    KEYS = {"interval_seconds": 0.25, "resolution_watts": 0.0, "resolution_joules": 0.001}

    def test_growth_within(self):
        readings = [At(n * 0.25, None, 20 * n * 0.25) for n in range(80)]
        found = measured(readings, 5.1, 15.1, about(**self.KEYS))
        assert found.by == "counter"
        assert found.watts.value == pytest.approx(20)
        assert found.joules.value == pytest.approx(200)
        assert found.watts.plus_minus < 0.01

    def test_coarse_counter(self):
        readings = [At(float(n), None, float(100 * (n // 5))) for n in range(30)]
        found = measured(readings, 5.0, 15.0, about(resolution_joules=100.0))
        assert found.watts.plus_minus >= 10

    def test_one_reading_is_no_energy(self):
        assert window([At(6.0, None, 5.0)], 5.0, 7.0, about(**self.KEYS)) is None


class TestFigures:
    def of(self, load: float, idle: float, pps: float, **keys):
        def made(watts: float) -> PowerWindow:
            estimate = Estimate(value=watts, plus_minus=watts * keys.get("share", 0.01))
            joules = Estimate(value=watts * 10, plus_minus=watts / 10)
            return PowerWindow(
                seconds=10, readings=10, watts=estimate, joules=joules, by="integration"
            )

        trial = PowerTrial(
            about=about(**keys.get("about", {})),
            idle_before=made(idle),
            load=made(load),
            idle_after=made(idle),
        )
        return figures_of(trial, pps)

    def test_efficiency(self):
        found = self.of(load=50.0, idle=40.0, pps=10e6)
        assert found.mpps_per_watt.value == pytest.approx(0.2)
        assert found.nj_per_packet.value == pytest.approx(5000)
        assert found.over_idle_watts.value == pytest.approx(10)
        assert found.nj_per_packet_over_idle.value == pytest.approx(1000)
        assert found.nj_per_packet.plus_minus == pytest.approx(50)

    def test_error_of_one_meter_is_not_taken_twice(self):
        """A plug that reads 2 % too much reads 2 % too much of a difference, too."""
        found = self.of(load=100.0, idle=90.0, pps=1e6, share=0.02, about={"accuracy_percent": 2.0})
        assert found.over_idle_watts.plus_minus < 0.5

    def test_no_packets(self):
        found = self.of(load=50.0, idle=40.0, pps=0.0)
        assert found.nj_per_packet is None
        assert found.mpps_per_watt.value == 0

    def test_drift_between_before_and_after(self):
        window_of = self.of(1.0, 1.0, 1.0)
        assert window_of.idle_watts.plus_minus < 0.02
        trial = PowerTrial(
            about=about(),
            idle_before=PowerWindow(seconds=5, readings=5, by="integration",
                                    watts=Estimate(value=40, plus_minus=0.1),
                                    joules=Estimate(value=200, plus_minus=0.5)),
            idle_after=PowerWindow(seconds=5, readings=5, by="integration",
                                   watts=Estimate(value=46, plus_minus=0.1),
                                   joules=Estimate(value=230, plus_minus=0.5)),
        )  # fmt: skip
        idle = known(trial.idle_watts)
        assert idle.value == 43
        assert idle.plus_minus >= 3


@pytest.mark.parametrize(
    ("reading", "word"),
    [
        (PowerReading(), "no figure"),
        (PowerReading(watts=float("nan")), "expected a number"),
        (PowerReading(watts=-3.0), "expected 0"),
        (PowerReading(watts=2e6), "expected 0"),
        (PowerReading(watts=5.0), ""),
    ],
)
def test_nonsense(reading: PowerReading, word: str):
    assert word in nonsense(reading)
    assert bool(nonsense(reading)) == bool(word)


class _Meter:
    """A meter that does as it is set."""

    def __init__(self, read, **keys) -> None:
        self.about = about(**({"interval_seconds": 0.05} | keys))
        self.read = read
        self.closed = threading.Event()

    def close(self) -> None:
        self.closed.set()


def eventually(condition) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


class TestSampler:
    def test_it_reads_until_it_is_stopped(self):
        meter = _Meter(lambda: PowerReading(watts=7.0))
        sampler = Sampler(meter)
        sampler.start()
        eventually(lambda: len(sampler.readings(0, 1e12)) > 2)
        sampler.stop()
        assert meter.closed.wait(30)

    def test_a_meter_that_fails_is_asked_again(self):
        answers: Iterator[object] = iter(
            [MeterError("gone"), RuntimeError("a bug"), PowerReading(watts=5.0)]
        )

        def read() -> PowerReading:
            found = next(answers, PowerReading(watts=5.0))
            if isinstance(found, Exception):
                raise found
            assert isinstance(found, PowerReading)
            return found

        sampler = Sampler(_Meter(read))
        sampler.start()
        eventually(lambda: sampler.readings(0, 1e12))
        sampler.stop()
        assert sampler.failures.count == 2
        assert "a bug" in sampler.failures.reason

    def test_a_meter_that_hangs_is_left_behind(self):
        release = threading.Event()

        def read() -> PowerReading:
            release.wait(60)
            return PowerReading(watts=1.0)

        sampler = Sampler(_Meter(read))
        sampler.start()
        watch = Watch(sampler, idle_seconds=0)
        eventually(lambda: sampler.failures.asked_at is not None)
        asked_at = known(sampler.failures.asked_at)
        eventually(lambda: time.monotonic() > asked_at + 0.1)
        watch.rest(10)
        watch.begin()
        watch._began -= 10
        trial = known(watch.trial())
        sampler.stop()
        assert trial.load is None
        assert "no answer for" in trial.missing
        release.set()


class TestWatch:
    def test_failures_are_the_reason(self):
        def read() -> PowerReading:
            raise MeterError("http://10.0.0.7: no route to host")

        sampler = Sampler(_Meter(read))
        sampler.start()
        watch = Watch(sampler, idle_seconds=0.1)
        watch.rest(10)
        watch.begin()
        eventually(lambda: sampler.failures.count)
        watch._began -= 10
        trial = known(watch.trial())
        sampler.stop()
        assert trial.missing == "http://10.0.0.7: no route to host"
        assert known(figures_of(trial, 1e6)).missing == trial.missing

    def test_windows(self):
        load = threading.Event()
        sampler = Sampler(_Meter(lambda: PowerReading(watts=90.0 if load.is_set() else 40.0)))
        sampler.start()
        watch = Watch(sampler, idle_seconds=0.5)
        watch.rest(1.5)
        watch.begin()
        load.set()
        time.sleep(1.5)
        load.clear()
        watch.end()
        trial = known(watch.trial())
        sampler.stop()
        assert trial.idle_before.watts.value == pytest.approx(40)
        assert trial.load.watts.value == pytest.approx(90, abs=trial.load.watts.plus_minus + 1)
        assert trial.idle_after.watts.value == pytest.approx(40)
        assert trial.samples[0].at_us < 0 < trial.samples[-1].at_us

    def test_a_short_trial_has_none_and_is_not_waited_for(self):
        sampler = Sampler(_Meter(lambda: PowerReading(watts=90.0)))
        sampler.start()
        watch = Watch(sampler, idle_seconds=3000)
        watch.rest(0.25)
        watch.begin()
        watch.end()
        trial = watch.trial()
        assert trial.load is None
        assert "give --duration more" in trial.missing
        sampler.stop()


class TestAtBox:
    """Files and commands of a box, by the way that boxes are reached."""

    def spec(self, **keys):
        return TypeAdapter(Power).validate_python(keys | {"on": "box"})

    def test_command(self):
        with meter_of(self.spec(source="command", command="echo 41.5 W"), "local") as meter:
            assert meter.read().watts == 41.5

    def test_sensor(self, tmp_path):
        folder = tmp_path / "hwmon0"
        folder.mkdir()
        for name, content in (("name", "ina226"), ("power1_input", "11250000")):
            (folder / name).write_text(f"{content}\n")
        with meter_of(self.spec(source="hwmon", root=str(tmp_path)), "local") as meter:
            assert meter.read().watts == 11.25

    def test_failure_there_is_one_line(self):
        spec = self.spec(source="command", command="echo no meter here >&2; exit 3")
        with meter_of(spec, "local") as meter, pytest.raises(MeterError, match="no meter here"):
            meter.read()

    def test_box_that_is_not_reached(self):
        spec = self.spec(source="command", command="echo 5")
        with meter_of(spec, "netns:lr-none") as meter, pytest.raises(MeterError) as error:
            meter.read()
        assert "\n" not in str(error.value)

    def test_password_is_not_passed_on(self, monkeypatch):
        monkeypatch.setenv("BMC", "b0ard")
        spec = self.spec(source="ipmi", password_env="BMC")
        with meter_of(spec, "local") as meter, pytest.raises(MeterError, match="is not passed on"):
            meter.read()


def test_idle_time_is_before_the_first_readings():
    """Waited for once counters are read, it would be part of the trial's time ledger."""
    order: list[str] = []

    class Tester:
        def rest(self, _load_seconds: float) -> None:
            order.append("rest")

        def power(self) -> PowerTrial:
            order.append("power")
            return PowerTrial(about=about(), missing="as asked")

        def __getattr__(self, name: str):
            def called(*_words: object):
                order.append(name)
                if name == "progress":
                    return Progress(trial=1, state="idle" if "start" not in order else "done",
                                    elapsed_us=1, drained=True)  # fmt: skip
                if name == "readings":
                    return Reading(ledger=PacketLedger(), workers=())
                return {"ledger": PacketLedger(), "roundtrips": (), "workers": ()}.get(name, {})

            return called

    measured = run_trial(
        Tester(),
        Load(frame_bytes=64, directions=1, link_bps=10**10, scale_ppm=1000, duration_us=1000),
        lambda _progress: None,
    )
    assert order.index("rest") < order.index("readings")
    assert order.index("power") > max(n for n, one in enumerate(order) if one == "readings")
    assert known(measured.power).missing == "as asked"
