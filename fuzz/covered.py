"""Coverage of each parser by its corpus: `covered.py BUILD`, lines in per cent.

BUILD has the C targets, built to count lines (`make fuzz-coverage`). Python's are run without
atheris, each in a process of its own: what is loaded before a target counts as its own.
"""

import atexit
import contextlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "fuzz" / "corpus"
TIMEOUT_S = 600

#: The parser's files below engine/, by target.
C_PARSERS: dict[str, tuple[str, ...]] = {
    "capture": ("capture/capture_filter.c",),
    "config": (
        "core/config.c", "card/card_flow_limits.c", "modes/forwarder.c", "modes/peers.c",
        "modes/xconnect.c", "port/port.c", "port/ethdev_queues.c", "port/ethdev_settings.c",
        "router/router_config.c", "tester/*parse.c", "tester/layers.c", "tester/modifier.c",
    ),
    "connections": ("tester/connection*_parse.c", "tester/connection_ranges.c"),
    "flow_key": ("flow/flow_key.c", "flow/flow_fragments.c"),
    "frames": ("card/card_rss.c", "core/signature.c", "tester/sequence.c"),
    "modes_frames": ("modes/csum.c", "modes/l2*.c", "modes/mac*.c", "modes/icmpecho.c",
                     "flow/flowtable_node.c"),
    "priority": ("handoff/priority.c",),
    "responder": ("tester/responder_frame.c",),
    "router_cli": ("router/cli*.c",),
    "router_frames": ("node/ip[46]/*.c", "node/l2/*.c", "node/mpls/*.c"),
    "routes_file": ("router/routes_file.c", "router/text_file.c"),
    "rule_text": ("rte_flow_text/rule_*.c", "card/card_flow_pattern.c", "card/card_flow_rules.c"),
    "stream": ("tester/parse.c", "tester/layers.c", "tester/modifier.c", "tester/template.c",
               "tester/program_parse.c", "tester/step_*.c"),
    "telemetry": ("telemetry/*.c",),
}  # fmt: skip
#: For a target that makes one engine in its life: environments, each a run.
ENGINES: dict[str, tuple[dict[str, str], ...]] = {
    "telemetry": (
        {},
        {"LINERATE_FUZZ_TESTER": "1"},
        {"LINERATE_FUZZ_FLOWTABLE": "1"},
        {"LINERATE_FUZZ_FLOWTABLE": "1", "LINERATE_FUZZ_TESTER": "1"},
    )
}

#: The parser's files below src/linerate/, by target.
PYTHON_PARSERS: dict[str, tuple[str, ...]] = {
    "boxes": ("parsers/boxes/*.py",),
    "captures": ("traffic/capture/capture_file.py",),
    "testbeds": ("model/testbed.py", "base/safe_load.py", "model/external_ports.py",
                 "model/nic_presets.py"),
    "traffic": (
        "traffic/native_profile.py", "traffic/yaml_kinds.py", "traffic/capture/capture_profile.py",
        "traffic/capture/capture_sides.py",
        "traffic/mirror.py", "traffic/trex/stateful*.py",
        "traffic/trex/conversation.py", "traffic/timing.py",
    ),
    "trex": ("traffic/trex/profile_process.py", "traffic/trex/stateless.py"),
    "runs": ("results/store.py", "results/index/row.py", "base/safe_load.py"),
    "evidence": ("model/measurement/*.py", "engine/readings.py", "analysis/measured_evidence.py"),
    "lives": ("results/journal.py",),
    "telemetry": ("engine/telemetry.py",),
    "queries": ("results/index/query.py",),
    "tables": ("analysis/audit/*.py",),
    "meters": (
        "parsers/meter_csv.py", "lab/power/[inprst]*.py", "lab/power/command.py",
    ),
    "requests": ("trex_server/framing.py", "trex_server/rpc.py", "trex_server/translation.py",
                 "trex_server/payload.py", "trex_server/methods/*.py"),
    "trex_replies": ("lab/trex/client.py", "lab/trex/tester.py"),
    "parsers": ("parsers/*.py", "parsers/tools/*.py", "model/evidence.py", "model/loss_causes.py"),
}  # fmt: skip
#: Where seeds are that are no corpus of their own.
PARSERS_SEEDS = tuple(
    ROOT / "tests" / "data" / name for name in ("made", "cases", "pasted", "pasted_host")
)


@dataclass(frozen=True, slots=True)
class Covered:
    """Coverage of one target's seeds."""

    target: str
    seeds: int
    files: int
    lines: int
    reached: int

    @property
    def percent(self) -> float:
        """Share of the lines of the parser's files."""
        return 100 * self.reached / self.lines if self.lines else 0.0


