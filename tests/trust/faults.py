"""Faults at random moments: processes that die, stall or vanish under a run.

Whatever happens: the command ends, says why in words, leaves nothing behind (after SIGKILL: nothing
that `linerate clean` does not remove), and what it had measured can be read.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.trust.measure import BrokenError

from linerate.analysis.validity import reasons
from linerate.base import ownership
from linerate.engine import cleanup
from linerate.host.netns import namespaces
from linerate.model.measurement import Measurement
from linerate.results.store import Result, StoreError, load_run

#: A run takes some 4 s; what is to happen happens within that.
LATEST_S = 4.0
#: A run that is disturbed ends within this.
ENDS_S = 150.0
STOPPED_S = 3.0
TMPFS_BYTES = 1 << 20
BUSY = "while True: pass"
EVERY = 10
#: Output of runs that did not end as they must.
KEPT = Path("build/trust")

COMMANDS: dict[str, tuple[str, ...]] = {
    "bench": ("bench", "--only", "U2", "--duration", "300ms"),
    "search": ("search", "--loadtest", "U1", "--duration", "200ms"),
    "soak": ("soak", "--loadtest", "U1", "--for", "3s", "--every", "1s", "--load", "10%"),
}


@dataclass(frozen=True, slots=True)
class Lab:
    """A command of ours that runs."""

    process: "subprocess.Popen[str]"
    runs: Path

    def engines(self) -> list[int]:
        """Processes that it started: engines, its own and devices'."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            pid = int(path.name)
            owner = ownership.owner_of_process(pid)
            if owner is not None and owner.pid == self.process.pid != pid:
                found.append(pid)
        return sorted(found)

    def namespaces(self) -> list[str]:
        """Network namespaces that it made."""
        owners = {name: ownership.owner_of_name(name) for name in namespaces.names()}
        return [name for name, by in owners.items() if by and by.pid == self.process.pid]


#: Does something to a run; returns whether there was something to do it to.
Fault = Callable[[Lab, random.Random], bool]


def _to_lab(number: signal.Signals) -> Fault:
    def send(lab: Lab, _draw: random.Random) -> bool:
        lab.process.send_signal(number)
        return True

    return send


def _lab_stopped(lab: Lab, _draw: random.Random) -> bool:
    lab.process.send_signal(signal.SIGSTOP)
    time.sleep(STOPPED_S)
    lab.process.send_signal(signal.SIGCONT)
    return True


def _engine_killed(lab: Lab, draw: random.Random) -> bool:
    engines = lab.engines()
    if engines:
        with contextlib.suppress(ProcessLookupError):
            os.kill(draw.choice(engines), signal.SIGKILL)
    return bool(engines)


def _engine_stopped(lab: Lab, draw: random.Random) -> bool:
    engines = lab.engines()
    if engines:
        pid = draw.choice(engines)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(STOPPED_S)
            os.kill(pid, signal.SIGCONT)
    return bool(engines)


def _folder_deleted(lab: Lab, _draw: random.Random) -> bool:
    runs = [path for path in lab.runs.glob("*") if path.is_dir()]
    for run in runs:
        shutil.rmtree(run, ignore_errors=True)
    return bool(runs)


def _disk_filled(lab: Lab, _draw: random.Random) -> bool:
    with contextlib.suppress(OSError), (lab.runs / "filler").open("wb") as file:
        while file.write(bytes(4096)):
            file.flush()
    return True


def _namespace_deleted(lab: Lab, draw: random.Random) -> bool:
    names = lab.namespaces()
    return bool(names) and _ip("netns", "del", draw.choice(names))


def _interface(lab: Lab, draw: random.Random, *words: str) -> bool:
    for name in lab.namespaces():
        shown = ("ip", "-n", name, "-o", "link", "show", "type", "veth")
        output = subprocess.run(shown, capture_output=True, text=True, check=False).stdout
        links = [line.split()[1].split("@")[0].rstrip(":") for line in output.splitlines()]
        if links:
            return _ip("-n", name, "link", words[0], draw.choice(links), *words[1:])
    return False


