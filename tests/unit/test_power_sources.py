"""Each source of power against a device made for it: its formats, and its failures."""

import json
import os
import socket
import time
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError
from tests.unit.power_devices import answer, basic, digest, upsd, web

from linerate.base.errors import TestbedError
from linerate.lab.power import MeterError, open_meter
from linerate.lab.power._hosts import AtBox, HostError
from linerate.model import testbed
from linerate.model.power_sources import SOURCES, Power, Shelly


def spec(**keys):
    return TypeAdapter(Power).validate_python(keys)


def read(box=None, **keys):
    meter = open_meter(spec(**keys), box)
    try:
        return meter.read()
    finally:
        meter.close()


def refused(**keys) -> str:
    with pytest.raises(MeterError) as error:
        read(**keys)
    text = str(error.value)
    assert "\n" not in text
    return text


class TestRapl:
    @pytest.fixture
    def tree(self, tmp_path: Path) -> Path:
        """As a server with two packages has it, memory and cores beneath them."""
        zones = {
            "intel-rapl:0": ("package-0", 1_000_000),
            "intel-rapl:0:0": ("core", 500_000),
            "intel-rapl:0:1": ("dram", 200_000),
            "intel-rapl:1": ("package-1", 5_000_000),
            "intel-rapl:2": ("psys", 9_000_000),
            "intel-rapl-mmio:0": ("package-0", 1_000_000),
        }
        for folder, (name, energy) in zones.items():
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "name").write_text(f"{name}\n")
            (tmp_path / folder / "energy_uj").write_text(f"{energy}\n")
            (tmp_path / folder / "max_energy_range_uj").write_text("262143328850\n")
        return tmp_path

    def add(self, tree: Path, zone: str, value: int) -> None:
        (tree / zone / "energy_uj").write_text(f"{value}\n")

    def test_packages_and_memory_without_their_parts(self, tree: Path):
        meter = open_meter(spec(source="rapl", root=str(tree)))
        assert meter.read().joules == 0
        for zone in ("intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:1", "intel-rapl:2"):
            before = int((tree / zone / "energy_uj").read_text())
            self.add(tree, zone, before + 3_000_000)
        time.sleep(0.02)
        # Package 3 J and memory 3 J: cores are in the package, the platform was not asked for.
        assert meter.read().joules == pytest.approx(6.0)

    def test_wrap(self, tree: Path):
        self.add(tree, "intel-rapl:1", 262143328850 - 999_999)
        meter = open_meter(spec(source="rapl", root=str(tree), zones=["package-1"]))
        meter.read()
        self.add(tree, "intel-rapl:1", 500_000)
        time.sleep(0.02)
        assert meter.read().joules == pytest.approx(1.5)

    def test_restart_of_the_counter_is_no_energy(self, tree: Path):
        self.add(tree, "intel-rapl:1", 100_000_000_000)
        meter = open_meter(spec(source="rapl", root=str(tree), zones=["package-1"]))
        meter.read()
        self.add(tree, "intel-rapl:1", 12)
        with pytest.raises(MeterError, match="started again"):
            meter.read()
        self.add(tree, "intel-rapl:1", 2_000_012)
        time.sleep(0.02)
        assert meter.read().joules == pytest.approx(2.0)

    def test_zone_that_is_not_there(self, tree: Path):
        text = refused(source="rapl", root=str(tree), zones=["gpu"])
        assert "psys" in text
        assert "expected gpu" in text

    def test_no_counters(self, tmp_path: Path):
        assert "no zones" in refused(source="rapl", root=str(tmp_path))

    def test_rubbish(self, tree: Path):
        (tree / "intel-rapl:0" / "energy_uj").write_text("lots\n")
        assert "expected a whole number" in refused(source="rapl", root=str(tree))

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read all")
    def test_not_allowed(self, tree: Path):
        (tree / "intel-rapl:0" / "energy_uj").chmod(0)
        assert "root may read it" in refused(source="rapl", root=str(tree))

    def test_at_the_box(self, tree: Path):
        def run(command: str, timeout_s: float) -> str:
            process = os.popen(command)
            text = process.read()
            if process.close():
                raise HostError(command)
            return text

        meter = open_meter(spec(source="rapl", root=str(tree), on="box"), AtBox(run))
        meter.read()
        self.add(tree, "intel-rapl:0", 2_000_000)
        time.sleep(0.02)
        assert meter.read().joules == pytest.approx(1.0)

    def test_box_that_is_not_reached(self, tree: Path):
        assert "needs a device" in refused(source="rapl", root=str(tree), on="box")


