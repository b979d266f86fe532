"""Every published row recomputes to its published figures, or is named here as wrong."""

from pathlib import Path

import pytest

from linerate.analysis.audit import audit, read_table

DATA = Path(__file__).parents[1] / "data"
TEN_GIGABIT = 10e9
LOADTESTS = audit(read_table(DATA / "loadtests.csv", TEN_GIGABIT))
LS2088A = audit(read_table(DATA / "ls2088a.csv", TEN_GIGABIT))

#: Percentage and packet rate can't both be right.
WRONG_PERCENT = {
    "i226-v dpdk B1": "U1's percentage: 0.404 Mpps are 99.0 to 99.3 %, 4.84 Gb/s are 98.3 %",
    "mcx342a dpdk U1": "0.805 Mpps and 9.73 Gb/s are both 98.8 %, not 99.7",
    "mcx342a dpdk B1": "the percentage is 18.7 Gb/s; 1.53 Mpps is too low for both (1.55)",
    "mcx542 dpdk U4": "copied from the 82599es's U4; 15.3 Mpps are 41.1 %",
    "cx4-lx dpdk B4": "14.7 %, as 10.96 Mpps and 7.36 Gb/s agree",
    "cx5-en dpdk U1": "2.04 Mpps and 24.98 Gb/s are 99.9 %, not 99.7",
    "cx5-en dpdk B4": "21.58 Mpps are 29.0 %, not 29.1",
    "cx4-lx rdma U2": "18.34 Mpps and 12.32 Gb/s are 49.3 %, not 49.1",
}
#: Bit rate and packet rate can't both be right.
WRONG_BIT_RATE = {
    "i226-v dpdk B1": "4.84 Gb/s are 0.401 Mpps, not 0.404",
    "82599es dpdk U2": "6.48 Gb/s are 13.5 Mpps, not 13.4",
    "mcx342a dpdk B1": "18.7 Gb/s are 1.55 Mpps, not 1.53",
    "mcx342a dpdk B2": "1.54 Gb/s are 3.2 Mpps, and 10.8 %: packet rate and percentage agree on 2.29",
    "mcx342a dpdk B3": "as B2, whose figures it repeats",
    "mcx342a dpdk B4": "as B2, whose figures it repeats",
}
#: More than a line can carry.
ABOVE_THE_LINE = {"cx4-lx dpdk U1", "cx4-lx rdma U1"}


def rows(findings):
    return {found.row.name for found in findings}


def test_percentages_that_cannot_follow_from_their_packet_rate():
    assert rows(LOADTESTS.contradictions) == set(WRONG_PERCENT)
    assert len(LOADTESTS.contradictions) == 8


def test_bit_rates_that_cannot_be_those_of_the_packet_rate():
    assert rows(LOADTESTS.bit_rates) == set(WRONG_BIT_RATE)
    assert len(LOADTESTS.bit_rates) == 6


def test_no_line_carries_more_than_it_can():
    assert rows(LOADTESTS.above_the_line) == ABOVE_THE_LINE


def test_every_row_was_compared():
    assert len(rows_of := {row.name for row in LOADTESTS.table.rows}) == 64
    assert rows_of >= {*WRONG_PERCENT, *WRONG_BIT_RATE, *ABOVE_THE_LINE}
    assert set(LOADTESTS.skipped.values()) == {0}
    assert LOADTESTS.table.unreadable == ()
    assert LOADTESTS.table.assumed == ()


#: Line, and which of the two figures the row's other figures outvote.
OUTVOTED = {
    6: "",
    18: "percentage",
    22: "packet rate",
    29: "percentage",
    41: "percentage",
    42: "percentage",
    49: "",
    51: "percentage",
}


def test_the_other_figures_say_which_is_wrong():
    assert {found.row.line: found.wrong for found in LOADTESTS.contradictions} == OUTVOTED
    assert {found.row.line: found.wrong for found in LOADTESTS.bit_rates} == {
        6: "",
        11: "bit rate",
        22: "packet rate",
        23: "bit rate",
        24: "bit rate",
        25: "bit rate",
    }


def test_the_arithmetic_is_reported():
    (copied,) = (found for found in LOADTESTS.contradictions if found.row.line == 29)
    assert copied.sentence == "15.3 Mpps of 64 B are 41.1 % of 25 Gb/s, published 46.4 %"
    assert copied.others == "7.34 Gb/s L2 agree with the packet rate"
    assert copied.causes == ("82599es dpdk U4, line 13, has the same 46.4 %",)
    (repeated, *_) = (found for found in LOADTESTS.bit_rates if found.row.line == 23)
    assert repeated.causes == ("1.54 Gb/s are the L1 rate of 2.29 Mpps",)


#: 10 GbE, one direction: row and frame size, and the finding.
WRONG_LS2088A = {
    "tx-only 64 B": ("52.06 % rounded up",),
    "socket-single 1400 B": ("10.55 % cut, not rounded",),
    "socket-vector-10 1400 B": (),  # 18.38 %, published as 18.47
    "libpcap 64 B": ("1.2698 % cut, not rounded",),
}


def test_board_percentages_that_cannot_follow_from_their_frame_rate():
    assert {found.row.name: found.causes for found in LS2088A.contradictions} == WRONG_LS2088A
    assert LS2088A.bit_rates == LS2088A.above_the_line == ()
    assert len(LS2088A.table.rows) == 24
    assert LS2088A.table.assumed == ("a link of 10 Gb/s", "one direction")


@pytest.mark.parametrize("link_bps", [1e9, 25e9])
def test_the_link_matters_where_the_table_has_none(link_bps):
    assert len(audit(read_table(DATA / "ls2088a.csv", link_bps)).contradictions) > 15
    assert audit(read_table(DATA / "loadtests.csv", link_bps)).findings == LOADTESTS.findings
