"""A guest with its NICs bound for DPDK: engines started in it, trials run, `linerate` asked."""

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.nics.emulation import LINK_BPS, LOW_PPS
from tests.nics.guest import Done, Guest, Process
from tests.nics.labs import PORTS, Lab, address
from tests.nics.transcript import keep
from tests.system.configs import stream

INSIDE = "/tree/tests/nics/inside"
ENGINE = "/tree/site-packages/linerate/bin/linerate-engine"
#: Python and DPDK start slowly on an emulated CPU, and a bench tries again what is invalid.
BENCH_SECONDS = 400.0
TRIALS_SECONDS = 200.0
_numbers = itertools.count()


@dataclass(frozen=True)
class Trial:
    """Result of one trial."""

    status: dict[str, Any]
    ledger: dict[tuple[str, str], int]

    def of_kind(self, kind: str) -> int:
        return sum(packets for (_, k), packets in self.ledger.items() if k == kind)

    @property
    def sent(self) -> int:
        return self.of_kind("sent")

    @property
    def received(self) -> int:
        return self.of_kind("received")

    @property
    def losses(self) -> dict[str, int]:
        return {place: n for (place, kind), n in self.ledger.items() if kind == "loss" and n}

    @property
    def unexplained(self) -> int:
        ins = self.sent + self.of_kind("originated")
        outs = ("received", "other", "consumed", "held", "loss")
        return ins - sum(self.of_kind(kind) for kind in outs)


@dataclass(frozen=True)
class Trials:
    """An engine that started, did these, and stopped; or reported why it did not."""

    trials: list[Trial]
    #: By name, what `/linerate/port,NAME` says when all are done.
    ports: dict[str, dict[str, Any]]
    ready: dict[str, Any]
    error: str
    log: str


def _trial(document: dict[str, Any]) -> Trial:
    rows = document["ledger"]
    return Trial(document["status"], {(row["place"], row["kind"]): row["packets"] for row in rows})


@dataclass
class Bench:
    """The lab's NICs in its guest."""

    guest: Guest
    lab: Lab
    #: The doctor's output before and during the repair; none yet.
    found: Done = field(default_factory=lambda: Done("", 0, "", ""))
    mended: Done = field(default_factory=lambda: Done("", 0, "", ""))

    def drivers(self) -> list[str]:
        """Drivers of the lab's NICs."""
        done = self.guest.run(
            "for nic in " + " ".join(map(address, PORTS)) + "; do "
            "basename $(readlink /sys/bus/pci/devices/$nic/driver); done"
        )
        return done.out.split()

    @contextmanager
    def left_to_linux(self, *ports: str) -> Iterator[None]:
        """Have the kernel's driver drive these."""
        self._rebind("", ports)
        try:
            yield
        finally:
            self._rebind(self.lab.driver, ports)

    def _rebind(self, driver: str, ports: tuple[str, ...]) -> None:
        for nic in map(address, ports):
            device = f"/sys/bus/pci/devices/{nic}"
            self.guest.run(
                f"echo {nic} > {device}/driver/unbind; echo {driver} > {device}/driver_override; "
                f"echo {nic} > /sys/bus/pci/drivers_probe"
            )

    def hugepages(self) -> int:
        """Reserved ones, of 2 MiB."""
        return int(self.guest.read("/proc/sys/vm/nr_hugepages"))

    def config(self, mode: str, streams: list[dict[str, Any]], **forwarder: Any) -> dict[str, Any]:
        """The whole testbed in one engine: tester on t0, t1; forwarder on d0, d1 (e0, e1)."""
        names = dict(zip(PORTS, ("t0", "t1", "e0", "e1"), strict=True))
        ports = [
            {
                "name": name,
                "driver": "ethdev",
                "device": address(port),
                "link_bps": LINK_BPS,
                "mac": MACS[name],
            }
            for port, name in names.items()
        ]
        return {
            "name": f"nics-{next(_numbers)}",
            "memory": {"megabytes": 128},
            "ports": ports,
            "forwarder": {"mode": mode, "ports": ["e0", "e1"], **forwarder},
            "tester": {"ports": ["t0", "t1"], "streams": streams},
        }

    def trials(self, config: dict[str, Any], *asked: dict[str, Any]) -> Trials:
        """Run trials on an engine of this configuration."""
        return self.result(self.start_trials(config, *asked))

    def start_trials(self, config: dict[str, Any], *asked: dict[str, Any]) -> Process:
        path = f"/tmp/plan-{next(_numbers)}.json"
        self.guest.write(path, json.dumps({"config": config, "trials": asked}))
        return self.guest.start(f"python3 {INSIDE}/trials.py {path}")

    def result(self, process: Process) -> Trials:
        done = process.wait(TRIALS_SECONDS)
        assert done.code == 0, done.out + done.err
        document = json.loads(done.out)
        return Trials(
            [_trial(one) for one in document["trials"]],
            document.get("ports", {}),
            document.get("ready", {}),
            document["error"],
            document["log"],
        )

    def testbed(self, name: str, **dut: Any) -> str:
        """Write a testbed file as the README has it; returns its path in the guest."""
        document: dict[str, Any] = {
            "wire": "ethdev",
            "link": "1G",
            "tester": {"ports": [{"device": address("t0")}, {"device": address("t1")}]},
            "dut": dut,
        }
        if "kind" not in dut:
            dut["ports"] = [{"device": address("d0")}, {"device": address("d1")}]
        path = f"/tmp/{name}.yaml"
        self.guest.write(path, json.dumps(document, indent=1))  # JSON is YAML
        return path

    def measure(self, testbed: str) -> "Measured":
        """`linerate bench` at a low rate, both directions."""
        runs = f"/tmp/runs-{next(_numbers)}"
        command = (
            f"linerate bench {testbed} --traffic 64 --rate {LOW_PPS}pps --duration 1s "
            f"--accept-suspect --runs {runs}"
        )
        done = self.guest.run(command, BENCH_SECONDS, check=False)
        made = self.guest.run(f"ls -d {runs}/*/", check=False).out.strip()
        assert made, done
        run = json.loads(self.guest.read(f"{made}run.json"))
        trial = run["results"][-1]["trial"]
        evidence = json.loads(self.guest.read(f"{made}evidence/{trial}.json"))
        return Measured(done, run, evidence)