class TestHwmon:
    @pytest.fixture
    def tree(self, tmp_path: Path) -> Path:
        for folder, name, files in (
            ("hwmon0", "coretemp", {"temp1_input": "40000"}),
            ("hwmon1", "ina226", {"power1_input": "11250000", "power1_label": "12 V"}),
            ("hwmon2", "amd_energy", {"energy1_input": "1000000", "energy1_label": "Esocket0"}),
            ("hwmon3", "power_meter", {"power1_average": "88000000"}),
        ):
            (tmp_path / folder).mkdir()
            for file, content in (files | {"name": name}).items():
                (tmp_path / folder / file).write_text(f"{content}\n")
        return tmp_path

    def test_power(self, tree: Path):
        found = read(source="hwmon", root=str(tree), chip="ina226", sensor="12 V")
        assert found.watts == pytest.approx(11.25)

    def test_average(self, tree: Path):
        assert read(source="hwmon", root=str(tree), chip="power_meter").watts == 88

    def test_energy(self, tree: Path):
        assert read(source="hwmon", root=str(tree), chip="amd_energy").joules == 1

    def test_choice_of_several(self, tree: Path):
        text = refused(source="hwmon", root=str(tree))
        assert "ina226 12 V" in text
        assert "choose one" in text

    def test_none(self, tmp_path: Path):
        assert "none in watts" in refused(source="hwmon", root=str(tmp_path))


#: As `GET /status` and `/rpc/Shelly.GetStatus` answer, shortened.
SHELLY_1 = {
    "relays": [{"ison": True, "source": "http"}],
    "meters": [{"power": 31.74, "is_valid": True, "timestamp": 1606224, "total": 4711}],
    "uptime": 5,
}
SHELLY_2 = {
    "sys": {"uptime": 11081},
    "switch:0": {"id": 0, "output": True, "apower": 47.3, "voltage": 232.1, "current": 0.21,
                 "aenergy": {"total": 6.532, "by_minute": [45.199, 47.141, 88.397]}},
    "em1:1": {"id": 1, "act_power": 501.8, "aprt_power": 612.4, "pf": 0.84},
}  # fmt: skip


def shelly(gen: int, status: object):
    pages = {
        "/shelly": {"type": "SHPLG-S", "auth": False} if gen == 1 else {"gen": gen, "app": "PlusS"},
        "/status" if gen == 1 else "/rpc/Shelly.GetStatus": status,
    }
    return lambda path, _headers=None: answer(pages.get(path), 200 if path in pages else 404)


class TestShelly:
    def test_first_generation(self):
        with web(shelly(1, SHELLY_1)) as url:
            assert read(source="shelly", url=url).watts == 31.74

    @pytest.mark.parametrize("gen", [2, 3, 4])
    def test_later_generations(self, gen: int):
        with web(shelly(gen, SHELLY_2)) as url:
            assert read(source="shelly", url=url).watts == 47.3
            assert read(source="shelly", url=url, channel=1).watts == 501.8
            assert "no meter with number 3" in refused(source="shelly", url=url, channel=3)

    def test_meter_that_is_not_valid(self):
        status = {"meters": [{"power": 0, "is_valid": False}]}
        with web(shelly(1, status)) as url:
            assert "no meter" in refused(source="shelly", url=url)

    def test_password_of_the_first_generation(self, monkeypatch):
        monkeypatch.setenv("PLUG", "t0p")
        with web(basic("me", "t0p", shelly(1, SHELLY_1))) as url:
            assert read(source="shelly", url=url, user="me", password_env="PLUG").watts == 31.74
            text = refused(source="shelly", url=url)
            assert "status 401" in text
            assert "password_file" in text

    def test_password_of_later_generations(self, monkeypatch):
        monkeypatch.setenv("PLUG", "t0p")
        with web(digest("admin", "t0p", shelly(2, SHELLY_2))) as url:
            assert read(source="shelly", url=url, password_env="PLUG").watts == 47.3
            monkeypatch.setenv("PLUG", "wr0ng")
            text = refused(source="shelly", url=url, password_env="PLUG")
            assert "wr0ng" not in text


