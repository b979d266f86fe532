"""A tester in one guest, a router in another: two machines, and wires between them."""

import pytest
from tests.nics.bench import Bench, measured
from tests.nics.conftest import Guests
from tests.nics.labs import Lab, mac
from tests.nics.linux_router import linux_router


def test_a_router_in_another_guest(
    guests: Guests, lab: Lab, tmp_path_factory: pytest.TempPathFactory
) -> None:
    guests.stop()
    wires = tmp_path_factory.mktemp("wires")
    with (
        guests.booted(lab.part(("t0", "t1"), wires), lab) as tester,
        guests.booted(lab.part(("d0", "d1"), wires), lab) as other,
        linux_router(other) as forwarded,
    ):
        bench = Bench(tester, lab)
        testbed = bench.testbed("external", kind="external", macs=[mac("d0"), mac("d1")])
        tester.run(f"linerate doctor {testbed} --fix --yes", check=False)
        done = measured(bench, testbed, "bench-two-guests")
        assert done.trial.losses == {}
        assert forwarded() >= done.trial.sent
