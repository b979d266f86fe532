"""Links of ports: seen to go down, named as the place of loss, and the end of a trial."""

import pytest
from tests.system import namespaces
from tests.system.conftest import StartEngine
from tests.system.namespaces import needs_namespaces
from tests.system.test_socket_drivers import SOCKETS, Wires, trial_config, wires

from linerate.analysis.validity import reasons
from linerate.engine.readings import read_links
from linerate.lab.tester.engine import EngineTester
from linerate.lab.trial import run_trial
from linerate.model.measurement import Load

__all__ = ["wires"]

pytestmark = needs_namespaces

SECONDS = 60.0
DOWN_AFTER_SECONDS = 0.5


@pytest.mark.parametrize(
    ("driver", "change", "place"),
    [
        ("net_af_packet", "set {} down", "t0: link down"),
        *((driver, "set {} down", None) for driver in SOCKETS),
        *((driver, "delete {}", "t0: tx link down") for driver in ("socket-single", "libpcap")),
    ],
)
def test_a_cable_pulled_out_ends_the_trial_and_is_the_place_of_loss(
    start_engine: StartEngine, wires: Wires, driver: str, change: str, place: str | None
) -> None:
    engine = start_engine(trial_config(wires, driver, driver, "io"))
    load = Load(
        frame_bytes=64,
        directions=1,
        link_bps=10**10,
        scale_ppm=1_000_000,
        duration_us=round(SECONDS * 1e6),
    )
    far = wires.names[0][1]
    pulled = False

    def pull_out(progress: object) -> None:
        nonlocal pulled
        elapsed = getattr(progress, "elapsed_us", 0) / 1e6
        if not pulled and elapsed >= DOWN_AFTER_SECONDS:
            pulled = True
            namespaces.run(f"ip -n {wires.dut} link {change.format(far)}")

    with engine.connect() as telemetry:
        assert {link.state for link in read_links(telemetry).values()} == {"up"}
        measured = run_trial(EngineTester(telemetry, ()), load, pull_out)
        links = read_links(telemetry)
    assert pulled
    assert (links["t0"].state, links["t0"].downs) == ("down", 1)
    assert (links["t1"].state, links["t1"].downs) == ("up", 0)
    # Both ends of the pair lose it; no other rule has anything to say.
    text = [reason for reason in reasons(measured) if not reason.startswith("packet ledger")]
    assert {reason.split(" since ")[0] for reason in text} == {"t0: link down", "e0: link down"}
    assert measured.progress.elapsed_us < load.duration_us
    if place is None:
        # Frames that waited for a socket of an interface that goes down are in no counter of the
        # kernel's.
        return
    assert measured.packets.unexplained == 0
    assert measured.packets.violations == []
    assert measured.packets.losses[place] > 0
