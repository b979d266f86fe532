"""Sources of power against the daemons that Debian packages: ipmi_sim, snmpd, upsd.

`make setup-test` installs them.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from linerate.lab.power import MeterError, open_meter
from linerate.model.power_sources import Power

PLACES = f"{os.environ['PATH']}:/usr/sbin:/sbin:/lib/nut:/usr/lib/nut"


def tool(name: str) -> str | None:
    return shutil.which(name, path=os.environ.get("LINERATE_POWER_TOOLS", "") + ":" + PLACES)


def needs(*names: str) -> pytest.MarkDecorator:
    missing = [name for name in names if tool(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def free_port(kind: socket.SocketKind) -> int:
    with socket.socket(socket.AF_INET, kind) as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def daemon(argv: list[str], folder: Path, environment: dict[str, str] | None = None):
    with (folder / "daemon.log").open("wb") as log:
        process = subprocess.Popen(
            argv,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=os.environ | (environment or {}),
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def eventually(keys: dict[str, object]) -> float:
    """Watts, once the daemon is ready."""
    meter = open_meter(TypeAdapter(Power).validate_python(keys))
    end = time.monotonic() + 30
    try:
        while True:
            try:
                watts = meter.read().watts
            except MeterError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)
            else:
                assert watts is not None
                return watts
    finally:
        meter.close()


LAN = """\
name "bmc"
set_working_mc 0x20
loadlib "{module}" ""
  startlan 1
    addr 127.0.0.1 {port}
    priv_limit admin
    allowed_auths_callback none md2 md5 straight
    allowed_auths_user none md2 md5 straight
    allowed_auths_operator none md2 md5 straight
    allowed_auths_admin none md2 md5 straight
    guid a123456789abcdefa123456789abcdef
  endlan
  user 2 true "lab" "secret" admin 10 none md2 md5 straight
