"""One guest at a time, kept for all tests of its NICs: `--nics`, `--nic-drivers`, `--accel`."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest
from tests.nics.bench import Bench, bound
from tests.nics.guest import Guest, Machine, running
from tests.nics.labs import IMAGE, MODELS, NIC_DRIVERS, Lab, qemu_with


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("emulated NICs")
    group.addoption("--nics", default=",".join(MODELS), help="models: " + ", ".join(MODELS))
    group.addoption("--nic-drivers", default=",".join(NIC_DRIVERS), help="drivers for DPDK")
    group.addoption("--accel", default="tcg", help="QEMU's accelerator: tcg, or kvm")


def _chosen(config: pytest.Config, option: str, known: tuple[str, ...]) -> list[str]:
    words = [word for word in str(config.getoption(option)).split(",") if word]
    for word in words:
        if word not in known:
            raise pytest.UsageError(f"{option}: expected {', '.join(known)}, not '{word}'")
    return words


def labs(config: pytest.Config) -> list[Lab]:
    models = _chosen(config, "--nics", tuple(MODELS))
    drivers = _chosen(config, "--nic-drivers", NIC_DRIVERS)
    return [Lab(model, driver) for model in models for driver in drivers]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests of a NIC run once for each lab, all of one lab's after the other."""
    if "lab" in metafunc.fixturenames:
        metafunc.parametrize("lab", labs(metafunc.config), ids=str, scope="session")


class Guests:
    """Boots what a test needs, unless it is what runs already."""

    def __init__(self, folder: Path, accel: str) -> None:
        self._folder, self._accel = folder, accel
        self._stack = ExitStack()
        self._lab: Lab | None = None
        self._guest: Guest | None = None
        self._bench: Bench | None = None
        self._number = 0

    def stop(self) -> None:
        self._stack.close()
        self._lab = self._guest = self._bench = None

    def of(self, lab: Lab) -> Guest:
        """The guest with these NICs."""
        if self._guest is None or self._lab != lab:
            self.stop()
            self._guest = self._stack.enter_context(self.booted(lab.devices, lab))
            self._lab = lab
        return self._guest

    def bench(self, lab: Lab) -> Bench:
        """The guest, its NICs bound as the README says, once."""
        guest = self.of(lab)
        if self._bench is None:
            self._bench = bound(guest, lab)
        return self._bench

    def any(self, otherwise: Lab) -> Guest:
        """Whatever guest runs, for tests that need no NIC."""
        return self.of(self._lab or otherwise)

    def booted(self, devices: list[str], lab: Lab) -> AbstractContextManager[Guest]:
        """Boot one more, with these devices; the caller ends it."""
        self._number += 1
        machine = Machine(
            qemu_with(lab.model),
            IMAGE,
            IMAGE / "tree.img",
            self._accel,
            kernel_words=lab.kernel_words,
        )
        return running(machine, self._folder / f"guest-{self._number}", devices)


@pytest.fixture(scope="session")
def guests(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Guests]:
    # A UNIX socket's path is short: pytest's own folders can be too long for one.
    accel = str(request.config.getoption("--accel"))
    made = Guests(tmp_path_factory.mktemp("nics"), accel)
    yield made
    made.stop()


@pytest.fixture
def guest(guests: Guests, request: pytest.FixtureRequest) -> Guest:
    """Whatever guest runs: for tests of the kernel's own modules."""
    return guests.any(labs(request.config)[0])


@pytest.fixture
def bench(guests: Guests, lab: Lab) -> Bench:
    """The lab's guest, its NICs with the driver for DPDK."""
    return guests.bench(lab)
