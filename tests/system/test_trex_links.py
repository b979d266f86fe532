"""TRex's unmodified client before a router on other links than a virtual card."""

from pathlib import Path

import pytest
from tests.system.namespaces import needs_namespaces
from tests.system.trex_server import serving
from tests.trex_client import CLIENT, run_client

from linerate.results.store import load_run

pytestmark = pytest.mark.skipif(CLIENT is None, reason="needs TRex's client: make setup-test")


@pytest.mark.parametrize("wire", [pytest.param("veth", marks=needs_namespaces), "memif"])
def test_start_update_pause_groups_and_latency(tmp_path: Path, wire: str) -> None:
    with serving(tmp_path, "--wire", wire) as ports:
        made = run_client("trafficgen", ports)
        assert made["sent"] == made["group_sent"] == [4000, 4000]
        assert all(0 < received <= 4000 for received in made["group_received"])
        made = run_client("csit", ports)
        assert all(0 < timed <= 2 * 1250 for timed in made["timed"])
        assert all(average > 0 for average in made["average_us"])
        made = run_client("session", ports)
        assert made["states"] == ["TRANSMITTING", "PAUSE", "TRANSMITTING"]
        assert made["bursts"] == 150
    for folder in tmp_path.iterdir():
        for result in load_run(folder).results if (folder / "run.json").exists() else ():
            packets = result.packets
            assert packets.sent == packets.received + sum(packets.losses.values()), result.trial