def bound(guest: Guest, lab: Lab) -> Bench:
    """Have the doctor find what is wrong with the lab's NICs, and mend it."""
    made = Bench(guest, lab)
    testbed = made.testbed("all", mode="io")
    made.found = guest.run(f"linerate doctor {testbed}", check=False)
    made.mended = guest.run(f"linerate doctor {testbed} --fix --yes", check=False)
    keep(lab, "doctor", made.found)
    keep(lab, "fix", made.mended)
    return made


@dataclass(frozen=True)
class Measured:
    """A bench of one loadtest: what it printed and kept."""

    done: Done
    run: dict[str, Any]
    evidence: dict[str, Any]

    @property
    def result(self) -> dict[str, Any]:
        result: dict[str, Any] = self.run["results"][-1]
        return result

    @property
    def trial(self) -> Trial:
        rows = self.evidence["packets"]["entries"]
        ledger = {(row["place"], row["kind"]): row["packets"] for row in rows}
        return Trial(self.evidence["progress"], ledger)


def measured(bench: Bench, testbed: str, step: str) -> Measured:
    """A bench at a low rate: all intended packets were sent and received; none is unexplained.

    What it printed is kept as that step of the lab's.
    """
    done = bench.measure(testbed)
    keep(bench.lab, step, done.done)
    assert done.done.code == 0, done.done
    assert done.result["valid"], done.done
    trial = done.trial
    assert trial.sent == trial.status["asked_packets"] > 0, trial
    assert trial.received == trial.sent, trial
    assert trial.unexplained == 0, trial
    return done


#: Addresses of the engine's ports, to which streams are sent.
MACS = {
    "t0": "50:7c:6f:20:30:70",
    "t1": "50:7c:6f:20:30:71",
    "e0": "02:00:00:00:0e:00",
    "e1": "02:00:00:00:0e:01",
}


def low(source: int, **changes: Any) -> dict[str, Any]:
    """A stream at a rate that emulation carries without loss."""
    return stream(source, **{"rate": {"pps": LOW_PPS}, **changes})
