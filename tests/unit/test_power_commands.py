"""`linerate power` and `linerate datasheet` as a user runs them."""

import json

import pytest
from tests.command import result_of

from linerate.results.store import RunFolder

from .power_devices import answer, web


@pytest.fixture
def folder(tmp_path, run, result, evidence):
    """A run on disk, with the times of its trials."""
    made = RunFolder.create(tmp_path / "runs", "router")
    made.save(run(result("U2"), finished="2026-11-21T10:01:00Z"))
    made.save_measurement("U2", evidence())
    events = (("trial", 99), ("sending", 100), ("draining", 120), ("closed", 121))
    lines = [
        json.dumps({"event": event, "number": 1, "at": 1_795_000_000 + at}) for event, at in events
    ]
    lines.append(json.dumps({"event": "measured", "number": 1, "trial": "U2", "at": 1_795_000_122}))
    (made.path / "live.jsonl").write_text("\n".join(lines) + "\n")
    return made.path


def plug():
    pages = {"/shelly": {"gen": 2}, "/rpc/Shelly.GetStatus": {"switch:0": {"apower": 47.3}}}
    return web(lambda path, _headers: answer(pages[path]))


class TestRead:
    def test_source_and_keys(self, linerate):
        with plug() as url:
            done = linerate("power", "read", "shelly", f"url={url}", "accuracy_percent=1")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("47.3 W; power: shelly (all that hangs on the plug)")
        assert "own 1 % is in ±" in done.stdout

    def test_testbed(self, linerate, tmp_path):
        with plug() as url:
            (tmp_path / "lab.yaml").write_text(f"dut: {{power: {{source: shelly, url: '{url}'}}}}")
            done = linerate("power", "read", "lab.yaml", "--json")
        found = result_of(done.stdout)
        assert found["watts"] == 47.3
        assert found["meter"]["source"] == "shelly"

    def test_counter_is_read_twice(self, linerate, tmp_path):
        zone = tmp_path / "intel-rapl:0"
        zone.mkdir()
        for name, content in (("name", "package-0"), ("energy_uj", "5"),
                              ("max_energy_range_uj", "262143328850")):  # fmt: skip
            (zone / name).write_text(f"{content}\n")
        done = linerate("power", "read", "rapl", f"root={tmp_path}")
        assert done.stdout.startswith("0 W; power: rapl")
        assert "energy counter in steps of 0.001 J" in done.stdout

    @pytest.mark.parametrize(
        ("words", "line", "code"),
        [
            (["shelly", "url=http://8.8.8.8"], "not the public 8.8.8.8", 2),
            (["shelly"], "url: required, but missing", 2),
            (["shelly", "url"], "expected KEY=VALUE, not 'url'", 2),
            (["wattmeter", "url=http://10.0.0.7"], "wattmeter", 2),
            (["nowhere.yaml"], "nowhere.yaml: no such file", 2),
            (["command", "command=exit 3"], "command: sh:", 1),
            (["ipmi", "host=10.0.0.9", "password_env=NOT_SET_HERE"], "NOT_SET_HERE is not set", 1),
        ],
    )
    def test_what_can_not_be_done_is_one_line(self, linerate, words, line, code):
        done = linerate("power", "read", *words)
        assert done.returncode == code
        assert line in done.stderr
        assert done.stderr.count("\n") == 1
        assert done.stdout == ""


class TestAttach:
    def test_power_of_a_run(self, linerate, folder, tmp_path):
        rows = [f"{1_795_000_000 + at},{90 if 100 <= at <= 120 else 40}.0" for at in range(60, 160)]
        (tmp_path / "meter.csv").write_text("\n".join(["time,watts", *rows]))
        done = linerate("power", "attach", str(folder), "meter.csv", "--accuracy", "1")
        assert (done.returncode, done.stderr) == (0, "")
        assert "U2: 90.0 ±0.9 W under load, 40.0 ±0.3 W idle" in done.stdout
        shown = linerate("report", str(folder), "--format", "markdown").stdout
        assert "90.0 ±0.9" in shown
        assert "power: meter.csv, read each 1 s, in steps of 0.1 W" in shown

    @pytest.mark.parametrize(
        ("content", "line"),
        [("time,watts\n1700000000,5\n", "--shift"), ("volts\n5\n", "expected columns")],
    )
    def test_mistakes(self, linerate, folder, tmp_path, content, line):
        (tmp_path / "meter.csv").write_text(content)
        done = linerate("power", "attach", str(folder), "meter.csv")
        assert done.returncode != 0
        assert line in done.stderr
        assert done.stderr.count("\n") == 1


class TestDatasheet:
    def test_text_and_files(self, linerate, folder, tmp_path):
        done = linerate("datasheet", str(folder), "--name", "Mini PC", "--price", "249EUR")
        assert (done.returncode, done.stderr) == (0, "")
        assert "Mini PC" in done.stdout
        assert "249 EUR" in done.stdout
        page = linerate("datasheet", str(folder), "--format", "html", "-o", "box.html")
        assert page.stdout == "box.html\n"
        assert (tmp_path / "box.html").read_text().startswith("<!DOCTYPE html>")
        found = result_of(linerate("datasheet", str(folder), "--json").stdout)
        assert found[0]["lines"][0]["kind"] == "received"

    def test_ranking(self, linerate, folder):
        done = linerate("datasheet", str(folder), str(folder), "--name", "one", "--name", "two")
        assert "Ranking by packets a second" in done.stdout

    @pytest.mark.parametrize(
        ("words", "line"),
        [
            (["--price", "cheap"], "--price: expected a number"),
            (["--name", "a", "--name", "b"], "--name: expected one for each of 1 boxes, not 2"),
            (["--format", "html"], "needs -o FILE.html"),
        ],
    )
    def test_mistakes(self, linerate, folder, words, line):
        done = linerate("datasheet", str(folder), *words)
        assert done.returncode == 2
        assert line in done.stderr