class TestTasmota:
    STATUS = {"StatusSNS": {"Time": "2026-11-24T12:00:00", "ENERGY": {
        "Total": 1.234, "Today": 0.1, "Power": 62, "ApparentPower": 70, "Factor": 0.89,
        "Voltage": 231, "Current": 0.303}}}  # fmt: skip

    def server(self, status: object):
        return web(lambda path, _h: answer(status if path == "/cm?cmnd=Status+8" else None))

    def test_power(self):
        with self.server(self.STATUS) as url:
            assert read(source="tasmota", url=url).watts == 62

    def test_phases(self):
        with self.server({"StatusSNS": {"ENERGY": {"Power": [10, 20.5, 3]}}}) as url:
            assert read(source="tasmota", url=url).watts == 33.5
            assert read(source="tasmota", url=url, channel=1).watts == 20.5
            assert "no meter" in refused(source="tasmota", url=url, channel=3)

    def test_old_versions(self):
        with self.server({"StatusPWR": {"Total": 0.5, "Power": "27"}}) as url:
            assert read(source="tasmota", url=url).watts == 27

    def test_a_plug_without_meter(self):
        with self.server({"StatusSNS": {"Time": "2026-11-24T12:00:00", "Switch1": "ON"}}) as url:
            assert "no meter" in refused(source="tasmota", url=url)

    def test_password(self, tmp_path: Path):
        file = tmp_path / "password"
        file.write_text("s3cret &\n")
        file.chmod(0o600)
        wanted = "/cm?user=admin&password=s3cret+%26&cmnd=Status+8"
        warning = {"WARNING": "Need user=<username>&password=<password>"}
        with web(lambda path, _h: answer(self.STATUS if path == wanted else warning)) as url:
            assert read(source="tasmota", url=url, password_file=str(file)).watts == 62
            assert "password_file" in refused(source="tasmota", url=url)

    def test_password_in_no_error(self, monkeypatch):
        monkeypatch.setenv("PLUG", "s3cret")
        with web(lambda _p, _h: (500, {}, b"")) as url:
            assert "s3cret" not in refused(source="tasmota", url=url, password_env="PLUG")


class TestRedfish:
    PAGES = {
        "/redfish/v1/Chassis": {"Members": [{"@odata.id": "/redfish/v1/Chassis/1"}]},
        "/redfish/v1/Chassis/1": {
            "Power": {"@odata.id": "/redfish/v1/Chassis/1/Power"},
            "EnvironmentMetrics": {"@odata.id": "/redfish/v1/Chassis/1/EnvironmentMetrics"},
        },
        "/redfish/v1/Chassis/1/Power": {
            "PowerControl": [
                {"Name": "System", "PowerConsumedWatts": 590, "PowerMetrics": {"IntervalInMin": 20}},
                {"Name": "CPU", "PowerConsumedWatts": 205},
            ]
        },
        "/redfish/v1/Chassis/1/EnvironmentMetrics": {
            "PowerWatts": {"DataSourceUri": "/redfish/v1/Chassis/1/Sensors/p", "Reading": 374.5}
        },
        "/redfish/v1/Chassis/1/Sensors/p": {
            "ReadingType": "Power", "ReadingUnits": "W", "Reading": 371},
    }  # fmt: skip

    def server(self, *without: str):
        pages = {path: page for path, page in self.PAGES.items() if path not in without}
        return web(lambda path, _h: answer(pages.get(path), 200 if path in pages else 404))

    def test_newer_place_first(self):
        with self.server() as url:
            assert read(source="redfish", url=url).watts == 374.5

    def test_older_place(self):
        with self.server("/redfish/v1/Chassis/1/EnvironmentMetrics") as url:
            assert read(source="redfish", url=url).watts == 590

    def test_sensor_by_path(self):
        with self.server() as url:
            path = "/redfish/v1/Chassis/1/Sensors/p"
            assert read(source="redfish", url=url, path=path).watts == 371

    def test_no_power(self):
        power = "/redfish/v1/Chassis/1/EnvironmentMetrics", "/redfish/v1/Chassis/1/Power"
        with self.server(*power) as url:
            assert "404" in refused(source="redfish", url=url)

    def test_links_that_lead_elsewhere(self):
        pages = {
            "/redfish/v1/Chassis": {"Members": [{"@odata.id": "http://evil.example/x"}, 7, None]}
        }
        with web(lambda path, _h: answer(pages.get(path))) as url:
            assert "no chassis" in refused(source="redfish", url=url)

    def test_certificate_that_no_one_signed(self, tmp_path: Path):
        missing = tmp_path / "none.pem"
        text = refused(source="redfish", url="https://127.0.0.1:1", certificate=str(missing))
        assert "no certificate" in text


