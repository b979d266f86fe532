"""Line-rate arithmetic, against hand-checked figures and its own laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linerate.base.line_rate import (
    FRAME_BYTES_MAX,
    FrameRate,
    PcieLink,
    format_bps,
    format_pps,
    in_mpps,
    line_rate,
    parse_bps,
)

FRAMES = st.integers(64, FRAME_BYTES_MAX)
LINKS = st.integers(10**6, 10**12)
RATES = st.floats(1, 1e9)


def test_64_byte_frames_at_10_gigabit():
    rate = line_rate(10e9, 64)
    assert rate.packets_per_second == pytest.approx(14_880_952, abs=1)
    assert rate.l1_bps == pytest.approx(10e9)


def test_trex_leaves_the_fcs_out():
    # The design's example: 3.28 Mpps are 1.68 Gb/s with the FCS and 1.57 without.
    rate = FrameRate(64, 3.28e6)
    assert rate.l2_bps == pytest.approx(1.68e9, rel=0.005)
    assert rate.l2_bps_no_fcs == pytest.approx(1.57e9, rel=0.005)


@given(LINKS, FRAMES, st.integers(1, 2))
def test_line_rate_is_100_percent(link, frame, directions):
    rate = line_rate(link, frame)
    both = FrameRate(frame, rate.packets_per_second * directions)
    assert both.percent_of(link, directions) == pytest.approx(100)


@given(FRAMES, RATES)
def test_layers_differ_by_what_they_count(frame, pps):
    rate = FrameRate(frame, pps)
    assert rate.l1_bps - rate.l2_bps == pytest.approx(pps * 20 * 8, rel=1e-6)
    assert rate.l2_bps - rate.l2_bps_no_fcs == pytest.approx(pps * 4 * 8, rel=1e-6)


@given(LINKS, FRAMES)
def test_larger_frames_are_fewer(link, frame):
    assert line_rate(link, frame + 1).packets_per_second < line_rate(link, frame).packets_per_second


@pytest.mark.parametrize(
    ("link", "data_bps"),
    # As Linux says in its log: "16.000 Gb/s … 5.0 GT/s PCIe x4", "31.504 Gb/s … 8.0 GT/s
    # PCIe x4", "63.008 Gb/s … x8" (it cuts each lane to whole Mb/s).
    [
        (PcieLink(5.0, 4), 16.0e9),
        (PcieLink(5.0, 8), 32.0e9),
        (PcieLink(8.0, 4), 31.504e9),
        (PcieLink(8.0, 8), 63.008e9),
    ],
)
def test_pcie_bandwidth_is_the_kernels(link, data_bps):
    assert link.data_bps == pytest.approx(data_bps, rel=0.0002)


@given(st.sampled_from([128, 256, 512]), FRAMES)
def test_pcie_overhead_counts_tlps(payload, frame):
    link = PcieLink(8.0, 4, payload)
    tlps = -(-(frame - 4) // payload)
    assert link.frame_bytes_on_link(frame) == frame - 4 + 24 * tlps + 16 + 6
    assert link.usable(frame).l2_bps_no_fcs < link.data_bps


@given(FRAMES)
def test_larger_payloads_carry_more(frame):
    small, large = PcieLink(8.0, 4, 128), PcieLink(8.0, 4, 512)
    assert large.usable(frame).packets_per_second >= small.usable(frame).packets_per_second


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("10G", 10**10),
        ("2.5G", 2_500_000_000),
        ("100M", 10**8),
        ("1000", 1000),
        ("10 Gb/s", 10**10),
    ],
)
def test_bit_rates_are_read(text, bps):
    assert parse_bps(text) == bps


@pytest.mark.parametrize("text", ["", "fast", "0", "-1G", "10X", "10 G 5", "1e9"])
def test_bit_rates_that_are_none(text):
    with pytest.raises(ValueError, match="expected a bit rate"):
        parse_bps(text)


@given(st.integers(1, 10**12))
def test_bit_rates_are_written_as_read(bps):
    assert parse_bps(format_bps(bps)) == pytest.approx(bps, rel=1e-9)


@pytest.mark.parametrize(
    ("pps", "text", "cell"),
    [
        (0, "0 pps", "0.000"),
        (0.4, "0 pps", "0 pps"),
        (300, "300 pps", "300 pps"),
        (999.4, "999 pps", "999 pps"),
        (999.6, "1.00 kpps", "0.001"),
        (12_345, "12.35 kpps", "0.012"),
        (450_000, "0.45 Mpps", "0.450"),
        (14_880_952, "14.88 Mpps", "14.881"),
    ],
)
def test_packet_rates_can_be_read_however_small(pps, text, cell):
    assert format_pps(pps) == text
    assert in_mpps(pps, 3) == cell
