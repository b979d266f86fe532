"""Data flows one way: nothing downstream is imported upstream."""

import ast
from pathlib import Path

import linerate

ROOT = Path(linerate.__file__).parent
#: From upstream to downstream; those in one line do not import each other.
LAYERS = (
    ("__init__",),
    ("errors",),
    ("screen",),
    (
        "wire",
        "host",
        "telemetry",
        "marks",
        "signals",
        "mistakes",
        "drivers",
        "flow_table",
        "limits",
        "memory_size",
        "pci",
        "histogram",
        "external",
        "engine_log",
        "pci",
        "disturbance",
        "open_beneath",
        "dpdk_runtime",
        "write_whole",
        "regular",
        "queues",
    ),
    ("documents", "cpu_locks", "session_share"),
    ("card", "ledger"),
    ("testbed",),
    ("suite", "engine", "netns", "configuration", "counting", "worker_cpus", "port_kinds"),
    ("traffic",),
    ("wires", "measurement", "places", "leftovers", "loops"),
    ("wiring", "snapshot", "records"),
    ("absences",),
    ("validity", "audit"),
    ("evidence", "asked_load"),
    ("doctor",),
    ("dut",),
    ("tester",),
    ("meanwhile", "live"),
    ("rig", "trial"),
    ("explain", "negotiated"),
    ("store",),
    ("verdicts", "goals", "repeats"),
    ("planning",),
    ("bench", "compare"),
    ("attempts",),
    ("sweep", "costs", "search", "soak"),
    ("latency",),
    ("rfc2544",),
    ("matrix", "index"),
    ("report",),
    ("selfbench", "nic", "exporter", "top"),
    ("serve",),
    ("commands",),
    ("cli",),
    ("__main__",),
)
RANK = {module: rank for rank, layer in enumerate(LAYERS) for module in layer}


def module_of(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path):
    """Top modules of linerate that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("linerate"):
            _, _, rest = (node.module or "").partition(".")
            yield from [rest.split(".")[0]] if rest else [alias.name for alias in node.names]


def test_imports_go_upstream():
    for path in ROOT.rglob("*.py"):
        here = module_of(path)
        for there in imported(path):
            name = there if there in RANK else "__init__"
            assert name == here or RANK[name] < RANK[here], f"{here} imports {there}"