class TestNut:
    def test_power(self):
        with upsd({"ups.realpower": "141"}) as port:
            assert read(source="nut", host="127.0.0.1", port=port, ups="lab").watts == 141

    def test_share_of_the_nominal_power(self):
        with upsd({"ups.load": "33", "ups.realpower.nominal": "400"}) as port:
            assert read(source="nut", host="127.0.0.1", port=port, ups="lab").watts == 132

    def test_apparent_power_is_none(self):
        with upsd({"ups.power": "180", "ups.load": "33"}) as port:
            text = refused(source="nut", host="127.0.0.1", port=port, ups="lab")
            assert "no ups.realpower" in text

    def test_unknown_supply(self):
        with upsd({}) as port:
            text = refused(source="nut", host="127.0.0.1", port=port, ups="other")
            assert "no such supply" in text

    @pytest.mark.parametrize(
        "line", [b"\n", b"VAR\n", b"\xff\xfe\n", b'VAR lab ups.realpower "x"\n']
    )
    def test_rubbish(self, line: bytes):
        with upsd({}, lambda _line: line) as port:
            assert "upsd" in refused(source="nut", host="127.0.0.1", port=port, ups="lab")

    def test_line_without_end(self):
        with upsd({}, lambda _line: b"x" * 10_000) as port:
            assert "no upsd" in refused(source="nut", host="127.0.0.1", port=port, ups="lab")

    def test_connection_is_made_anew(self):
        with upsd({"ups.realpower": "141"}) as port:
            meter = open_meter(spec(source="nut", host="127.0.0.1", port=port, ups="lab"))
            assert meter.read().watts == 141
            meter._socket.shutdown(socket.SHUT_RDWR)  # type: ignore[attr-defined]
            with pytest.raises(MeterError):
                meter.read()
            assert meter.read().watts == 141
            meter.close()


class TestPrometheus:
    def server(self, result: object, kind: str = "vector"):
        document = {"status": "success", "data": {"resultType": kind, "result": result}}

        def respond(path: str, _headers: dict[str, str]):
            wanted = "/api/v1/query?query=sum%28pdu_watts%7Boutlet%3D%223%22%7D%29"
            return answer(document if path == wanted else {"status": "error", "error": path})

        return web(respond)

    QUERY = 'sum(pdu_watts{outlet="3"})'

    def test_vector(self):
        with self.server([{"metric": {}, "value": [1606.1, "88.25"]}]) as url:
            assert read(source="prometheus", url=url, query=self.QUERY).watts == 88.25

    def test_scalar(self):
        with self.server([1606.1, "7"], "scalar") as url:
            assert read(source="prometheus", url=url, query=self.QUERY).watts == 7

    @pytest.mark.parametrize(
        ("result", "why"),
        [
            ([], "0 series"),
            ([{"value": [1, "2"]}, {"value": [1, "3"]}], "2 series"),
            ([{"value": [1, "NaN"]}], "no figure"),
            ([7], "no figure"),
        ],
    )
    def test_no_single_figure(self, result: object, why: str):
        with self.server(result) as url:
            assert why in refused(source="prometheus", url=url, query=self.QUERY)

    def test_its_error(self):
        with self.server([]) as url:
            assert "sum%28" in refused(source="prometheus", url=url, query="sum(")


class TestCommand:
    def test_last_number(self):
        found = read(source="command", command="echo 'outlet 3: 230 V'; echo 'power 41.5 W'")
        assert found.watts == 41.5

    def test_failure_says_why(self):
        text = refused(source="command", command="echo no meter here >&2; exit 3")
        assert "no meter here" in text

    def test_no_number(self):
        assert "expected watts" in refused(source="command", command="echo off")

    def test_hanging_command_is_ended_with_its_children(self, tmp_path: Path):
        file = tmp_path / "pid"
        text = refused(
            source="command",
            command=f"sleep 300 & echo $! > {file}; wait",
            timeout_seconds=0.5,
        )
        assert "no answer within 0.5 s" in text
        pid = int(file.read_text())
        for _ in range(100):
            if (
                not Path(f"/proc/{pid}/cmdline").exists()
                or not Path(f"/proc/{pid}/cmdline").read_bytes()
            ):
                break
            time.sleep(0.05)
        else:
            pytest.fail("the child still runs")


