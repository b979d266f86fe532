"""Measurement to try rules and reports on, and a fake engine to try the lab on."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from tests.command import run_command

from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.analysis.validity import doubts, reasons
from linerate.model.ledger import Entry, NodeTime, PacketLedger, TimeLedger
from linerate.model.measurement import Load, Measurement, Progress
from linerate.model.nic_presets import Card
from linerate.model.suites.loadtest import Loadtest, Traffic
from linerate.model.suites.offered import Offered, StreamRate
from linerate.results.store import Judged, Run, Which, result_of

FAKE_ENGINE = Path(__file__).parents[1] / "fake" / "engine.py"
TSC_HZ = 1_000_000_000

# A busy machine makes no property false.
settings.register_profile("linerate", deadline=None)
settings.load_profile("linerate")


def time_ledger(role="forwarder", idle=0.5, name="forwarder-0", elapsed=5 * TSC_HZ, packets=10_000):
    busy = round(elapsed * (1 - idle) * 0.9)
    idle_clocks = round(elapsed * idle * 0.9)
    return TimeLedger(
        worker=name,
        role=role,
        tsc_hz=TSC_HZ,
        elapsed_clocks=elapsed,
        overhead_clocks=elapsed - busy - idle_clocks,
        nodes={
            "port-rx-e0-0": NodeTime(
                calls=packets // 10 + 1,
                vectors=packets,
                clocks=busy // 2,
                idle_calls=100,
                idle_clocks=idle_clocks,
            ),
            "ip4-lookup": NodeTime(
                calls=packets // 10 + 1, vectors=packets, clocks=busy - busy // 2
            ),
        },
    )


def make_evidence(
    losses=None,
    sent=None,
    load=None,
    idle=0.5,
    unexplained=0,
    card=None,
    ceiling_pps=40e6,
    progress=None,
    **changes,
):
    """A trial of 5 s at the line's rate; `losses` are packets by place."""
    load = load or Load(
        frame_bytes=64, directions=1, link_bps=10**10, scale_ppm=1_000_000, duration_us=5_000_000
    )
    losses = losses or {}
    sent = round(load.asked_pps * load.duration_us / 1e6) if sent is None else sent
    received = sent - sum(losses.values()) - unexplained
    entries = [Entry(place="tester t0", kind="sent", packets=sent)]
    entries += [Entry(place=place, kind="loss", packets=lost) for place, lost in losses.items()]
    entries.append(Entry(place="tester", kind="received", packets=received))
    measured = Progress(
        trial=1,
        state="done",
        elapsed_us=load.duration_us,
        drained=True,
        start_tsc=100,
        end_tsc=100 + load.duration_us * 1000,
    )
    ledgers = (time_ledger("tester", 0.1, "tester"), time_ledger(idle=idle, packets=received))
    given = {
        "load": load,
        "progress": measured.model_copy(update=progress or {}),
        "packets": PacketLedger(entries=tuple(entries)),
        "time": ledgers,
        "time_at_load": ledgers,
        "card": card or Card(),
        "ceiling_pps": ceiling_pps,
    }
    return Measurement(**(given | changes))


def make_result(test="U2", evidence=None, attempt=1, repeat=1, configuration=""):
    evidence = evidence or make_evidence()
    invalid = reasons(evidence)
    judged = Judged(
        invalid=invalid,
        suspect=doubts(evidence),
        verdict=explain(evidence_of(evidence, test, f"evidence/{test}.json", invalid)),
    )
    which = Which(
        test=test,
        text="64 B many flows, one direction",
        attempt=attempt,
        repeat=repeat,
        configuration=configuration,
    )
    return result_of(which, evidence, judged)


def make_run(*results, **changes):
    document = {
        "command": ["linerate", "bench"],
        "started": "2026-11-21T10:00:00Z",
        "finished": "2026-11-21T10:01:00Z",
        "status": "complete",
        "suite": "standard",
        "tests": sorted({result.test for result in results}),
        "testbed": {},
        "environment": {
            "cpu_model": "Some CPU @ 3.00 GHz",
            "microcode": "0x1",
            "hypervisor": True,
            "kernel": "6.1",
            "system": "Debian",
            "cpus": [0, 1],
            "governor": "none",
            "transparent_hugepages": "always",
            "hugepages_free": 0,
            "linerate": "0.1.0",
            "dpdk": "DPDK 22.11.11",
            "memory": "thp",
        },
        "results": results,
    }
    return Run.model_validate(document | changes)


@pytest.fixture
def evidence():
    return make_evidence


@pytest.fixture
def result():
    return make_result


@pytest.fixture
def run():
    return make_run


@pytest.fixture
def ledger_of_worker():
    return time_ledger


class Bursts(Traffic):
    """Sends as much as the line takes, and reports less: bursts begin later."""

    @property
    def offered(self):
        return Offered(
            profile="bursts",
            text="bursts",
            rate="100%",
            streams=(StreamRate(name="U2", side=0, frame_bytes=64, pps=10e6),),
            uneven=True,
        )


@pytest.fixture
def bursts():
    """A loadtest with bursts."""
    return Loadtest("bursts", Bursts(64, "one"), 1)


def sysfs_with_hugepages(folder):
    """A /sys of a host with four NICs for DPDK and more hugepages than any engine asks for."""
    pages = folder / "sys/kernel/mm/hugepages/hugepages-1048576kB"
    pages.mkdir(parents=True)
    (pages / "free_hugepages").write_text("64")
    (pages / "resv_hugepages").write_text("0")
    driver = folder / "sys/bus/pci/drivers/vfio-pci"
    driver.mkdir(parents=True)
    for address in ("05:00.0", "05:00.1", "06:00.0", "06:00.1"):
        device = folder / f"sys/bus/pci/devices/0000:{address}"
        device.mkdir(parents=True)
        (device / "driver").symlink_to(driver)
    return folder / "sys"


@pytest.fixture
def fake_environment(monkeypatch):
    """Environment in which the lab finds the fake engine, and no other."""
    # Not in tmp_path: the path of a socket has 107 bytes at most.
    # An engine whose lab was killed may still be making its own folder in it.
    with tempfile.TemporaryDirectory(prefix="linerate-", ignore_cleanup_errors=True) as folder:
        runtime = Path(folder) / "dpdk"
        monkeypatch.setenv("LINERATE_ENGINE", str(FAKE_ENGINE))
        monkeypatch.setenv("LINERATE_RUNTIME", str(runtime))
        monkeypatch.setenv("LINERATE_SYSFS", str(sysfs_with_hugepages(Path(folder))))
        monkeypatch.setenv("FAKE_HURRY", "20")
        monkeypatch.setenv("COLUMNS", "80")
        # A job that runs these tests gets no summary of theirs.
        monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
        yield runtime


@pytest.fixture
def linerate(fake_environment, tmp_path):
    """Run the command as a user does, in this process."""

    def run(*arguments, **environment):
        return run_command(arguments, tmp_path, environment)

    return run


@pytest.fixture
def linerate_process(fake_environment, tmp_path):
    """Run the command in a process of its own: for what it reads once, when it is loaded."""

    def run(*arguments, **environment):
        return subprocess.run(
            [sys.executable, "-m", "linerate", *arguments],
            capture_output=True,
            text=True,
            timeout=300,
            cwd=tmp_path,
            env=os.environ | environment,
            check=False,
        )

    return run
