"""DPDK's runtime folders: another user's are neither believed, entered nor removed."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from linerate.cli.app import app
from linerate.engine import cleanup, engine_process
from linerate.engine.telemetry import Telemetry, TelemetryError
from linerate.host import dpdk_runtime

STRANGER = 4242
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
#: A stranger's engine: it listens, greets, and answers anything.
LISTENER = f"""
import os, socket, sys
os.setgid({STRANGER}); os.setuid({STRANGER})
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(sys.argv[1])
listener.listen()
print("listens", flush=True)
while True:
    connection, _ = listener.accept()
    connection.send(b'{{"version": "DPDK", "pid": 1, "max_output_len": 16384}}')
"""


@pytest.fixture
def base(tmp_path, monkeypatch):
    """The place where DPDK makes folders."""
    folder = tmp_path / "dpdk"
    folder.mkdir()
    monkeypatch.setenv("LINERATE_RUNTIME", str(folder))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "none"))
    return folder


def old_folder(base, name="linerate-old"):
    folder = base / name
    folder.mkdir(parents=True)
    (folder / "config").write_text("kept")
    os.utime(folder, (0, 0))
    return folder


def test_where_dpdk_makes_folders(monkeypatch, tmp_path):
    for name in ("LINERATE_RUNTIME", "RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert dpdk_runtime.bases() == [Path("/var/run/dpdk")]
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert dpdk_runtime.bases() == [Path("/var/run/dpdk")]
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert dpdk_runtime.bases() == [tmp_path / "dpdk", Path("/var/run/dpdk")]
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert dpdk_runtime.bases() == [Path("/tmp/dpdk"), Path("/var/run/dpdk")]


def test_old_folders_of_ours_are_removed(base):
    old = old_folder(base)
    assert engine_process.sweep() == [old]
    assert not old.exists()


def test_what_a_link_leads_to_is_left_alone(tmp_path, monkeypatch):
    real = tmp_path / "elsewhere"
    old = old_folder(real)
    (tmp_path / "dpdk").symlink_to(real)
    monkeypatch.setenv("LINERATE_RUNTIME", str(tmp_path / "dpdk"))
    assert engine_process.sweep() == []
    assert CliRunner().invoke(app, ["clean"]).exit_code == 0
    dpdk_runtime.remove(tmp_path / "dpdk" / "linerate-old")
    assert (old / "config").exists()
    (real / "linerate-link").symlink_to(tmp_path)
    monkeypatch.setenv("LINERATE_RUNTIME", str(real))
    assert engine_process.runtime_folders() == [old]
    dpdk_runtime.remove(real / "linerate-link")
    assert (old / "config").exists()


@AS_ROOT
def test_a_strangers_place_is_left_alone(base):
    old = old_folder(base)
    os.chown(base, STRANGER, STRANGER)
    assert engine_process.engine_sockets() == ({}, [base])
    assert engine_process.sweep() == []
    assert [one for one in cleanup.find() if one.kind == "folder"] == []
    dpdk_runtime.remove(old)
    assert (old / "config").exists()


@AS_ROOT
def test_a_strangers_folder_is_left_alone(base):
    old = old_folder(base)
    os.chown(old, STRANGER, STRANGER)
    assert engine_process.engine_sockets() == ({}, [])
    assert engine_process.sweep() == []
    dpdk_runtime.remove(old)
    assert (old / "config").exists()


@AS_ROOT
def test_a_strangers_engine_is_not_believed():
    """Also where the folder is ours: who listens is what counts."""
    folder = Path("/tmp") / f"stranger-{os.getpid()}"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    path = folder / "dpdk_telemetry.v2"
    with subprocess.Popen([sys.executable, "-c", LISTENER, str(path)], stdout=-1) as stranger:
        try:
            assert stranger.stdout is not None
            assert stranger.stdout.readline()
            with pytest.raises(TelemetryError, match="user 4242 listens there"):
                Telemetry(path)
        finally:
            stranger.kill()
            path.unlink()
            folder.rmdir()


@AS_ROOT
def test_no_command_shows_a_strangers_socket(base, monkeypatch):
    folder = old_folder(base)
    # A socket's path has 107 bytes at most.
    monkeypatch.chdir(folder)
    folder.chmod(0o777)
    path = folder / "dpdk_telemetry.v2"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path.name)
        listener.listen()
        os.chown(path, STRANGER, STRANGER)
        text = CliRunner().invoke(app, ["top", "--once", "--json"])
        assert json.loads(text.stdout or "{}").get("engines", []) in ([], {})
        assert CliRunner().invoke(app, ["show", "runtime"]).exit_code != 0
        assert engine_process.live_engines() == {}
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()
