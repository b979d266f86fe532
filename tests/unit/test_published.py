"""Every published row recomputes to its published figures, or is named here as wrong.

A figure as published stands for all values that round to it. Two figures agree
when what one implies and what the other stands for overlap.
"""

import csv
from pathlib import Path
from typing import NamedTuple

import pytest

from linerate.wire import FrameRate

DATA = Path(__file__).parents[1] / "data"


class Span(NamedTuple):
    """Values that a published figure may stand for."""

    low: float
    high: float

    def overlaps(self, other):
        # The bounds themselves are exact: only the arithmetic on them is not.
        slack = 1e-9 * max(abs(self.high), abs(other.high))
        return self.low <= other.high + slack and other.low <= self.high + slack

    def through(self, function):
        return Span(function(self.low), function(self.high))


def published(figure):
    """The span of a figure by its digits: 88.1 is 88.05 to 88.15."""
    decimals = len(figure.partition(".")[2])
    half = 0.5 * 10.0**-decimals
    return Span(float(figure) - half, float(figure) + half)


def rows(name):
    with (DATA / name).open(newline="") as file:
        return list(csv.DictReader(file))


class Loadtest:
    """One row of loadtests.csv."""

    def __init__(self, row):
        self.row = row
        self.frame = int(row["frame_bytes"])
        self.directions = 2 if row["direction"] == "bidir" else 1
        self.link_bps = float(row["link_gbps"]) * 1e9
        self.name = "{card} {driver} {test}".format(**row)

    def percent(self, pps):
        return FrameRate(self.frame, pps).percent_of(self.link_bps, self.directions)

    @property
    def percent_from_mpps(self):
        return published(self.row["mpps"]).through(lambda mpps: self.percent(mpps * 1e6))

    def mpps_from_gbps(self):
        """Implied by the bit rate that the row has: L1, or TRex's L2 without FCS."""
        one = FrameRate(self.frame, 1)
        if self.row["l1_gbps"]:
            return published(self.row["l1_gbps"]).through(lambda gbps: gbps * 1e3 / one.l1_bps)
        return published(self.row["l2_gbps"]).through(lambda gbps: gbps * 1e3 / one.l2_bps_no_fcs)


LOADTESTS = [Loadtest(row) for row in rows("loadtests.csv")]

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


@pytest.mark.parametrize("test", LOADTESTS, ids=lambda test: test.name)
def test_percentage_follows_from_the_packet_rate(test):
    agrees = test.percent_from_mpps.overlaps(published(test.row["percent_of_line"]))
    assert agrees == (test.name not in WRONG_PERCENT)


@pytest.mark.parametrize("test", LOADTESTS, ids=lambda test: test.name)
def test_bit_rate_follows_from_the_packet_rate(test):
    agrees = test.mpps_from_gbps().overlaps(published(test.row["mpps"]))
    assert agrees == (test.name not in WRONG_BIT_RATE)


@pytest.mark.parametrize("test", LOADTESTS, ids=lambda test: test.name)
def test_no_line_carries_more_than_it_can(test):
    above = float(test.row["percent_of_line"]) > 100
    assert above == (test.name in ABOVE_THE_LINE)


def test_every_exception_is_a_row():
    names = {test.name for test in LOADTESTS}
    assert len(names) == len(LOADTESTS) == 64
    assert names >= {*WRONG_PERCENT, *WRONG_BIT_RATE, *ABOVE_THE_LINE}


LS2088A = [
    (row["configuration"], frame, int(row[f"fps_{frame}"]), row[f"percent_{frame}"])
    for row in rows("ls2088a.csv")
    for frame in (64, 1400)
]

#: 10 GbE, one direction.
WRONG_LS2088A = {
    ("tx-only", 64): "52.06 %, rounded up to 53",
    ("socket-single", 1400): "10.55 %, cut to 10",
    ("socket-vector-10", 1400): "18.38 %, published as 18.47",
    ("libpcap", 64): "1.2698 %, cut to 1.26",
}


@pytest.mark.parametrize(("configuration", "frame", "fps", "percent"), LS2088A)
def test_board_percentage_follows_from_the_frame_rate(configuration, frame, fps, percent):
    computed = FrameRate(frame, fps).percent_of(10e9)
    agrees = published(percent).overlaps(Span(computed, computed))
    assert agrees == ((configuration, frame) not in WRONG_LS2088A)