"""
#: A board with one sensor, `PWR Total`, in steps of 2 W.
BOARD = """\
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02
sel_enable 0x20 1000 0x0a
sensor_add 0x20 0 7 0x0b 0x01
sensor_set_value 0x20 0 7 95 0
sensor_set_event_support 0x20 0 7 enable scanning per-state 000000000000000 000000000000000 \
000000000000000 000000000000000
main_sdr_add 0x20 0x00 0x00 0x51 0x01 0x34 0x20 0x00 0x07 0x13 0x01 0x7f 0x68 0x0b 0x01 0x00 \
0x00 0x00 0x00 0x00 0x00 0x00 0x06 0x00 0x00 0x02 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 \
0xff 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0xc9 0x50 0x57 0x52 0x20 0x54 \
0x6f 0x74 0x61 0x6c
mc_enable 0x20
"""


@needs("ipmi_sim", "ipmitool", "cc")
class TestIpmi:
    @pytest.fixture
    def controller(self, tmp_path: Path, monkeypatch) -> Iterator[dict[str, object]]:
        simulator, compiler = tool("ipmi_sim"), tool("cc")
        assert simulator is not None
        assert compiler is not None
        module = tmp_path / "dcmi_power.so"
        source = Path(__file__).with_name("dcmi_power.c")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", module, source], check=True)
        port = free_port(socket.SOCK_DGRAM)
        (tmp_path / "lan.conf").write_text(LAN.format(module=module, port=port))
        (tmp_path / "board.emu").write_text(BOARD)
        (tmp_path / "state").mkdir()
        monkeypatch.setenv("BMC", "secret")
        argv = [simulator, "-n", "-c", "lan.conf", "-f", "board.emu", "-s", "state"]
        with daemon(argv, tmp_path):
            yield {
                "source": "ipmi",
                "host": "127.0.0.1",
                "port": port,
                "user": "lab",
                "password_env": "BMC",
                "cipher_suite": 3,
            }

    def test_dcmi(self, controller: dict[str, object]):
        assert eventually(controller) == 137

    def test_older_protocol(self, controller: dict[str, object]):
        assert eventually(controller | {"interface": "lan"}) == 137

    def test_sensor(self, controller: dict[str, object]):
        keys = controller | {"interface": "lan", "sensor": "PWR Total", "timeout_seconds": 20}
        assert eventually(keys) == 190

    def test_wrong_password(self, controller: dict[str, object], monkeypatch):
        assert eventually(controller) == 137
        monkeypatch.setenv("BMC", "wr0ng")
        meter = open_meter(TypeAdapter(Power).validate_python(controller | {"timeout_seconds": 20}))
        with pytest.raises(MeterError) as error:
            meter.read()
        assert "session" in str(error.value).lower()
        assert "wr0ng" not in str(error.value)


@needs("snmpd", "snmpget")
class TestSnmp:
    OUTLET = "1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.1"

    @pytest.fixture
    def agent(self, tmp_path: Path, monkeypatch) -> Iterator[dict[str, object]]:
        snmpd = tool("snmpd")
        assert snmpd is not None
        (tmp_path / "snmpd.conf").write_text(
            f"rocommunity rack 127.0.0.1\noverride .{self.OUTLET} integer 1234\n"
            f'override .{self.OUTLET}.9 octet_str "87.5"\n'
        )
        port = free_port(socket.SOCK_DGRAM)
        argv = [snmpd, "-f", "-Lo", "-C", "-c", "snmpd.conf", f"udp:127.0.0.1:{port}"]
        monkeypatch.setenv("RACK", "rack")
        with daemon(argv, tmp_path, {"SNMP_PERSISTENT_DIR": str(tmp_path / "state")}):
            yield {
                "source": "snmp",
                "host": "127.0.0.1",
                "port": port,
                "oid": self.OUTLET,
                "community_env": "RACK",
            }

    @pytest.mark.parametrize("version", ["1", "2c"])
    def test_tenths_of_a_watt(self, agent: dict[str, object], version: str):
        assert eventually(agent | {"scale": 0.1, "version": version}) == pytest.approx(123.4)

    def test_text(self, agent: dict[str, object]):
        assert eventually(agent | {"oid": f"{self.OUTLET}.9"}) == 87.5

    def test_no_such_object(self, agent: dict[str, object]):
        assert eventually(agent) == 1234
        meter = open_meter(TypeAdapter(Power).validate_python(agent | {"oid": "1.3.6.1.4.1.7"}))
        with pytest.raises(MeterError, match="expected a number, not 'No Such"):
            meter.read()
        meter.close()

    def test_other_community(self, agent: dict[str, object], monkeypatch):
        assert eventually(agent) == 1234
        monkeypatch.setenv("RACK", "other")
        meter = open_meter(TypeAdapter(Power).validate_python(agent | {"timeout_seconds": 1}))
        with pytest.raises(MeterError, match=r"[Tt]imeout"):
            meter.read()
        meter.close()


@needs("upsd", "dummy-ups")
class TestNut:
    @pytest.fixture
    def server(self, tmp_path: Path) -> Iterator[dict[str, object]]:
        upsd, driver = tool("upsd"), tool("dummy-ups")
        assert upsd is not None
        assert driver is not None
        port = free_port(socket.SOCK_STREAM)
        files = {
            "ups.conf": "[lab]\ndriver = dummy-ups\nport = lab.dev\n",
            "lab.dev": "ups.realpower: 141\nups.status: OL\n",
            "upsd.conf": f"LISTEN 127.0.0.1 {port}\nSTATEPATH {tmp_path}\n",
            "upsd.users": "",
        }
        for name, content in files.items():
            (tmp_path / name).write_text(content)
        folders = ("NUT_CONFPATH", "NUT_STATEPATH", "NUT_ALTPIDPATH")
        environment = dict.fromkeys(folders, str(tmp_path))
        # It gives up root where none is named.
        as_root = ["-u", "root"] if os.geteuid() == 0 else []
        with (
            daemon([driver, "-F", "-a", "lab", *as_root], tmp_path, environment),
            daemon([upsd, "-F", *as_root], tmp_path, environment),
        ):
            yield {"source": "nut", "host": "127.0.0.1", "port": port, "ups": "lab"}

    def test_power(self, server: dict[str, object]):
        assert eventually(server) == 141

    def test_unknown_supply(self, server: dict[str, object]):
        assert eventually(server) == 141
        meter = open_meter(TypeAdapter(Power).validate_python(server | {"ups": "other"}))
        with contextlib.closing(meter), pytest.raises(MeterError, match="no such supply"):
            meter.read()