def _interface_deleted(lab: Lab, draw: random.Random) -> bool:
    return _interface(lab, draw, "del")


def _interface_down(lab: Lab, draw: random.Random) -> bool:
    return _interface(lab, draw, "set", "down")


def _ip(*words: str) -> bool:
    return subprocess.run(("ip", *words), capture_output=True, check=False).returncode == 0


def _nothing(_lab: Lab, _draw: random.Random) -> bool:
    return True


#: By name: what is done, and on which wires it can be.
ANY = ("card", "veth", "memif")
FAULTS: dict[str, tuple[Fault, tuple[str, ...]]] = {
    "lab: SIGKILL": (_to_lab(signal.SIGKILL), ANY),
    "lab: SIGINT": (_to_lab(signal.SIGINT), ANY),
    "lab: SIGTERM": (_to_lab(signal.SIGTERM), ANY),
    "lab: stopped": (_lab_stopped, ANY),
    "engine: SIGKILL": (_engine_killed, ANY),
    "engine: stopped": (_engine_stopped, ANY),
    "CPUs busy": (_nothing, ANY),
    "disk full": (_disk_filled, ANY),
    "run deleted": (_folder_deleted, ANY),
    "namespace deleted": (_namespace_deleted, ("veth",)),
    "interface deleted": (_interface_deleted, ("veth",)),
    "interface down": (_interface_down, ("veth",)),
}


@dataclass(frozen=True, slots=True)
class Case:
    """One run and what is done to it."""

    fault: str
    wire: str
    command: str
    #: Since the command was started.
    after_s: float


def drawn(draw: random.Random) -> Case:
    """Draw a fault, and a run that it can happen to."""
    fault = draw.choice(list(FAULTS))
    wire = draw.choice(FAULTS[fault][1])
    command = draw.choices(list(COMMANDS), (6, 2, 2))[0]
    return Case(fault, wire, command, draw.uniform(0, LATEST_S))


@contextlib.contextmanager
def _busy(cpus: int) -> Iterator[None]:
    spinners = [subprocess.Popen((sys.executable, "-c", BUSY)) for _ in range(cpus)]
    try:
        yield
    finally:
        for one in spinners:
            one.kill()
            one.wait()


@contextlib.contextmanager
def _small_disk(folder: Path) -> Iterator[None]:
    mount = ("mount", "-t", "tmpfs", "-o", f"size={TMPFS_BYTES}", "tmpfs", str(folder))
    subprocess.run(mount, check=True)
    try:
        yield
    finally:
        subprocess.run(("umount", "-l", str(folder)), check=False)


