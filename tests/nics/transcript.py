"""Output of `linerate` in guests: `python -m tests.nics.transcript` renews docs/nics from it."""

from collections.abc import Iterator
from pathlib import Path

from tests.nics.guest import Done
from tests.nics.labs import MODELS, NIC_DRIVERS, Lab

ROOT = Path(__file__).parents[2]
SEEN = ROOT / "build" / "nics" / "seen"
#: A step's file, and its heading; in the order of a user's steps.
STEPS = {
    "doctor": "What is wrong",
    "fix": "Mended",
    "bench-io": "A bench of mode `io`",
    "bench-router": "A bench of mode `router`",
    "bench-external": "A bench of a Linux router",
    "bench-two-guests": "A bench of a Linux router in another guest",
    "probe": "What rules the NIC takes",
    "undo": "Given back",
}
HEAD = """\
# Output on an emulated {model}

Made by `make test-nics` ([NICs](../nics.md)): the output of `linerate` for the README's commands, with each
driver for DPDK. The testbeds are those of the README with the guest's addresses, and the load is low.
Emulated CPUs take turns, so that trials are mostly invalid: `--accept-suspect` shows one, marked. Left
out are the doctor's reasons and remedies, and tables of clocks.
"""
#: From here on the output of a bench is left out.
CLOCKS = "Where the forwarder's cycles went"


def keep(lab: Lab, step: str, *message: Done) -> None:
    """Write down a step's commands and what came of them."""
    folder = SEEN / str(lab)
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(f"$ {one.command}\n{one.out}" for one in message)
    (folder / f"{step}.txt").write_text(text, encoding="utf-8")


def shortened(step: str, text: str) -> Iterator[str]:
    """Lines of a step, without what is the same for every NIC."""
    for line in text.splitlines():
        if line.startswith(CLOCKS):
            return
        reason = step in ("doctor", "fix") and line.startswith("  ") and line.strip()
        if not reason or line.startswith(" " * 20):
            yield line.rstrip()


def markdown(model: str) -> str:
    """All that is kept of a model, as one document."""
    parts = [HEAD.format(model=model)]
    for lab in (Lab(model, driver) for driver in NIC_DRIVERS):
        steps = {name: SEEN / str(lab) / f"{name}.txt" for name in STEPS}
        found = {name: path.read_text("utf-8") for name, path in steps.items() if path.exists()}
        if found:
            parts.append(f"\n## {lab.driver}\n")
        for name, text in found.items():
            kept = "\n".join(f"    {line}".rstrip() for line in shortened(name, text))
            parts.append(f"\n{STEPS[name]}:\n\n{kept.rstrip()}\n")
    return "".join(parts)


if __name__ == "__main__":
    for each in MODELS:
        (ROOT / "docs" / "nics" / f"{each}.md").write_text(markdown(each), encoding="utf-8")
