"""Places of loss in a Linux router with a kernel and a CPU of its own: a guest under QEMU."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.boxes.guest_router import Router, guest_router
from tests.boxes.linux import places as of_linux
from tests.boxes.matrix import PUSHED_BACK, Box, MakeBox, Place

from linerate.model.testbed import parse

#: What an emulated CPU forwards with ease; and more than it does.
LINK = os.environ.get("GLINK", "10M")
_FLUSH = ("nft flush ruleset",)
#: A word before commands that are not run in the guest, but around it.
MONITOR = "monitor: set_link "
HOST_CPU = "host CPU: "


def linux_guest(model: str) -> MakeBox:
    """A guest with NICs of this model, asked over ssh."""

    @contextmanager
    def made() -> Iterator[Box]:
        searched = os.environ["PATH"]
        with (
            # A socket's path is short.
            tempfile.TemporaryDirectory(prefix="lr-guest-") as folder,
            guest_router(model, Path(folder), os.environ.get("ACCEL", "tcg")) as router,
        ):
            os.environ |= router.box.environment
            try:
                testbed = parse(router.box.testbed(link=LINK, wire="interfaces"), "the matrix")
                yield Box(f"guest {model}", testbed, _runner(router), _places(model))
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
    return (*(_in_guest(place) for place in of_linux()), *_of_guest(model))


def _in_guest(place: Place) -> Place:
    """A place of a namespace as it is with a NIC in front of it, and ssh beside it."""
    return place


def _of_guest(model: str) -> tuple[Place, ...]:
    return (
        Place("cable of e0 pulled out", (f"{MONITOR}e0 off",), (f"{MONITOR}e0 on",),
              r"^between t0 and e0: ", limit="link"),
        Place("cable of e1 pulled out", (f"{MONITOR}e1 off",), (f"{MONITOR}e1 on",),
              r"^between e1 and t1: |unexplained", limit="link"),
        Place("CPU limited by its host", (f"{HOST_CPU}20 %",), (f"{HOST_CPU}all",), PUSHED_BACK,
              limit="worker-cpu", load=1.0),
        Place("rx ring of 64", ("ethtool -G e0 rx 64",), ("ethtool -G e0 rx 256",), r"^e0: rx missed",
              limit="rx-ring", load=1.0),
    )  # fmt: skip