def wrong(case: Case, folder: Path, draw: random.Random) -> list[str]:
    """Carry a case out; what was not as it must be."""
    runs = folder / "runs"
    runs.mkdir(parents=True)
    words = (*COMMANDS[case.command], "--wire", case.wire, "--dut", "io", "--runs", str(runs))
    with contextlib.ExitStack() as stack:
        if case.fault == "CPUs busy":
            stack.enter_context(_busy(2 * (os.cpu_count() or 1)))
        if case.fault == "disk full":
            stack.enter_context(_small_disk(runs))
        with (folder / "out").open("w+") as out:
            process = subprocess.Popen(
                (sys.executable, "-m", "linerate", *words), stdout=out, stderr=out, text=True
            )
            lab = Lab(process, runs)
            _strike(case, lab, draw)
            try:
                process.wait(ENDS_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                return ["hung", *_left_behind(process.pid, killed=True)]
        text = (folder / "out").read_text()
        found = ["traceback"] if "Traceback" in text else []
        if "Usage:" in text:
            found.append(f"not understood: {text}")
        killed = process.returncode == -signal.SIGKILL
        return [*found, *_left_behind(process.pid, killed), *_unreadable(runs)]


def _strike(case: Case, lab: Lab, draw: random.Random) -> None:
    """Do it; a little later where there is nothing yet to do it to."""
    time.sleep(case.after_s)
    strike = FAULTS[case.fault][0]
    while lab.process.poll() is None and not strike(lab, draw):
        time.sleep(0.05)


def _left_behind(pid: int, killed: bool) -> list[str]:
    if killed:
        subprocess.run(
            (sys.executable, "-m", "linerate", "clean"), capture_output=True, check=False
        )
    found = [f"namespace {name}" for name in namespaces.names() if f"lr-{pid}-" in name]
    found += [f"process {one}" for one in Path("/proc").glob("[0-9]*") if _is_of(one, pid)]
    marked = (one for one in cleanup.find() if f"{pid}-" in one.name)
    return [
        f"left behind: {one}" for one in (*found, *(f"{one.kind} {one.name}" for one in marked))
    ]


def _is_of(path: Path, pid: int) -> bool:
    owner = ownership.owner_of_process(int(path.name))
    return owner is not None and owner.pid == pid


def _unreadable(runs: Path) -> list[str]:
    """Runs that can't be read, and results that are valid for no reason."""
    found = []
    for file in runs.glob("*/run.json"):
        try:
            run = load_run(file.parent)
        except StoreError as error:
            found.append(f"unreadable: {error}")
            continue
        found += [f"published: {one.trial}" for one in run.results if _published(one, file.parent)]
        words = (sys.executable, "-m", "linerate", "report", str(file.parent))
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if "Traceback" in done.stderr:
            found.append("report: traceback")
    return found


def _published(result: Result, run: Path) -> bool:
    """Whether a trial counts as valid that its own evidence speaks against."""
    try:
        evidence = (run / "evidence" / f"{result.trial}.json").read_bytes()
    except OSError:
        # The run was deleted under the command.
        return result.valid and bool(result.invalid)
    against = reasons(Measurement.model_validate_json(evidence))
    return result.valid and not result.provisional and bool(against or result.invalid)


@dataclass(slots=True)
class Sums:
    """Results of the runs with one fault."""

    runs: int = 0
    wrong: list[str] = field(default_factory=list)


def table(_runs: Path, cases: int, seed: int) -> str:
    """`count` faults, a row for each kind. Raises BrokenError when a run did not end as it must.

    Each case has a seed of its own: `faults 1 --seed THAT` does it again.
    """
    sums = {name: Sums() for name in FAULTS}
    with contextlib.suppress(KeyboardInterrupt):
        for number in range(cases):
            case, found = _done(seed + number)
            into = sums[case.fault]
            into.runs += 1
            if found:
                into.wrong.append(f"seed {seed + number}, {case}: {'; '.join(found)}")
                print(into.wrong[-1], file=sys.stderr, flush=True)
            if (number + 1) % EVERY == 0:
                print(f"{number + 1} of {cases} faults", file=sys.stderr, flush=True)
    text = "\n".join(rows(sums, seed))
    if any(one.wrong for one in sums.values()):
        raise BrokenError(text)
    return text


def _done(seed: int) -> tuple[Case, list[str]]:
    """Carry the case of a seed out; what it wrote is kept if something was wrong."""
    draw = random.Random(seed)
    case = drawn(draw)
    with tempfile.TemporaryDirectory(prefix="trust-", ignore_cleanup_errors=True) as folder:
        found = wrong(case, Path(folder), draw)
        if found:
            kept = KEPT / f"fault-{seed}"
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder, kept, ignore_dangling_symlinks=True)
            found.append(f"kept in {kept}")
    return case, found


def rows(sums: dict[str, Sums], seed: int) -> Iterator[str]:
    """The table."""
    yield "fault               runs  as it must be"
    for name, one in sums.items():
        yield f"{name:<18} {one.runs:>5} {one.runs - len(one.wrong):>14}"
    bad = [line for one in sums.values() for line in one.wrong]
    done = sum(one.runs for one in sums.values())
    yield f"\n{done - len(bad)} of {done} runs ended as they must; seed {seed}"
    yield from bad
