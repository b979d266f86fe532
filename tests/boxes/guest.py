"""Places of loss in a Linux router with a kernel and a CPU of its own: a guest under QEMU."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.boxes.guest_router import Router, guest_router
from tests.boxes.linux import places as of_linux
from tests.boxes.matrix import PUSHED_BACK, Box, MakeBox, Place

from linerate.model.testbed import parse

#: Kinds of boxes, and the NICs that they have.
GUESTS = {
    "linux-guest": "virtio-net",
    "linux-guest-e1000e": "e1000e",
    "linux-guest-igb": "igb",
    "linux-guest-vmxnet3": "vmxnet3",
}
#: More than an emulated CPU forwards, and the share of it that one forwards with ease.
LINK = "40M"
LOAD = 0.08
ACCEL = "tcg"
_SHAPER = "tbf rate 250kbit burst 5k"
_RING = r"^e0: rx ring full$"
#: Whether a NIC of QEMU's pushes back when its ring is full, or drops and counts. An igb drops and
#: counts nothing, as no real one does.
_FULL = {"virtio-net": PUSHED_BACK, "e1000e": PUSHED_BACK, "vmxnet3": _RING}
#: NICs that take nothing from their tap without a link: nothing is sent, and no loss is there to
#: locate.
_HOLDING = ("e1000e", "igb")
#: A ring that holds what comes while the guest waits for its emulated CPU.
_WIDE = "ethtool -G e0 rx 4096"
#: Rules that match nothing, and are looked at one after the other.
_RULES = """nft 'add table inet lost; add chain inet lost f { type filter hook forward priority 0; }'
for one in $(seq 300); do echo "add rule inet lost f ip saddr 10.0.0.$((one % 250)) accept"; done |
nft -f -"""
#: A word before commands that are not run in the guest, but around it.
MONITOR = "monitor: set_link "
HOST_CPU = "host CPU: "


def linux_guest(name: str, model: str) -> MakeBox:
    """A guest with NICs of this model, asked over ssh: a kind of that name."""

    @contextmanager
    def made() -> Iterator[Box]:
        searched = os.environ["PATH"]
        with (
            # A socket's path is short.
            tempfile.TemporaryDirectory(prefix="lr-guest-") as folder,
            guest_router(model, Path(folder), os.environ.get("ACCEL", ACCEL)) as router,
        ):
            if _FULL.get(model) == _RING:
                router.run(_WIDE)
            os.environ |= router.box.environment
            try:
                testbed = parse(router.box.testbed(link=LINK, wire="interfaces"), "the matrix")
                yield Box(name, testbed, _runner(router), _places(model))
            finally:
                os.environ["PATH"] = searched

    return made


def _runner(router: Router) -> Callable[[str], None]:
    def run(command: str) -> None:
        if command.startswith(MONITOR):
            name, state = command.removeprefix(MONITOR).split()
            router.guest.set_link(name, up=state == "on")
        elif command == f"{HOST_CPU}all":
            router.cpu.free()
        elif command.startswith(HOST_CPU):
            router.cpu.limit(int(command.removeprefix(HOST_CPU).removesuffix(" %")))
        else:
            router.run(command)

    return run


def _places(model: str) -> tuple[Place, ...]:
    return (
        *(
            replace(place, load=LOAD, **_OTHERWISE.get(place.name, {}))
            for place in of_linux()
            if place.limit != "line"
        ),
        *(place for place in _of_guest() if model not in _HOLDING or "e0" not in place.name),
        *(_overloads(_FULL[model]) if model in _FULL else ()),
        *((_of_ring(),) if _FULL.get(model) == _RING else ()),
    )


#: Changes of a namespace's places, where a NIC is in front of the kernel and all counters are its own.
_OTHERWISE: dict[str, dict[str, Any]] = {
    # The NIC takes no frames of others, and counts none of them.
    "wrong MAC address": {"at": r"^between t0 and e0: ", "says": "frames are sent to"},
    # Packets that still wait for the neighbour when it has failed have no counter.
    "no neighbour": {"at": r"^no neighbour|unexplained", "says": "no neighbour"},
    "tc: token bucket": {"begin": (f"tc qdisc add dev e1 root {_SHAPER} limit 5k",)},
    "tc: short queue behind a shaper": {
        "begin": (
            f"tc qdisc add dev e1 root handle 1: {_SHAPER} limit 50k",
            "tc qdisc add dev e1 parent 1:1 pfifo limit 2",
        )
    },
}


def _of_guest() -> tuple[Place, ...]:
    return (
        Place("cable of e0 pulled out", (f"{MONITOR}e0 off",), (f"{MONITOR}e0 on",),
              r"^between t0 and e0: ", limit="link", says="NO-CARRIER", load=LOAD),
        Place("cable of e1 pulled out", (f"{MONITOR}e1 off",), (f"{MONITOR}e1 on",), "unexplained",
              limit="link", says="NO-CARRIER", load=LOAD),
    )  # fmt: skip


def _overloads(at: str) -> tuple[Place, ...]:
    # A card that drops goes on at all load, on the same CPU of the host.
    limit = "descheduled" if at == _RING else "worker-cpu"
    return (
        Place("more rules than its CPU has time for", (_RULES,), ("nft flush ruleset",), at,
              limit=limit, load=1.0, seconds_min=20.0),
        Place("CPU limited by its host", (f"{HOST_CPU}40 %",), (f"{HOST_CPU}all",), at,
              limit="descheduled", load=1.0, seconds_min=16.0),
    )  # fmt: skip


def _of_ring() -> Place:
    return Place("rx ring of 32", ("ethtool -G e0 rx 32",), (_WIDE,), _RING,
                 limit="rx-ring", load=2 * LOAD)  # fmt: skip