def found(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    """Files of those patterns; raises ValueError for one that fits none: it was renamed."""
    files: dict[Path, None] = {}
    for pattern in patterns:
        fitting = sorted(folder.glob(pattern))
        if not fitting:
            raise ValueError(f"{folder}: no {pattern}")
        files.update(dict.fromkeys(fitting))
    return list(files)


def seeds_of(*folders: Path) -> list[Path]:
    """Inputs in those folders, in an order that stays."""
    return sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())


def of_c(build: Path, target: str) -> Covered:
    """Run a C target over its corpus, once in each of its environments."""
    program, corpus = build / "fuzz" / f"fuzz_{target}", CORPUS / target
    files = found(ROOT / "engine", C_PARSERS[target])
    with tempfile.TemporaryDirectory(prefix="linerate-covered-") as place:
        for number, engine in enumerate(ENGINES.get(target, ({},))):
            profile = {"LLVM_PROFILE_FILE": f"{place}/{number}-%m.profraw"}
            _run([str(program), "-runs=0", str(corpus)], os.environ | engine | profile)
        raw = [str(path) for path in Path(place).glob("*.profraw")]
        merged = f"{place}/merged"
        _run(["llvm-profdata", "merge", "-sparse", *raw, "-o", merged])
        exported = _run(
            ["llvm-cov", "export", "-summary-only", f"-instr-profile={merged}", str(program)]
        )
    counts = lines_of(json.loads(exported), build, files)
    return Covered(target, len(seeds_of(corpus)), len(files), *counts)


def lines_of(exported: dict[str, Any], build: Path, files: list[Path]) -> tuple[int, int]:
    """Lines of those files, and reached ones, as llvm-cov counts; its names are as compiled."""
    wanted = set(files)
    counts = [
        file["summary"]["lines"]
        for file in exported["data"][0]["files"]
        if (build / file["filename"]).resolve() in wanted
    ]
    return sum(one["count"] for one in counts), sum(one["covered"] for one in counts)


def _run(command: list[str], environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[:3])}: {done.stderr[-2000:]}")
    return done.stdout


def of_python(target: str) -> Covered:
    """Run a Python target over its seeds, in a process of its own."""
    output = _run([sys.executable, __file__, "--python", target])
    return Covered(**json.loads(output.splitlines()[-1]))


def _count(target: str) -> Covered:
    """The same, in this process."""
    import coverage  # noqa: PLC0415 (not in the process that starts the others)

    files = found(ROOT / "src" / "linerate", PYTHON_PARSERS[target])
    folders = PARSERS_SEEDS if target == "parsers" else (CORPUS / f"files_{target}",)
    seeds = seeds_of(*folders)
    counter = coverage.Coverage(data_file=None, include=[str(path) for path in files])
    counter.start()
    feed = _target(target)
    for seed in seeds:
        feed(seed.read_bytes())
    counter.stop()
    lines = reached = 0
    for path in files:
        _, statements, _, missing, _ = counter.analysis2(str(path))
        lines, reached = lines + len(statements), reached + len(statements) - len(missing)
    return Covered(target, len(seeds), len(files), lines, reached)


def _target(name: str) -> Callable[[bytes], None]:
    """Reads the function that is fed with each input, without atheris."""
    atheris = types.ModuleType("atheris")
    vars(atheris)["instrument_imports"] = lambda **_words: contextlib.nullcontext()
    sys.modules["atheris"] = atheris
    file = "fuzz_parsers" if name == "parsers" else "fuzz_files"
    spec = importlib.util.spec_from_file_location(file, ROOT / "fuzz" / f"{file}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if hasattr(module, "FOLDER"):
        atexit.register(shutil.rmtree, module.FOLDER, ignore_errors=True)
    target: Callable[[bytes], None]
    target = module.one_input if name == "parsers" else module.TARGETS[name]
    return target


def table(covered: Iterator[Covered]) -> Iterator[str]:
    """A row a target, as soon as it is known."""
    yield f"{'target':<20} {'seeds':>6} {'files':>6} {'lines':>7} {'reached':>8}"
    for one in covered:
        yield (
            f"{one.target:<20} {one.seeds:>6} {one.files:>6} {one.lines:>7,} {one.percent:>6.1f} %"
        )


def _every(build: Path) -> Iterator[Covered]:
    for target in C_PARSERS:
        yield of_c(build, target)
    for target in PYTHON_PARSERS:
        yield of_python(target)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--python", target]:
            one = _count(target)
            print(json.dumps({name: getattr(one, name) for name in Covered.__dataclass_fields__}))
        case [build]:
            for line in table(_every(Path(build).resolve())):
                print(line, flush=True)
        case _:
            sys.exit("covered.py: expected the folder of the C targets")