class TestHttpFailures:
    @pytest.mark.parametrize(
        "content", [b"", b"<html>", b"\xff\x00", b"[" * 100_000, b"null", b"7"]
    )
    def test_rubbish(self, content: bytes):
        with web(lambda _p, _h: (200, {}, content)) as url:
            refused(source="shelly", url=url)
            refused(source="tasmota", url=url)
            refused(source="redfish", url=url)
            refused(source="prometheus", url=url, query="x")

    def test_no_http(self):
        with upsd({}, lambda _line: b"SSH-2.0-OpenSSH_9.2\r\n") as port:
            refused(source="shelly", url=f"http://127.0.0.1:{port}")

    def test_nothing_listens(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        assert "refused" in refused(source="shelly", url=f"http://127.0.0.1:{port}")

    def test_no_answer(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            text = refused(source="shelly", url=url, timeout_seconds=0.3)
        assert "no answer within 0.3 s" in text

    def test_endless_answer(self):
        with web(lambda _p, _h: (200, {}, b" " * (2 << 20))) as url:
            assert "no meter's answer" in refused(source="shelly", url=url)

    def test_redirect_is_not_followed(self):
        asked = []

        def elsewhere(path: str, _headers: dict[str, str]):
            asked.append(path)
            return answer(SHELLY_1)

        with (
            web(elsewhere) as other,
            web(lambda _p, _h: (302, {"Location": f"{other}/x"}, b"")) as url,
        ):
            assert "status 302" in refused(source="shelly", url=url)
        assert not asked

    def test_proxy_is_not_asked(self, monkeypatch):
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        with web(shelly(1, SHELLY_1)) as url:
            assert read(source="shelly", url=url).watts == 31.74


class TestSecrets:
    def test_file_that_others_read(self, tmp_path: Path):
        file = tmp_path / "password"
        file.write_text("t0p\n")
        file.chmod(0o644)
        text = refused(source="shelly", url="http://127.0.0.1", password_file=str(file))
        assert "chmod 600" in text

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
    def test_file_of_another_user(self, tmp_path: Path):
        file = tmp_path / "password"
        file.write_text("t0p\n")
        file.chmod(0o600)
        os.chown(file, 4321, 4321)
        text = refused(source="shelly", url="http://127.0.0.1", password_file=str(file))
        assert "belongs to user 4321" in text

    def test_pipe_is_no_file(self, tmp_path: Path):
        os.mkfifo(tmp_path / "pipe", 0o600)
        path = str(tmp_path / "pipe")
        assert "not a regular file" in refused(
            source="shelly", url="http://127.0.0.1", password_file=path
        )

    def test_variable_that_is_not_set(self):
        text = refused(source="shelly", url="http://127.0.0.1", password_env="NOT_SET_ANYWHERE")
        assert "NOT_SET_ANYWHERE is not set" in text

    def test_community_is_no_argument(self, monkeypatch, tmp_path: Path):
        """A stand-in for snmpget shows what all users of the host would see, and its settings."""
        tool = tmp_path / "snmpget"
        tool.write_text(
            '#!/bin/sh\necho "$@" > "$SEEN"; cat "$SNMPCONFPATH"/snmp.conf >> "$SEEN.c"; echo 421\n'
        )
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
        monkeypatch.setenv("RACK", "c0mm")
        found = read(source="snmp", host="127.0.0.1", oid="1.3.6.1.4.1.318.1", scale=0.1,
                     community_env="RACK")  # fmt: skip
        assert found.watts == pytest.approx(42.1)
        assert "c0mm" not in (tmp_path / "seen").read_text()
        assert 'defCommunity "c0mm"' in (tmp_path / "seen.c").read_text()

    def test_ipmi_password_is_no_argument(self, monkeypatch, tmp_path: Path):
        tool = tmp_path / "ipmitool"
        tool.write_text(
            '#!/bin/sh\necho "$@" > "$SEEN"; echo "$IPMI_PASSWORD" > "$SEEN.p"\n'
            "echo '    Instantaneous power reading:                   137 Watts'\n"
            "echo '    Power reading state is:                   activated'\n"
        )
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
        monkeypatch.setenv("BMC", "b0ard")
        found = read(source="ipmi", host="10.0.0.9", user="lab", password_env="BMC")
        assert found.watts == 137
        seen = (tmp_path / "seen").read_text()
        assert "b0ard" not in seen
        assert "-H 10.0.0.9 -p 623 -U lab -E dcmi power reading" in seen
        assert (tmp_path / "seen.p").read_text() == "b0ard\n"


class TestIpmiOutput:
    def test_reading_that_is_off(self):
        from linerate.lab.power.ipmi import dcmi

        text = "Instantaneous power reading:   0 Watts\nPower reading state is:  deactivated\n"
        with pytest.raises(MeterError, match="deactivated"):
            dcmi(text)

    def test_board_without_dcmi(self):
        from linerate.lab.power.ipmi import dcmi

        with pytest.raises(MeterError, match="sensor:"):
            dcmi("DCMI request failed because: Invalid command (c1)")

    def test_sensor(self):
        from linerate.lab.power.ipmi import sensor

        text = "Temp,23,degrees C,ok\nPWR Total,190,Watts,ok\nFAN,,,ns\n"
        assert sensor(text, "PWR Total") == 190
        for name, why in (
            ("Temp", "expected watts"),
            ("FAN", "expected watts"),
            ("X", "no sensor"),
        ):
            with pytest.raises(MeterError, match=why):
                sensor(text, name)


def bench(power: object) -> testbed.Testbed:
    return testbed.parse({"dut": {"kind": "engine", "power": power}}, "lab.yaml")


class TestTestbed:
    def test_it_is_read_and_written(self):
        found = bench({"source": "shelly", "url": "http://192.168.1.7/", "accuracy_percent": 1})
        assert isinstance(found.dut.power, Shelly)
        assert found.dut.power.url == "http://192.168.1.7"
        again = testbed.Testbed.model_validate_json(found.model_dump_json())
        assert again == found

    @pytest.mark.parametrize(
        ("power", "line"),
        [
            ({"source": "shelly", "url": "http://8.8.8.8"}, "not the public 8.8.8.8"),
            ({"source": "shelly", "url": "http://[2606:4700::1]"}, "not the public"),
            ({"source": "snmp", "host": "1.1.1.1", "oid": "1.3.6.1"}, "not the public 1.1.1.1"),
            ({"source": "ipmi", "host": "-oProxyCommand=x"}, "expected a host"),
            ({"source": "shelly", "url": "http://me:pw@10.0.0.7"}, "without user and password"),
            ({"source": "shelly", "url": "file:///etc/passwd"}, "expected an address as http"),
            (
                {"source": "shelly", "url": "http://10.0.0.7/\r\nX: 1"},
                "expected an address as http",
            ),
            ({"source": "shelly"}, "required, but missing"),
            ({"source": "shelly", "url": "http://10.0.0.7", "password": "x"}, "no such key"),
            ({"source": "wattmeter"}, "power"),
            ({"source": "snmp", "host": "10.0.0.7", "oid": "watts"}, "an object's number"),
            ({"source": "rapl", "interval_seconds": 0}, "0.05"),
            ({"source": "nut", "ups": "lab\nLOGIN"}, "ups"),
            (
                {"source": "ipmi", "password_env": "A", "password_file": "/b"},
                "password_env or password_file",
            ),
        ],
    )
    def test_one_clear_line(self, power: object, line: str):
        with pytest.raises(TestbedError) as error:
            bench(power)
        assert len(error.value.lines) == 1
        assert line in error.value.lines[0]
        assert "dut.power" in error.value.lines[0]

    def test_private_and_shared_addresses(self):
        for host in ("10.1.2.3", "192.168.1.7", "100.64.0.9", "169.254.7.7", "[fd00::7]", "plug"):
            url = f"http://{host}"
            assert spec(source="shelly", url=url).url == url

    def test_name_of_a_public_address(self, monkeypatch):
        def found(*_args: object, **_keys: object):
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.215.14", 80))]

        monkeypatch.setattr(socket, "getaddrinfo", found)
        assert "a public address" in refused(source="shelly", url="http://meter.example")


def test_each_source_has_its_file():
    folder = Path(testbed.__file__).parents[1] / "lab" / "power"
    assert sorted(path.stem for path in folder.glob("[!_]*.py")) == sorted(SOURCES)


def test_unknown_source_is_refused():
    with pytest.raises(ValidationError):
        spec(source="none")


def test_no_secret_in_a_run(monkeypatch):
    monkeypatch.setenv("BMC", "b0ard")
    found = bench({"source": "ipmi", "host": "10.0.0.9", "user": "lab", "password_env": "BMC"})
    assert "b0ard" not in found.model_dump_json()
    assert json.loads(found.model_dump_json())["dut"]["power"]["password_env"] == "BMC"
