"""`linerate line`: the arithmetic of a link."""

from typing import Annotated

import typer

from linerate.base import line_rate
from linerate.base.published import printed
from linerate.cli.options import JsonOption
from linerate.cli.usage import USAGE
from linerate.report import json_output, terminal
from linerate.ui.console import Console
from linerate.ui.screen import complain, say

#: PCIe slots that cards are commonly found in.
SLOTS = {
    "PCIe 2 x1": line_rate.PcieLink(5.0, 1),
    "PCIe 2 x4": line_rate.PcieLink(5.0, 4),
    "PCIe 2 x8": line_rate.PcieLink(5.0, 8),
    "PCIe 3 x4": line_rate.PcieLink(8.0, 4),
    "PCIe 3 x8": line_rate.PcieLink(8.0, 8),
    "PCIe 4 x8": line_rate.PcieLink(16.0, 8),
    "PCIe 4 x16": line_rate.PcieLink(16.0, 16),
}


def line(
    link: Annotated[str, typer.Argument(help="Link rate, as 10G or 2.5G.", metavar="LINK")],
    frame_bytes: Annotated[
        int,
        typer.Argument(
            help="Frame size, FCS counted.",
            min=line_rate.FRAME_BYTES_MIN,
            max=line_rate.FRAME_BYTES_MAX,
            metavar="FRAME_BYTES",
        ),
    ],
    pps: Annotated[
        float | None, typer.Option(help="Packets a second, instead of the line's rate.", min=1)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what fits on a link and through PCIe: packets/s, L1, L2, L2 without FCS."""
    try:
        link_bps = line_rate.parse_bps(link)
    except ValueError as error:
        complain(f"the command line: link: {error}")
        raise typer.Exit(USAGE) from error
    rate = (
        line_rate.FrameRate(frame_bytes, pps) if pps else line_rate.line_rate(link_bps, frame_bytes)
    )
    if as_json:
        say(printed("line", json_output.line(rate, link_bps, SLOTS)))
    else:
        terminal.line_report(Console(), rate, link_bps, SLOTS)
