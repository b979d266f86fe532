"""`python -m tests.boxes`: losses put in at each place of each kind of box, and where they are found."""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tests.boxes.books import balanced, cost_of_asking
from tests.boxes.guest import GUESTS, linux_guest
from tests.boxes.linux import linux, linux_over_ssh
from tests.boxes.matrix import Located, MakeBox
from tests.boxes.ovs import ovs, ovs_over_memif
from tests.boxes.paths import linux_hairpin, linux_long_snake, linux_snake
from tests.boxes.profiled import profiled
from tests.boxes.runner import run_places
from tests.boxes.testpmd import BOXES as TESTPMD_BOXES
from tests.boxes.vpp import HERE as VPP_HERE
from tests.boxes.vpp import vpp, vpp_at_full_load, vpp_with_small_rings
from tests.nics.labs import IMAGE
from tests.system.foreign_dpdk import VSWITCHD

from linerate.host import session_share

#: By kind of box.
BOXES: dict[str, MakeBox] = {
    "linux": linux,
    "linux-ssh": linux_over_ssh,
    "linux-hairpin": linux_hairpin,
    "linux-snake": linux_snake,
    "linux-snake3": linux_long_snake,
}
if Path(VSWITCHD).exists():
    BOXES |= {"ovs": ovs, "ovs-memif": ovs_over_memif}
if shutil.which("dpdk-testpmd"):
    BOXES |= TESTPMD_BOXES
if VPP_HERE:
    BOXES |= {"vpp": vpp, "vpp-full": vpp_at_full_load, "vpp-small-rings": vpp_with_small_rings}
if (IMAGE / "root.img").exists():
    BOXES |= {name: linux_guest(name, model) for name, model in GUESTS.items()}
SECONDS = 0.6
RIGHT_MIN = 0.95


def main() -> int:
    """Print the matrix; 1 when it is not as good as it must be."""
    parser = argparse.ArgumentParser(prog="python -m tests.boxes", description=__doc__)
    parser.add_argument("--kinds", default=",".join(BOXES), help="of these kinds of boxes")
    parser.add_argument(
        "--only", default="", help="places whose name holds this, or that: `TTL|MTU`"
    )
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long a trial sends")
    parser.add_argument("--trials", type=int, help="random loads without a loss put in, instead")
    parser.add_argument("--pairs", type=int, help="pairs of trials, asked and not asked, instead")
    parser.add_argument("--profile", action="store_true", help="cycles of its kernel, instead")
    parser.add_argument("--seed", type=int, default=1, help="of random loads")
    chosen = parser.parse_args()
    if chosen.trials or chosen.pairs or chosen.profile:
        return _books(chosen)
    found: list[Located] = []
    for kind in chosen.kinds.split(","):
        # As a run does: the box's programs and the questions to it have CPUs when they want them.
        with (
            session_share.raised(),
            BOXES[kind]() as box,
            tempfile.TemporaryDirectory(prefix="boxes-") as folder,
        ):
            for one in run_places(box, Path(folder), chosen.seconds, _note, chosen.only):
                found.append(one)
                if one.invented or not one.right:
                    _note(f"  wrong: {one.verdict.limit}: {one.verdict.sentence} {one.elsewhere}")
    print(table(found))
    right = sum(one.right for one in found)
    invented = sum(one.invented for one in found)
    print(f"\n{right} of {len(found)} located rightly; {invented} with packets at a wrong place")
    return 0 if right >= RIGHT_MIN * len(found) and not invented else 1


def _books(chosen: argparse.Namespace) -> int:
    """Print what is unexplained where nothing was put in, or what asking costs."""
    for kind in chosen.kinds.split(","):
        with (
            session_share.raised(),
            BOXES[kind]() as box,
            tempfile.TemporaryDirectory(prefix="boxes-") as folder,
        ):
            where = Path(folder)
            if chosen.trials:
                print(balanced(box, where, chosen.trials, chosen.seconds, chosen.seed))
            if chosen.profile:
                print(profiled(box, where, chosen.seconds))
            if chosen.pairs:
                print(cost_of_asking(box, where, chosen.pairs, chosen.seconds, _note))
    return 0


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def table(found: list[Located]) -> str:
    """A line for each place."""
    rows = [("kind", "loss put in", "lost", "there", "verdict", "")]
    rows += [
        (
            one.kind,
            one.place.name,
            f"{one.lost:,}",
            f"{100 * one.here / one.lost:.1f} %" if one.lost else "",
            one.verdict.limit,
            "" if one.right else "wrong",
        )
        for one in found
    ]
    widths = [max(len(row[at]) for row in rows) for at in range(6)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at in (2, 3) else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


if __name__ == "__main__":
    sys.exit(main())
