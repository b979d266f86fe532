"""A device that commands of the user's set up further, in its namespace, once it is there."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from linerate.base.errors import SetupError
from linerate.base.prerequisites import Prerequisite
from linerate.host.netns.programs import run_in
from linerate.lab.dut import Commanded, Dut, Place, Running
from linerate.lab.links import Ends
from linerate.model.suites import Protocol as Frames
from linerate.model.testbed import Testbed

#: A million routes take a few seconds, and several times that on a busy machine.
SECONDS = 300.0
SHOWN = 100


class SetUpDut:
    """The device inside, and the testbed's `dut.setup` and `dut.teardown`."""

    def __init__(self, device: Dut) -> None:
        self.name = device.name
        self._device = device

    def prerequisites(self, testbed: Testbed) -> list[Prerequisite]:
        """Those of the device."""
        return self._device.prerequisites(testbed)

    def forwards(self, testbed: Testbed) -> frozenset[Frames]:
        """As the device."""
        return self._device.forwards(testbed)

    def routes(self, testbed: Testbed) -> bool:
        """As the device."""
        return self._device.routes(testbed)

    @contextmanager
    def running(self, testbed: Testbed, ends: Ends, place: Place) -> Iterator[Running]:
        """Start it and run the commands; those of `teardown` whatever happens then."""
        netns = ends.dut[0].netns if ends.dut is not None else ""
        if not netns:
            raise SetupError(f"setup: {self.name} has no namespace here: use `wire: veth`")
        with self._device.running(testbed, ends, place) as running:
            known = running.environment if isinstance(running, Commanded) else {}
            try:
                run_commands(testbed.dut.setup, netns, "setup", environment=known)
                yield running
            finally:
                run_commands(testbed.dut.teardown, netns, "teardown", environment=known)


def run_commands(
    commands: Sequence[str],
    netns: str,
    what: str,
    folder: str = "/",
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run shell commands one after the other; raises SetupError at the first that fails."""
    variables = [f"{name}={value}" for name, value in (environment or {}).items()]
    for command in commands:
        try:
            shell = ["env", *variables, "sh", "-ec", f'cd "$0"\n{command}', folder]
            done = run_in(netns, shell, seconds=SECONDS)
        except subprocess.TimeoutExpired as error:
            raise SetupError(f"{what}: {shown(command)}: not done in {SECONDS:.0f} s") from error
        if done.returncode:
            lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
            reason = lines[0] if lines else f"exit code {done.returncode}, no output"
            raise SetupError(f"{what}: {shown(command)}: {reason}")


def shown(command: str) -> str:
    """A command in part of a line."""
    line = " ".join(command.split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"
