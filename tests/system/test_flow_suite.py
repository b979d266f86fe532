"""Suite `flowtable` with the real engine: every packet is accounted for, and marks come.

No timing is asserted: on a busy machine a trial may be invalid, but it is never wrong.
"""

from pathlib import Path

from tests.host import HostWatch
from tests.system.test_bench import bench, check_laws

TESTBED = """\
wire: card
card: {link: 200M, flow_table: {preset: x710-patched}}
"""


def test_the_suite_is_measured_with_offload_off_and_on(tmp_path: Path) -> None:
    (testbed := tmp_path / "slow.yaml").write_text(TESTBED)
    host = HostWatch()
    document, run = bench(tmp_path, str(testbed), "--suite", "flowtable")
    check_laws(document, run)
    for result in run.results:
        figures = result.flow_table
        assert figures is not None
        assert figures.offload == result.test.endswith("-on")
        # Whatever is marked, all packets went through the table.
        assert figures.not_recorded == 0
        if not figures.offload:
            assert (figures.marked_percent, figures.rules) == (0, 0)
        if result.test == "imix-off":
            # 2 × 1,194 flows, and no others; a descheduled tester may not get to all.
            assert 0 < figures.flows <= 2388
        if result.test == "imix-on":
            assert figures.rules > 0
            assert figures.marked_percent > 0
        if result.test.startswith("flood"):
            # Each packet that the forwarder took was a new flow's.
            missed = sum(result.packets.losses.values())
            assert figures.created >= result.packets.sent - missed
    measured = {trial["test"] for trial in document["trials"] if trial["valid"]}
    rows = {(row["traffic"], row["offload"]) for row in document["flow_table"]}
    assert rows == {(name.partition("-")[0], name.endswith("-on")) for name in measured}
    if not measured:
        host.no_result("no trial of the suite is valid")
