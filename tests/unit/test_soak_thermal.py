"""Frequency, temperature and power of a soak: read from sysfs, kept, drawn."""

import json
from pathlib import Path

import pytest

from linerate.lab.power._hosts import HERE
from linerate.lab.thermal import ThermalReader
from linerate.report.figures.soak_intervals import pictures, throttling
from linerate.results.soak_minutes import Interval, intervals


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    files = {
        "devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "2400000",
        "devices/system/cpu/cpu1/cpufreq/scaling_cur_freq": "1800000",
        "class/hwmon/hwmon0/name": "nvme",
        "class/hwmon/hwmon0/temp1_input": "91000",
        "class/hwmon/hwmon1/name": "coretemp",
        "class/hwmon/hwmon1/temp1_input": "61000",
        "class/hwmon/hwmon1/temp2_input": "64000",
        "class/hwmon/hwmon1/temp3_input": "-128000",
        "class/thermal/thermal_zone0/temp": "27800",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{content}\n")
    return tmp_path


def test_cpus_of_a_server(sysfs: Path):
    found = ThermalReader(HERE, sysfs).read()
    assert found is not None
    assert (found.mhz_least, found.mhz_mean, found.celsius_most) == (1800, 2100, 64)


def test_a_board_with_thermal_zones_alone(sysfs: Path):
    (sysfs / "class/hwmon/hwmon1/name").write_text("other\n")
    found = ThermalReader(HERE, sysfs).read()
    assert found is not None
    assert found.celsius_most == pytest.approx(27.8)


def test_a_guest_says_nothing(tmp_path: Path):
    assert ThermalReader(HERE, tmp_path).read() is None


def test_a_file_that_is_gone(sysfs: Path):
    reader = ThermalReader(HERE, sysfs)
    (sysfs / "class/hwmon/hwmon1/temp1_input").unlink()
    found = reader.read()
    assert found is not None
    assert found.celsius_most is None
    assert found.mhz_mean == 2100


def hour(last_mhz: float, last_celsius: float) -> list[Interval]:
    return [
        Interval(60.0 * n, 5.0, 2400 + (last_mhz - 2400) * n / 60, 50 + (last_celsius - 50) * n / 60, 41.0)
        for n in range(61)
    ]  # fmt: skip


def test_throttling():
    assert "the machine throttles" in throttling(hour(1800, 92))
    assert throttling(hour(2390, 92)) == ""
    assert throttling(hour(1800, 50)) == ""
    assert throttling([]) == ""


def test_picture():
    (figure,) = pictures(hour(1800, 92))
    assert "frequency 1800 to 2400 MHz" in figure.alt
    assert figure.plot is not None
    assert [one["name"] for one in figure.plot["data"]] == [
        "rate",
        "frequency",
        "temperature",
        "power",
    ]


@pytest.mark.parametrize(
    ("every", "unit"), [(1.0, "seconds"), (60.0, "minutes"), (3600.0, "hours")]
)
def test_a_guest_has_rate_and_losses(every: float, unit: str):
    lossy = [Interval(every * n, 5.0, None, None, None, 7.0 * (n == 3)) for n in range(1, 10)]
    (figure,) = pictures(lossy)
    assert figure.title == "Over the soak: rate and packets lost"
    assert figure.plot is not None
    assert figure.plot["layout"]["xaxis"]["title"]["text"] == unit
    assert max(figure.plot["data"][1]["y"]) == 7
    assert max(figure.plot["data"][0]["x"]) == 9
    assert pictures(lossy[:1]) == []


def test_lines_that_are_no_minutes(tmp_path: Path):
    lines = [
        json.dumps({"seconds": 60, "pps": 5e6, "celsius_most": 61, "lost": 2}),
        "{",
        "7",
        '{"seconds": "x"}',
    ]
    (tmp_path / "minutes.jsonl").write_text("\n".join(lines))
    assert intervals(tmp_path) == [Interval(60.0, 5.0, None, 61.0, None, 2.0)]
    assert intervals(tmp_path / "none") == []
